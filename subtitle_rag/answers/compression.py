"""Context compression by extraction: of each scene the lines that bear on the question, in its order and its words.

Xu et al. 2023, "RECOMP", arXiv:2310.04408, compare extractive and abstractive compression of retrieved passages.
Nothing is written anew here: what is left out is marked, and the time stands behind each gap, so that a claim can be
found. On the half of scene_bench that `KEPT` was not chosen on, half of the tokens keep the answer of .68 of the
questions in the prompt instead of .72 (`scripts/bench_compression`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from subtitle_rag.answers.context_builder import RankedContextBuilder
from subtitle_rag.domain import Line, clock, spoken
from subtitle_rag.library import Library
from subtitle_rag.retrieval import QueryMorphemes, Scene, inverse_document_frequency

KEPT = 0.5
"""The share of a scene's characters that stays, so that twice as many scenes take the same room."""
GAP = "…"

Rarity = Callable[[Sequence[str]], Mapping[str, float]]
"""Inverse document frequencies by form."""


def rarity_in(library: Library) -> Rarity:
    """Return the inverse document frequencies of forms among the windows of a library."""

    def rarity(forms: Sequence[str]) -> dict[str, float]:
        counts, total = library.term_counts(forms), library.counts().windows
        return {form: inverse_document_frequency(counts.get(form, 0), total) for form in forms}

    return rarity


class CompressedContextBuilder:
    """The text of `RankedContextBuilder` with the best lines of each scene.

    A line is as good as the rarity of the question's morphemes in it, and half as good as the line before or after it:
    an answer often follows the words of its question. Lines without any stay from the scene's best one outwards.
    """

    def __init__(
        self, question: str, analyzer: QueryMorphemes, rarity: Rarity, ranked: RankedContextBuilder, kept: float = KEPT
    ) -> None:
        (analysis,) = analyzer.morphemes([question])
        self._weights = rarity(list(dict.fromkeys(analysis.forms)))
        self._analyzer = analyzer
        self._ranked = ranked
        self._share = kept
        self._scenes: dict[tuple[str, int, int], Scene] = {}
        """Compressed scenes by id and times; `fitted` builds them again and again."""

    def build(self, scenes: Sequence[Scene]) -> str:
        return self._ranked.build([self._compressed(scene) for scene in scenes])

    def entry(self, number: int, scene: Scene) -> str:
        """Return the text of one scene under its number."""
        return RankedContextBuilder(labels=self._ranked.labels, first=number).build([self._compressed(scene)])

    def kept(self, scene: Scene) -> list[int]:
        """Return the lines of a scene that stay, by number: the best ones that fill their share, one at least."""
        lines = spoken(scene.text, scene.lines or (Line(0, scene.start_ms),))
        scores = self._scores([text for _start, text in lines])
        best = next((at for at, (start, _text) in enumerate(lines) if start == scene.at_ms), 0)
        room = self._share * sum(len(text) for _start, text in lines)
        chosen: list[int] = []
        for at in sorted(range(len(lines)), key=lambda at: (-scores[at], abs(at - best), at)):
            size = len(lines[at][1])
            if not chosen or size <= room:
                chosen.append(at)
                room -= size
        return sorted(chosen)

    def _scores(self, texts: Sequence[str]) -> list[float]:
        own = [
            sum(self._weights.get(form, 0.0) for form in set(analysis.forms))
            for analysis in self._analyzer.morphemes(texts)
        ]
        beside = [max(own[max(0, at - 1) : at] + own[at + 1 : at + 2], default=0.0) for at in range(len(own))]
        return [max(score, near / 2) for score, near in zip(own, beside, strict=True)]

    def _compressed(self, scene: Scene) -> Scene:
        """Return a scene with the lines that stay as its text, the time behind each gap, and no surroundings."""
        key = scene.id, scene.start_ms, len(scene.text)
        if key in self._scenes:
            return self._scenes[key]
        lines = spoken(scene.text, scene.lines or (Line(0, scene.start_ms),))
        pieces: list[str] = []
        last = -1
        for at in self.kept(scene):
            start, text = lines[at]
            pieces.append(text if at == last + 1 else f"{GAP} ({clock(start)}) {text}")
            last = at
        if last < len(lines) - 1:
            pieces.append(GAP)
        text = " ".join(pieces)
        compressed = replace(
            scene, text=text, lines=(Line(0, scene.start_ms),), highlights=(), overlap_before="", overlap_after=""
        )
        self._scenes[key] = compressed
        return compressed
