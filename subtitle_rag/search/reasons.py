"""Reasons why a scene was found, and their texts. Imported early: keep it free of other retrieval modules."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from subtitle_rag.base.i18n import N_, _, n_

Reason = Literal["said", "related", "title", "context", "nearby", "meaning"]
"""Reason for a scene, strongest first; `related` are variants, `nearby` is keywords of neighbouring windows."""
REASONS: dict[str, str] = {
    "title": N_("found by the title"),
    "context": N_("found by the context"),
    "nearby": N_("found by words nearby"),
    "meaning": N_("similar meaning"),
}
"""`Scene.reason` → text of a row without a mark in its speech."""

WordSource = Literal["text", "context", "title", "sound", "related", "part", "nearby", "missing"]
"""Where a scene has a typed word: in its speech (exactly, by sound, as related word or in part), nearby, or nowhere."""
SOURCES: dict[WordSource, str] = {
    "text": N_("said"),
    "context": N_("in the context"),
    "title": N_("in the title"),
    "sound": N_("by sound"),
    "related": N_("related"),
    "part": N_("in part"),
    "nearby": N_("before or after"),
    "missing": N_("not there"),
}


class FoundWord(NamedTuple):
    """A typed word, and its place in a scene."""

    word: str
    source: WordSource
    instead: str = ""
    """The scene's substitute: a variant or a part of the word."""

    @property
    def text(self) -> str:
        return f"{self.word} → {self.instead}" if self.instead else self.word


def words_reason(words: Iterable[FoundWord]) -> str:
    """Return the words by place: said: 치킨, in the title: 소스."""
    all_words = list(words)
    by_source = {source: [each.text for each in all_words if each.source == source] for source in SOURCES}
    return ", ".join(f"{_(SOURCES[source])}: {' '.join(texts)}" for source, texts in by_source.items() if texts)


def is_borrowed(words: Iterable[FoundWord]) -> bool:
    """Return whether the words add to the marks: some are not said, but not all are missing."""
    sources = {each.source for each in words}
    return bool(sources - {"text", "missing"}) or sources == {"text", "missing"}


def copies_sentence(count: int) -> str:
    """Return how many other videos have the same speech."""
    return n_("and {n} copy", "and {n} copies", count, n=count)
