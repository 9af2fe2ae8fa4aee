"""What scenes are found by, and what rows say of it. Rows are drawn before anything else of retrieval is read."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from subtitle_rag.i18n import N_, _, n_

Reason = Literal["said", "related", "title", "context", "nearby", "meaning"]
"""What a scene was found by, the strongest: typed words in its speech, their variants, typed words in the video's title
or in the context, keywords of the neighbouring windows, or the meaning alone."""
REASONS: dict[str, str] = {
    "title": N_("found by the title"),
    "context": N_("found by the context"),
    "nearby": N_("found by words nearby"),
    "meaning": N_("similar meaning"),
}
"""`Scene.reason` → what a row says of a scene without a mark in its speech."""

WordSource = Literal["text", "context", "title", "sound", "related", "part", "nearby", "missing"]
"""Where a scene has a typed word: in its speech, its context, the video's title; in its speech one that sounds alike, a
related one, or a part of it; in the speech before or after; nowhere."""
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
    """A typed word, and where a scene has it."""

    word: str
    source: WordSource
    instead: str = ""
    """What the scene says in its place: a variant, or a part of it."""

    @property
    def text(self) -> str:
        return f"{self.word} → {self.instead}" if self.instead else self.word


def words_reason(words: Iterable[FoundWord]) -> str:
    """Return what was said and what was borrowed: said: 치킨, in the title: 소스."""
    all_words = list(words)
    by_source = {source: [each.text for each in all_words if each.source == source] for source in SOURCES}
    return ", ".join(f"{_(SOURCES[source])}: {' '.join(texts)}" for source, texts in by_source.items() if texts)


def is_borrowed(words: Iterable[FoundWord]) -> bool:
    """Return whether the words say more of a scene than its marks: not all are said, and not all are missing."""
    sources = {each.source for each in words}
    return bool(sources - {"text", "missing"}) or sources == {"text", "missing"}


def copies_sentence(count: int) -> str:
    """Say in how many other videos the same is said."""
    return n_("and {n} copy", "and {n} copies", count, n=count)
