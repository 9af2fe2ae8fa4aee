"""Detection of silently cut prompts.

A server that ignores `truncate: false` keeps `num_keep` tokens (4, and a first special token of some models) and the
tail, about half of `num_ctx`: 2050 of 4096, 8194 of 16384 (ollama #17427, #17889). It answers with status 200; only
`prompt_eval_count` shows the cut.
"""

from collections.abc import Mapping, Sequence

TOKENS_PER_CHARACTER = 0.75
"""For Korean speech, on the safe side for our models (A.X about 0.4, Gemma 0.5, Qwen 0.67)."""

_LEAST_PER_BYTE, _MOST_PER_BYTE = 0.09, 0.5  # no vocabulary in use lies outside, in Korean or in English
_FIRST_TOKENS = (4, 5)
_NEAR = 3
_LONG = 2_000  # bytes of a prompt from which a model's own rate is learned: the template's part is small there


def size(messages: Sequence[Mapping[str, str]]) -> int:
    """Return the bytes of all messages."""
    return sum(len(message["content"].encode()) for message in messages)


def left_after_cut(num_ctx: int) -> tuple[int, ...]:
    """Return the tokens of a prompt after a cut."""
    return tuple(num_ctx - (num_ctx - first_tokens) // 2 for first_tokens in _FIRST_TOKENS)


class Gauge:
    """A model's tokens per byte, learned from its counts."""

    def __init__(self) -> None:
        self._per_byte: float | None = None

    def estimate(self, messages: Sequence[Mapping[str, str]]) -> int:
        """Estimate a prompt's tokens by the learned rate, else on the safe side."""
        if self._per_byte is not None:
            return round(self._per_byte * size(messages)) + 1
        return round(TOKENS_PER_CHARACTER * sum(len(message["content"]) for message in messages)) + 1

    def learn(self, messages: Sequence[Mapping[str, str]], count: int) -> None:
        if count and size(messages) >= _LONG:
            self._per_byte = count / size(messages)

    def was_cut(self, messages: Sequence[Mapping[str, str]], count: int, *, num_ctx: int, answer: int) -> bool:
        """Whether a prompt of `count` tokens lost its beginning, before or during the `answer` tokens."""
        if not count:  # missing for a cached prompt on servers of early 2024 (ollama #2068)
            return False
        if count + answer > num_ctx:
            return True
        least, most = _LEAST_PER_BYTE, _MOST_PER_BYTE
        if self._per_byte is not None:
            least, most = 0.5 * self._per_byte, 1.5 * self._per_byte
        near = any(abs(count - remaining) <= _NEAR for remaining in left_after_cut(num_ctx))
        return count < least * size(messages) or (near and most * size(messages) > num_ctx)
