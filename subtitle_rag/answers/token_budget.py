"""Host of the answering model, and the prompt sizes that the model can read."""

from collections.abc import Callable
from dataclasses import dataclass

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.answer_prompt import AnswerPrompt, Language
from subtitle_rag.base.domain.answer_values import EvidenceKind
from subtitle_rag.contexts.context_prompt import BUCKETS, MARGIN
from subtitle_rag.contexts.planning import WHOLE_SHARE, prompt_sizes
from subtitle_rag.contexts.prompt_layout import estimate
from subtitle_rag.contexts.token_rate import TokenRate
from subtitle_rag.library.context_store import Contexts
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import ModelInfo

AUTOMATIC_TOKENS = BUCKETS[-1]
"""Longest captions to read whole without the user's request."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Values of `num_ctx` to choose from, ascending, and the model's tokens per character."""

    windows: tuple[int, ...]
    tokens_per_char: float
    least: int = 0
    """Minimum `num_ctx` of all requests, since another one than the loaded model's reloads it."""
    large_windows: tuple[int, ...] = ()
    """Larger values, for captions that are read whole."""
    trained: int = 0
    """The model's context length; 0 if unknown."""
    cache_bytes: int = 0
    """Bytes of the KV cache per token; 0 if unknown."""
    prompt: AnswerPrompt = answer_prompt.BUILT_IN

    def cost(self, text: str) -> int:
        """Return a safe estimate of a text's tokens."""
        return estimate(text, self.tokens_per_char)

    def scene_tokens(self, num_ctx: int, language: Language, kind: EvidenceKind) -> int:
        """Return the tokens of a context left for scenes after rules, the longest question and the answer."""
        rules = self.cost(answer_prompt.system("", kind, language, self.prompt)) + 2 * answer_prompt.FRAME_TOKENS
        question = round(answer_prompt.QUESTION_CHARACTERS * self.tokens_per_char)
        return max(0, num_ctx - rules - question - answer_prompt.NUM_PREDICT - MARGIN)

    def fit(self, text: str, language: Language, kind: EvidenceKind, share: float = 1.0) -> tuple[int, int]:
        """Return the smallest context that fits the text, else the largest, and its tokens for scenes.

        These are at most `share` of the context.
        """

        def room(num_ctx: int) -> int:
            return min(int(share * num_ctx), self.scene_tokens(num_ctx, language, kind))

        num_ctx = self._smallest(self.cost(text), self.windows, room) or max(self.windows[-1], self.least)
        return num_ctx, room(num_ctx)

    def whole_num_ctx(self, text: str, language: Language, kind: EvidenceKind) -> int | None:
        """Return the smallest context for uncut captions, or None if they are too long."""
        tokens = self.cost(text)
        if tokens > self.most_tokens:
            return None
        windows = (*self.windows, *self.large_windows)
        return self._smallest(tokens, windows, lambda num_ctx: self.scene_tokens(num_ctx, language, kind))

    @property
    def most_tokens(self) -> int:
        """Return the longest captions that model and memory allow to read whole."""
        largest = max(*self.windows, *self.large_windows, self.least)
        return min(largest, round(WHOLE_SHARE * (self.trained or largest)))

    def _smallest(self, tokens: int, windows: tuple[int, ...], available: Callable[[int], int]) -> int | None:
        smallest = next((window for window in windows if tokens <= available(window)), None)
        return None if smallest is None else max(smallest, self.least)


@dataclass(frozen=True, slots=True)
class ReadyHost:
    """A host with the model, and the model's learned rate."""

    host: Llm
    info: ModelInfo
    contexts: Contexts

    @property
    def rate(self) -> TokenRate:
        return TokenRate(self.contexts, self.info.digest)

    def budget(self, prompt: AnswerPrompt) -> TokenBudget:
        """Return the model's token budget, by its own counts if known."""
        sizes = prompt_sizes(self.host, self.info)
        windows = {*answer_prompt.windows(self.info.context_length), sizes.least}
        return TokenBudget(
            tuple(sorted(windows)),
            self.rate.tokens_per_char,
            sizes.least,
            sizes.large,
            self.info.context_length,
            self.info.cache_bytes,
            prompt,
        )
