"""What requests have taught about a model: how many tokens its prompts have, and how fast it reads them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from subtitle_rag.contexts.prompt_layout import TOKENS_PER_CHAR

if TYPE_CHECKING:
    from subtitle_rag.library import Contexts
    from subtitle_rag.llm import Reply

RATIO_MARGIN = 1.1
"""On measured tokens per character: texts differ."""
OVERFLOW_STEP = 1.3
"""Factor by which prompts are estimated longer after one that did not fit, at least."""
SPEED_TOKENS = 500
"""Prompts with fewer new tokens say little about a model's speed."""


@dataclass(frozen=True, slots=True)
class LearnedRates:
    """The rates of one model, which the library keeps."""

    contexts: "Contexts"
    digest: str
    """Digest of the model."""

    @property
    def tokens_per_char(self) -> float:
        """The highest rate that the model's tokenizer has shown, or a safe estimate."""
        return self.contexts.tokens_per_character(self.digest) or TOKENS_PER_CHAR

    @property
    def tokens_per_second(self) -> float | None:
        """The speed at which the model has read its last long prompt; None without any."""
        return self.contexts.tokens_per_second(self.digest)

    def learn_length(self, tokens: int, characters: int, *, at_least: float = 0.0) -> None:
        """Store the tokens per character of a prompt if they exceed the stored ones."""
        ratio = max(RATIO_MARGIN * tokens / max(1, characters), at_least)
        if ratio > (self.contexts.tokens_per_character(self.digest) or 0.0):
            self.contexts.put_tokens_per_character(self.digest, ratio)

    def learn_overflow(self, tokens: int, characters: int) -> None:
        """Raise the stored rate after a prompt that did not fit: to the server's count, and by `OVERFLOW_STEP`."""
        self.learn_length(tokens, characters, at_least=OVERFLOW_STEP * self.tokens_per_char)

    def learn_speed(self, reply: "Reply", unread: int) -> float | None:
        """Store the speed at which a prompt was read and return it; None for a short one.

        `unread` estimates its new tokens, where the server does not count those in its cache.
        """
        tokens = unread if reply.cached_tokens is None else reply.prompt_tokens - reply.cached_tokens
        if tokens < SPEED_TOKENS or reply.prompt_ms <= 0:
            return None
        speed = 1000 * tokens / reply.prompt_ms
        self.contexts.put_tokens_per_second(self.digest, speed)
        return speed
