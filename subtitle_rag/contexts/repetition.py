"""Contexts that say the same as another window's: they find every window that has them, and tell none apart."""

import re
import threading
from collections.abc import Mapping

from subtitle_rag.domain import nfc

SAME = "same"
"""The kind of doubt about such a context."""
_WORD = re.compile(r"\w+")


class ContextWords:
    """The sets of words of a library's contexts, by window. Any thread may ask and add."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts` are the contexts by window."""
        self._lock = threading.Lock()
        self._windows: dict[frozenset[str], set[str]] = {}
        self._words: dict[str, frozenset[str]] = {}
        for window_id, text in texts.items():
            self.put(window_id, text)

    def put(self, window_id: str, text: str) -> None:
        """Take the context of a window in place of its last one; empty: it has none."""
        words = word_set(text)
        with self._lock:
            if before := self._words.pop(window_id, None):
                self._windows[before].discard(window_id)
            if words:
                self._words[window_id] = words
                self._windows.setdefault(words, set()).add(window_id)

    def are_of_another(self, window_id: str, text: str) -> bool:
        """Whether another window's context has the same words, whatever their order and number."""
        with self._lock:
            return bool(self._windows.get(word_set(text), set()) - {window_id})


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text without case and punctuation."""
    return frozenset(_WORD.findall(nfc(text).casefold()))
