"""Contexts that say the same as another window's: they find every window that has them, and tell none apart."""

import re
import threading
from collections.abc import Callable, Mapping

from subtitle_rag.domain import nfc

SAME = "same"
"""The kind of doubt about such a context."""


class ContextWords:
    """The sets of words of contexts, by window. Any thread may ask and add."""

    def __init__(self, read: Callable[[], Mapping[str, str]]) -> None:
        """`read` returns the contexts by window; it is called at the first use."""
        self._read = read
        self._lock = threading.Lock()
        self._words: dict[str, frozenset[str]] | None = None

    def put(self, window_id: str, text: str) -> None:
        """Take the context of a window in place of its last one; empty: it has none."""
        with self._lock:
            self._by_window()[window_id] = _word_set(text)

    def are_of_another(self, window_id: str, text: str) -> bool:
        """Whether another window's context has the same words, whatever their order and number."""
        words = _word_set(text)
        with self._lock:
            return bool(words) and any(words == each for id, each in self._by_window().items() if id != window_id)

    def _by_window(self) -> dict[str, frozenset[str]]:
        if self._words is None:
            self._words = {window_id: _word_set(text) for window_id, text in self._read().items()}
        return self._words


def _word_set(text: str) -> frozenset[str]:
    """Return the words of a text without case and punctuation."""
    return frozenset(re.findall(r"\w+", nfc(text).casefold()))


def letters(text: str) -> str:
    """Keep letters and digits alone, to compare texts regardless of spaces, punctuation and case."""
    return re.sub(r"[\W_]+", "", text).casefold()
