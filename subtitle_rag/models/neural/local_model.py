"""Base of neural models in a folder: priorities, batches, silence, checks, typed failures, release of memory.

The models share the processors: work that a person waits for goes first.
"""

import errno
import json
import logging
import os
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.garbage import return_memory
from subtitle_rag.base.i18n import _
from subtitle_rag.models.local import pooling
from subtitle_rag.models.neural.device import Plan

QUERY, RERANK, PASSAGE = range(3)
"""Priorities, most urgent first. The lock is held for one pass, so nothing waits longer than that."""
_LOADING = threading.Lock()
_MEMORY_WORDS = ("out of memory", "allocate memory", "bad_alloc", "bad allocation")
_REASON = 300
"""Maximum number of characters of a library's message within ours."""

Loaded = TypeVar("Loaded")
Result = TypeVar("Result")


class PriorityLock:
    """A lock that goes to the waiting thread with the lowest rank."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._locked = False
        self._waiting = [0, 0, 0]

    @contextmanager
    def take(self, rank: int) -> Iterator[None]:
        with self._changed:
            self._waiting[rank] += 1
            try:
                self._changed.wait_for(lambda: not self._locked and not any(self._waiting[:rank]))
            finally:
                self._waiting[rank] -= 1
                self._changed.notify_all()
            self._locked = True
        try:
            yield
        finally:
            with self._changed:
                self._locked = False
                self._changed.notify_all()


def passes(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield batches, as positions of texts with these lengths, of at most `tokens` tokens with padding.

    The longest texts come first, so that a batch has texts of similar length. A text beyond the limit is a batch of its
    own.
    """
    order = sorted(range(len(lengths)), key=lambda at: -lengths[at])
    start = 0
    while start < len(order):
        count = max(1, tokens // max(1, lengths[order[start]]))
        yield order[start : start + count]
        start += count


class LocalModel(ABC, Generic[Loaded]):
    """A model in a folder, loaded at first use and again after `close`. Models that share `turns` run one at a time.

    Raises:
        AppError: `model_damaged` for a folder without such a model.
    """

    rank = QUERY
    """Priority of loading."""
    has_pieces = must_wait = False
    """See `neural.Encoder`; its client knows the settings."""

    def __init__(self, path: Path, id: str, plan: Plan, turns: PriorityLock | None) -> None:
        self.path = path
        self.id = id
        self.plan = plan
        self.config = self._read_config()
        self._turns = turns or PriorityLock()
        self._loaded: Loaded | None = None

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        """Load the model, which takes some seconds, unless it is loaded. Raises the errors of `neural.Encoder`."""
        with self._turns.take(self.rank):
            self._ready()

    def close(self) -> None:
        with self._turns.take(self.rank):
            self._loaded = None
            return_memory()

    def _ready(self) -> Loaded:
        """Return the loaded model, while holding the lock."""
        if self._loaded is None:
            with self._silence():
                library = self._import()
                try:
                    with self._memory_errors():
                        self._loaded = self._load(library)
                except AppError:
                    raise
                except Exception as error:  # the libraries raise nearly anything for bad files
                    raise self._damaged(str(error) or type(error).__name__) from error
        return self._loaded

    def _silence(self) -> AbstractContextManager[None]:
        """Load without output."""
        return quiet()

    @abstractmethod
    def _import(self) -> Any:
        """Import the library's class for such a model."""

    @abstractmethod
    def _load(self, library: Any) -> Loaded: ...

    def _in_passes(
        self, rank: int, lengths: Sequence[int], read: Callable[[list[int]], Sequence[Result]]
    ) -> list[Result]:
        """Read texts with these numbers of tokens, in passes of texts of similar length, longest first.

        `read` gets the positions of a pass's texts, while holding the lock; the results are in the original order.
        """
        results: dict[int, Result] = {}
        for batch in passes(lengths, self.plan.pass_tokens):
            with self._turns.take(rank):
                results.update(zip(batch, read(batch), strict=True))
        return [results[at] for at in range(len(lengths))]

    # Failures

    @contextmanager
    def _memory_errors(self) -> Iterator[None]:
        """Turn memory errors into AppError `model_memory`."""
        try:
            yield
        except Exception as error:  # onnxruntime's errors have no common class
            if not _lacks_memory(error):
                raise
            raise AppError("model_memory", name=self._name) from error

    def _damaged(self, reason: str) -> AppError:
        """Return `model_damaged` with the first sentence of the library's reason, on one line."""
        plain = " ".join("".join(char if char.isprintable() else " " for char in reason).split())
        return AppError("model_damaged", name=self._name, reason=plain.partition(". ")[0][:_REASON].rstrip("."))

    @property
    def _name(self) -> str:
        """The id without its revision, as in the settings."""
        return self.id.partition("@")[0]

    def _read_config(self) -> dict[str, Any]:
        try:
            entry = json.loads((self.path / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise self._damaged(f"config.json: {getattr(error, 'strerror', None) or error}") from error
        if not isinstance(entry, dict) or not isinstance(entry.get("hidden_size"), int) or entry["hidden_size"] < 1:
            raise self._damaged("config.json: hidden_size")
        return entry

    def _read_pooling(self) -> str:
        """Read how token states become one vector: `cls` or `mean`; "" if the files do not say.

        Raises:
            AppError: `model_damaged` for another method.
        """
        try:
            method = pooling(self.path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"1_Pooling/config.json: {error}") from error
        if method not in ("", "cls", "mean"):
            raise self._damaged(f"1_Pooling/config.json: {method}")
        return method

    def _check_vocabulary(self, tokenizer_words: int, special: int, weight_words: int) -> None:
        """Refuse a tokenizer whose words (`reachable_words`) and special tokens do not match the weights."""
        if tokenizer_words > weight_words or tokenizer_words <= special:
            reason = _("its tokenizer has {used} words and its weights {known}").format(
                used=tokenizer_words, known=weight_words
            )
            raise self._damaged(reason)

    def _check_whole(self, layers: Any, tokenizer: Any) -> None:
        """Refuse a foreign tokenizer, and incomplete weights, which transformers fills with random numbers."""
        # transformers marks the parameters it has read; few files have the pooler of BERT, which is unused here
        missing = [
            name
            for name, parameter in layers.named_parameters()
            if "pooler." not in name and not hasattr(parameter, "_is_hf_initialized")
        ]
        if missing:
            raise self._damaged(_("its weights lack {name}").format(name=missing[0]))
        tokenizer.split_special_tokens = True  # special tokens in a text are plain text
        words = reachable_words(tokenizer.vocab_size, tokenizer.added_tokens_decoder)
        self._check_vocabulary(words, len(tokenizer.all_special_ids), layers.config.vocab_size)


@contextmanager
def quiet() -> Iterator[None]:
    """Load models without output; one thread at a time, since warnings are switched off globally.

    Neither library has an option for all of its bars and warnings, and they would garble the app's screen.
    """
    with _LOADING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else a later fork prints a warning
        from tqdm import tqdm
        from transformers.utils import logging as transformers_logging

        # the default is a lock of multiprocessing, whose helper cannot start while Textual has the screen
        tqdm.set_lock(threading.RLock())
        transformers_logging.disable_progress_bar()
        transformers_logging.set_verbosity_error()
        for name in ("FlagEmbedding", "sentence_transformers", "torch.ao"):
            logging.getLogger(name).setLevel(logging.ERROR)
        yield


def _lacks_memory(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    words = str(error).lower()  # on a CPU, torch and onnxruntime have no class for it
    return isinstance(error, MemoryError) or any(each in words for each in _MEMORY_WORDS)


def room(config: Any) -> int:
    """Return the most tokens of an input; RoBERTa's positions start after the padding's."""
    positions = getattr(config, "max_position_embeddings", None) or sys.maxsize
    return int(positions) - (getattr(config, "pad_token_id", None) or 0) - 1


def reachable_words(base_words: int, added: Mapping[int, Any]) -> int:
    """Return how many words the weights must have; special tokens never occur in texts.

    EmbeddingGemma's tokenizer adds a special token for images beyond the weights' last word.
    """
    return max([base_words, *(id + 1 for id, token in added.items() if not token.special)])


def clean(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
