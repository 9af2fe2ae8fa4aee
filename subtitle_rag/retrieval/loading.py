"""What both kinds of neural models need to be loaded: silence, checks, plain words for failures, memory given back."""

import errno
import gc
import json
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.device import INT8

_LOADING = threading.Lock()
_REASON = 300
"""Characters of a library's own words that are passed on."""


@contextmanager
def quiet() -> Iterator[None]:
    """Load models without a word on the screen; one thread at a time, since warnings are switched for all.

    Neither library has an option for all of its bars and warnings, and the terminal app draws on the same screen.
    """
    with _LOADING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else a later fork is warned about
        from tqdm import tqdm
        from transformers.utils import logging as transformers_logging

        # by default a lock of multiprocessing's, whose helper cannot start while Textual has the screen
        tqdm.set_lock(threading.RLock())
        transformers_logging.disable_progress_bar()
        transformers_logging.set_verbosity_error()
        for name in ("FlagEmbedding", "sentence_transformers", "torch.ao"):
            logging.getLogger(name).setLevel(logging.ERROR)
        yield


@contextmanager
def damage_told(id: str) -> Iterator[None]:
    """Turn every failure to load a model's files into one that a user can act on.

    Raises:
        AppError: `model_damaged`, `model_memory`.
    """
    try:
        with memory_told(id):
            yield
    except AppError:
        raise
    except Exception as error:  # the libraries raise nearly everything over bad files
        raise damaged(id, str(error) or type(error).__name__) from error


@contextmanager
def memory_told(id: str) -> Iterator[None]:
    """Turn a failure for want of memory into one that a user can act on.

    Raises:
        AppError: `model_memory`.
    """
    try:
        yield
    except (MemoryError, OSError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        raise AppError("model_memory", name=_name(id)) from error


def _lacks_memory(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    words = str(error).lower()  # torch's own kinds are RuntimeErrors, and the one for a CPU is nothing else
    return isinstance(error, MemoryError) or "out of memory" in words or "allocate memory" in words


def damaged(id: str, reason: str) -> AppError:
    """`model_damaged`, with the first sentence of a reason, which a library may have written for a wide terminal."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in reason).split())
    return AppError("model_damaged", name=_name(id), reason=plain.partition(". ")[0][:_REASON].rstrip("."))


def _name(id: str) -> str:
    """A model's id without its revision, as it is asked for."""
    return id.partition("@")[0].removesuffix(INT8)


def read_config(path: Path, id: str) -> dict[str, Any]:
    """A model's `config.json`.

    Raises:
        AppError: `model_damaged`.
    """
    try:
        entry = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise damaged(id, f"config.json: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("hidden_size"), int) or entry["hidden_size"] < 1:
        raise damaged(id, "config.json: hidden_size")
    return entry


def check_whole(id: str, layers: Any, tokenizer: Any) -> None:
    """Refuse weights with gaps, which transformers fills with random numbers, and a foreign tokenizer.

    Raises:
        AppError: `model_damaged`.
    """
    # transformers marks what it read; the pooler of BERT is in few files and used by nobody here
    read = {
        name: hasattr(one, "_is_hf_initialized") for name, one in layers.named_parameters() if "pooler." not in name
    }
    gaps = [name for name, there in read.items() if not there]
    if gaps:
        raise damaged(id, _("its weights lack {name}").format(name=gaps[0]))
    known, used = layers.config.vocab_size, len(tokenizer)
    if used > known or used <= len(tokenizer.all_special_ids):
        reason = _("its tokenizer has {used} words and its weights {known}").format(used=used, known=known)
        raise damaged(id, reason)


def room(config: Any) -> int:
    """The most tokens that a model takes at once; RoBERTa counts positions from behind the padding's."""
    positions = getattr(config, "max_position_embeddings", None) or sys.maxsize
    return int(positions) - (getattr(config, "pad_token_id", None) or 0) - 1


def clean(text: str) -> str:
    """The text with what no encoding can hold replaced: half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def return_memory() -> None:
    """Give what a dropped model took back to the system, which CPython and the C library do not by themselves."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl needs it not
        if trim is not None:
            trim(0)
