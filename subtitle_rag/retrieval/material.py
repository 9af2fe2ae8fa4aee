"""What the windows' vectors are made of.

A window is indexed with a context in front of its text. One costs nothing: the video's title, the chapter's, and the
most telling morphemes of the windows next to it. Where a model has written one, it goes in front as well.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from subtitle_rag.domain import Morphemes, Video, Window
from subtitle_rag.retrieval.index import SparseVector
from subtitle_rag.retrieval.lexical import inverse_document_frequency
from subtitle_rag.retrieval.morphemes import SHIPPED, Bm25, document_vector

KEYWORDS = 5
"""Morphemes taken from each neighbouring window; 10 or 20 rank no better."""
EARLY_MS = 5_000
"""A chapter may be marked so much later than the window that begins it."""


@dataclass(frozen=True, slots=True)
class Making:
    """How `bm25` vectors are made: the numbers of their weights, and the morphemes taken from each neighbour."""

    numbers: Bm25 = SHIPPED
    keywords: int = KEYWORDS


MAKING = Making()


def keywords(analyses: Sequence[Morphemes], limit: int = KEYWORDS) -> list[list[str]]:
    """The most telling forms of each of a video's windows, by tf·idf within the video.

    Within the video, so that a window's vector depends on nothing that later arrivals could change.
    """
    counts = [Counter(analysis.forms) for analysis in analyses]
    spread = Counter(form for count in counts for form in count)

    def weight(item: tuple[str, int]) -> tuple[float, str]:
        form, tf = item
        return -tf * inverse_document_frequency(spread[form], len(counts)), form

    return [[form for form, _tf in sorted(count.items(), key=weight) if len(form) > 1][:limit] for count in counts]


@dataclass(slots=True)
class Material:
    """One video's windows and all that is put in front of them; `contexts`: window id → (key, text)."""

    video: Video
    windows: Sequence[Window]
    contexts: Mapping[str, tuple[str, str]]
    _chapters: dict[str, str] = field(init=False)
    _digest: str = field(init=False)

    def __post_init__(self) -> None:
        self._chapters = {window.id: title for window in self.windows if (title := self._chapter(window))}
        digest = hashlib.sha256(self.video.title.encode())
        for window in self.windows:  # its neighbours' words count too
            digest.update(f"\x1f{window.id}\x1f{self._chapters.get(window.id, '')}\x1f{window.text}".encode())
        self._digest = digest.hexdigest()

    def with_contexts(self, contexts: Mapping[str, tuple[str, str]]) -> "Material":
        """Return the same windows with these contexts; the windows are not hashed again."""
        material = copy(self)
        material.contexts = contexts
        return material

    def before(self) -> list[str]:
        """The texts that are put in front of windows, in the order in which `vectors` takes their analyses."""
        return [self.video.title, *self._titles(), *(self.contexts[w.id][1] for w in self._with_context())]

    def texts(self) -> list[str]:
        """All texts, the windows' last."""
        return [*self.before(), *(window.text for window in self.windows)]

    def source(self, window_id: str) -> str:
        """A hash of what a window's vector is made of; it ends in its context's key."""
        return f"{self._digest}/{self._key(window_id)}"

    def passage(self, window_id: str) -> str:
        """What an encoder reads of a window: title, chapter, context and text, on lines of their own."""
        text = next(window.text for window in self.windows if window.id == window_id)
        context = self.contexts.get(window_id, ("", ""))[1]
        return "\n".join(filter(None, (self.video.title, self._chapters.get(window_id, ""), context, text)))

    def passage_source(self, window_id: str) -> str:
        """A hash of the passage; it ends in the window's context's key, as `source` does."""
        digest = hashlib.sha256(self.passage(window_id).encode()).hexdigest()[:32]
        return f"{digest}/{self._key(window_id)}"

    def vectors(
        self, analyses: Sequence[Morphemes], only: Collection[str] | None = None, making: Making = MAKING
    ) -> dict[str, SparseVector]:
        """The vectors by window id, of the analyses of `texts`; of some windows, or of all."""
        coming = iter(analyses)
        title = next(coming)
        chapters = dict(zip(self._titles(), coming, strict=False)) if self._chapters else {}
        contexts = dict(zip((w.id for w in self._with_context()), coming, strict=False)) if self.contexts else {}
        own = list(analyses[len(analyses) - len(self.windows) :])
        telling = keywords(own, making.keywords)
        vectors = {}
        for at, (window, analysis) in enumerate(zip(self.windows, own, strict=True)):
            if only is not None and window.id not in only:
                continue
            near = [form for other in (at - 1, at + 1) if 0 <= other < len(telling) for form in telling[other]]
            before = [(self.video.title, title)]
            if chapter := self._chapters.get(window.id):
                before.append((chapter, chapters[chapter]))
            if window.id in contexts:
                before.append((self.contexts[window.id][1], contexts[window.id]))
            forms = [form for _text, morphemes in before for form in morphemes.forms]
            text = " ".join([*(text for text, _morphemes in before), *near, window.text])
            vectors[window.id] = document_vector([*forms, *near, *analysis.forms], text, making.numbers)
        return vectors

    def _key(self, window_id: str) -> str:
        return self.contexts.get(window_id, ("", ""))[0]

    def _titles(self) -> list[str]:
        return list(dict.fromkeys(self._chapters.values()))

    def _with_context(self) -> list[Window]:
        return [window for window in self.windows if window.id in self.contexts]

    def _chapter(self, window: Window) -> str:
        begun = [c.title for c in self.video.chapters if c.start_ms <= window.start_ms + EARLY_MS]
        return begun[-1] if begun else ""
