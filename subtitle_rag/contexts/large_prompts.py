"""The sizes of large prompts: what the model's context, its KV cache and this computer's memory allow."""

import logging
from dataclasses import dataclass

from subtitle_rag.contexts.context_prompt import BUCKETS
from subtitle_rag.domain import AppError
from subtitle_rag.llm import Llm, Loaded, ModelInfo
from subtitle_rag.models import free_memory

logger = logging.getLogger(__name__)

WHOLE_SHARE = 0.5
"""The share of the trained context for captions that are read whole: answers get worse from half on (arXiv
2407.19794)."""
MEMORY_SHARE = 0.8
"""The share of the free memory that a KV cache may take."""


@dataclass(frozen=True, slots=True)
class LargePrompts:
    """The values of `num_ctx` above the usual ones, ascending, and the tokens that a prompt may have in them."""

    windows: tuple[int, ...] = ()
    most_tokens: int = 0

    @classmethod
    def of(cls, host: Llm, info: ModelInfo) -> "LargePrompts":
        """Ask the host what it has loaded, if the model is trained for large prompts."""
        if not host.is_local or not info.cache_bytes or WHOLE_SHARE * info.context_length <= BUCKETS[-1]:
            return cls()
        windows = large_windows(info, loaded_model(host, info.name), is_local=True)
        return cls(windows, round(WHOLE_SHARE * info.context_length))

    def num_ctx(self, tokens: int) -> int | None:
        """Return the smallest value for a prompt with its answer, or None if they are too long."""
        if tokens > self.most_tokens:
            return None
        return next((window for window in self.windows if tokens <= window), None)


def loaded_model(host: Llm, model: str) -> Loaded | None:
    """Return the model in the host's memory; None also for an old server, which cannot say."""
    try:
        return host.loaded_model(model)
    except AppError:
        logger.info("what is loaded is not known", exc_info=True)
        return None


def large_windows(info: ModelInfo, loaded: Loaded | None, *, is_local: bool) -> tuple[int, ...]:
    """Return the values of `num_ctx` above the usual ones which the model is trained for and the memory holds.

    Nothing is known about another computer's memory, nor about the cache of a model without its dimensions.
    """
    memory = free_memory() if is_local and info.cache_bytes else None
    if memory is None:
        return ()
    held = loaded.context_length * info.cache_bytes if loaded else -info.size
    room = int((memory + held) * MEMORY_SHARE) // info.cache_bytes
    sizes = {info.context_length, *(BUCKETS[-1] << doublings for doublings in range(1, 8))}
    return tuple(sorted(size for size in sizes if BUCKETS[-1] < size <= min(room, info.context_length)))
