"""Plans of the requests for a video: prompts and sizes, and the keys of the stored answers.

A large prompt exceeds the usual sizes, within the model's context, its KV cache and this computer's memory.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video, Window
from subtitle_rag.contexts.context_prompt import BUCKETS, PromptPlan, plan, transcript_hash
from subtitle_rag.contexts.prompt_layout import VERSION, ContextPrompt, estimate
from subtitle_rag.contexts.token_rate import TokenRate
from subtitle_rag.library.context_store import Recipe
from subtitle_rag.library.store import Library
from subtitle_rag.models.manifest import free_memory
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import Loaded, ModelInfo

logger = logging.getLogger(__name__)

WHOLE_SHARE = 0.5
"""Share of the trained context for whole captions; answers get worse from half on (arXiv 2407.19794)."""
SHARED_NUM_CTX = 8192
"""`num_ctx` of a model that is not loaded yet: it fits the scenes of most answers, and most videos' captions."""
MEMORY_SHARE = 0.8
"""Share of the free memory that a KV cache may take."""


@dataclass(frozen=True, slots=True)
class PromptSizes:
    """Values of `num_ctx` for a model on one host, by the model's training and the free memory."""

    least: int
    """Minimum for all requests, for contexts and answers alike."""
    large: tuple[int, ...]
    """Values above the usual ones, ascending."""
    most_tokens: int
    """Maximum tokens of a prompt with its answer, in a large value."""

    @classmethod
    def of(cls, info: ModelInfo, loaded: Loaded | None, *, is_local: bool) -> "PromptSizes":
        """Return the sizes for a model, given its state in the host's memory.

        Another value makes a server reload the model and forget its cached prompts. So a loaded model keeps its value,
        and others get one that fits an answer from the usual scenes, if training and memory allow it. Another
        computer's memory is unknown, and so is the cache of a model without dimensions: they get no large prompts.
        """
        room = _cache_tokens(info, loaded, is_local=is_local)
        fits = [size for size in (BUCKETS[0], SHARED_NUM_CTX) if room is None or size <= room]
        least = min(fits[-1] if fits else BUCKETS[0], info.context_length or SHARED_NUM_CTX)
        sizes = {info.context_length, *(BUCKETS[-1] << doublings for doublings in range(1, 8))}
        most = 0 if room is None else min(room, info.context_length)
        return cls(
            max(least, loaded.context_length if loaded else 0),
            tuple(sorted(size for size in sizes if BUCKETS[-1] < size <= most)),
            round(WHOLE_SHARE * info.context_length),
        )

    def large_num_ctx(self, tokens: int) -> int | None:
        """Return the smallest large value for a prompt with its answer, or None if they are too long."""
        if tokens > self.most_tokens:
            return None
        return next((size for size in self.large if tokens <= size), None)


def prompt_sizes(host: Llm, info: ModelInfo) -> PromptSizes:
    """Return the sizes of prompts for a model, after asking the host which models it has loaded."""
    try:
        loaded = host.loaded_model(info.name)
    except AppError:
        logger.info("what is loaded is not known", exc_info=True)
        loaded = None
    return PromptSizes.of(info, loaded, is_local=host.is_local)


def lacks_shared_memory(info: ModelInfo, num_ctx: int) -> bool:
    """Whether a model could read the prompts of answers only with another `num_ctx`."""
    return num_ctx < min(SHARED_NUM_CTX, info.context_length or SHARED_NUM_CTX)


def _cache_tokens(info: ModelInfo, loaded: Loaded | None, *, is_local: bool) -> int | None:
    """Return the tokens of KV cache that fit into memory; None if unknown."""
    memory = free_memory() if is_local and info.cache_bytes else None
    if memory is None:
        return None
    loaded_bytes = loaded.context_length * info.cache_bytes if loaded else -info.size
    return int((memory + loaded_bytes) * MEMORY_SHARE) // info.cache_bytes


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the requests for videos by one model and prompt."""

    library: Library
    recipe: Recipe
    prompt: ContextPrompt
    info: ModelInfo
    sizes: PromptSizes | None = None
    """If set, prompts may be large."""

    def plan(self, video: Video, windows: Sequence[Window]) -> PromptPlan:
        """Plan a video's requests by the model's token rate and the channel's glossary."""
        return plan(
            video,
            windows,
            glossary=self.library.contexts.glossary(video.channel_id),
            tokens_per_char=TokenRate(self.library.contexts, self.recipe.digest).tokens_per_char,
            largest=largest_num_ctx(self.info),
            prompt=self.prompt,
            large=self.sizes.large_num_ctx if self.sizes else None,
        )

    def prompt_estimate(self, video_id: str) -> int:
        """Estimate the tokens of the requests for a video's missing contexts, without an overview's."""
        video, windows = self.library.video(video_id), self.library.windows_of(video_id)
        if video is None or not windows:
            return 0
        requests_plan = self.plan(video, windows)
        missing = self.library.contexts.missing(video_id, self.recipe)
        requests = (requests_plan.messages(window.ordinal) for window in windows if window.id in missing)
        return sum(estimate(request.system + request.user) for request in requests)

    def missing_sections(self, video_id: str) -> int:
        """Return the number of missing requests for a long video's overview."""
        video, windows = self.library.video(video_id), self.library.windows_of(video_id)
        if video is None or not windows:
            return 0
        sources = self.plan(video, windows).section_sources()
        key = overview_key(self.recipe, video_id, transcript_hash(windows))
        if not sources or self.library.contexts.overview(key) is not None:
            return 0
        stored = self.library.contexts.overview_sections(video_id)
        return sum(overview_key(self.recipe, video_id, "section", source) not in stored for source in sources)


def largest_num_ctx(info: ModelInfo) -> int:
    return min(BUCKETS[-1], info.context_length or BUCKETS[-1])


def context_key(recipe: Recipe, *parts: str) -> str:
    """Return the key of an answer; a context's parts are the window's id and the hash of the video's captions."""
    return hashlib.sha256("\x1f".join((recipe.digest, recipe.prompt, *parts)).encode()).hexdigest()[:32]


def overview_key(recipe: Recipe, *parts: str) -> str:
    """Return the key of an overview or a section's summary, independent of the prompt file."""
    return context_key(replace(recipe, prompt=VERSION), *parts)
