"""A model's tokens per character, for fitting its prompts."""

from dataclasses import dataclass

from subtitle_rag.contexts.prompt_layout import TOKENS_PER_CHAR
from subtitle_rag.library.context_store import Contexts

RATIO_MARGIN = 1.1
"""Safety factor on measured tokens per character, because texts differ."""
OVERFLOW_STEP = 1.3
"""Minimum factor for longer estimates after a prompt that did not fit."""


@dataclass(frozen=True, slots=True)
class TokenRate:
    """The rate of one model, stored in the library because a prompt that does not fit costs a request."""

    contexts: Contexts
    digest: str
    """Digest of the model."""

    @property
    def tokens_per_char(self) -> float:
        """The highest rate measured with the model's tokenizer, or a safe estimate."""
        return self.contexts.tokens_per_character(self.digest) or TOKENS_PER_CHAR

    def learn_length(self, tokens: int, characters: int, *, at_least: float = 0.0) -> None:
        """Store a prompt's tokens per character if they exceed the stored rate."""
        ratio = max(RATIO_MARGIN * tokens / max(1, characters), at_least)
        if ratio > (self.contexts.tokens_per_character(self.digest) or 0.0):
            self.contexts.put_tokens_per_character(self.digest, ratio)

    def learn_overflow(self, tokens: int, characters: int) -> None:
        """Raise the stored rate after a prompt that did not fit: to the server's count, and by `OVERFLOW_STEP`."""
        self.learn_length(tokens, characters, at_least=OVERFLOW_STEP * self.tokens_per_char)
