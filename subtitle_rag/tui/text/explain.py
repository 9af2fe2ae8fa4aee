"""F2: why a scene stands where it does. What `search --explain` tells in a line, as a block."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.retrieval.search import SearchResult

BY = {"bm25": N_("words"), "dense": N_("meaning"), "sparse": N_("weighted words")}
"""What each retriever goes by."""
PARTS = {"retrieve": N_("retrieve"), "encode": N_("encode"), "rerank": N_("rerank")}
"""What takes time."""
DIGITS = {"bm25": 2, "fused": 4}
"""After the point, of a score; three of the others."""
WORDS = 12
"""Words that are listed, at most."""
GAP = 2


def rows(scene: "Scene", result: "SearchResult", width: int, *, times: bool) -> list[Content]:
    """Where every retriever, the fusion and the reranker placed the scene's best window among all windows, which words
    of the query stand where, and how the whole answer came about. The table keeps within `width` cells where it can.
    """
    head = Content.styled(_("Why this is scene {n}").format(n=scene.rank), "bold $text-accent")
    met, told = _words(scene, result), _answer(result, times)
    wide = max(map(_cells, (*met, *told)))
    words = (_labelled(label, said, wide).truncate(width, ellipsis=True) for label, said in met.items())
    answer = (_labelled(label, said, wide) for label, said in told.items())
    return [head, *_table(scene, result, width), Content(""), *words, Content(""), *answer, *_missing(result)]


def _table(scene: "Scene", result: "SearchResult", width: int) -> Iterator[Content]:
    """Name, what it goes by (where there is room), rank and score in columns."""
    names = {name: name for name in (*result.retrievers, *(name for name, _error in result.missing))}
    names.pop("rerank", None)
    if len(result.retrievers) > 1:
        names["fused"] = _("fused")
    if result.reranked or any(name == "rerank" for name, _error in result.missing):
        names["rerank"] = _("reranked")
    lines = []
    for name, title in names.items():
        own = scene.scores.get(name) if name != "rerank" or result.reranked else None
        placed = (f"#{own.rank}", f"{own.score:.{DIGITS.get(name, 3)}f}") if own else ("–", "")
        lines.append([title, _(BY[name]) if name in BY else "", *placed])
    widths = _widths(lines)
    if sum(widths) + GAP * len(widths) > width:
        lines = [[line[0], *line[2:]] for line in lines]
        widths = _widths(lines)
    for line in lines:
        cells = [
            _padded(Content(cell), wide, right=at >= len(line) - 2)
            for at, (cell, wide) in enumerate(zip(line, widths, strict=True))
        ]
        yield Content(" " * GAP) + Content(" " * GAP).join(cells).rstrip()


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(_cells, column)) for column in zip(*lines, strict=True)]


def _cells(said: str) -> int:
    return Content(said).cell_length


def _padded(said: Content, width: int, *, right: bool) -> Content:
    room = width - said.cell_length
    return said.pad_left(room) if right else said.pad_right(room)


def _words(scene: "Scene", result: "SearchResult") -> dict[str, str]:
    """The words that are met in what is said, in the title and in the context; the latter two by their letters alone,
    for their analyses are not kept."""
    from subtitle_rag.retrieval.highlights import spans

    met = {_("Said"): _distinct(scene.text, scene.highlights)}
    if result.lexical is not None:
        for label, text in ((_("Title"), scene.video.title), (_("Context"), scene.context or "")):
            if text:
                met[label] = _distinct(text, spans(text, None, result.lexical))
    return {label: " · ".join(found[:WORDS]) or "–" for label, found in met.items()}


def _distinct(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    return list(dict.fromkeys(clean(text[start:end]) for start, end in spans))


def _labelled(label: str, said: str, wide: int) -> Content:
    title = _padded(Content.styled(label, MUTED), wide, right=False)
    return Content.assemble(" " * GAP, title, " " * GAP, said)


def _answer(result: "SearchResult", times: bool) -> dict[str, str]:
    """Which retrievers have answered, and how long it took."""
    names = [*result.retrievers, *([_("reranked")] if result.reranked else [])]
    told = {_("Answered by"): " · ".join(names) + ("" if result.final else " …")}
    if times:
        spent = (f"{_(PARTS[part]) if part in PARTS else part} {ms:.0f} ms" for part, ms in result.took_ms.items())
        told[_("Time")] = " · ".join(spent)
    return told


def _missing(result: "SearchResult") -> Iterator[Content]:
    """Who had no part in the answer, by reason."""
    by_code: dict[str, tuple[AppError, list[str]]] = {}
    for name, error in result.missing:
        by_code.setdefault(error.code, (error, []))[1].append(_("reranked") if name == "rerank" else name)
    for error, missed in by_code.values():
        said = _("{names} had no part: {reason}").format(names=", ".join(missed), reason=error.message)
        yield Content.styled(f"  ! {clean(said)}", "$text-warning")
