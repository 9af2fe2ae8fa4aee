"""F2: why a scene was found, in words; the numbers of `search --explain` one key further."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from subtitle_rag.domain import clock
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.search.fusion import score_cells
from subtitle_rag.retrieval.search.reasons import REASONS, words_by_source
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.domain import AppError
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.retrieval.search.scenes import Scene

BY = {
    "bm25": N_("words"),
    "dense": N_("meaning"),
    "sparse": N_("weighted words"),
    "late": N_("word by word"),
    "pieces": N_("best piece"),
    "levels": N_("section and video"),
}
"""What each retriever compares."""
PARTS = {"retrieve": N_("retrieve"), "encode": N_("encode"), "late": N_("late"), "rerank": N_("rerank")}
"""Parts of a search whose time is measured."""
WORDS = 12
"""Most words in a list."""
GAP = "  "


def explain_rows(
    scene: "Scene", result: "SearchResult", width: int, *, times: bool, numbers: bool = False
) -> list[Content]:
    """Return what the scene says of the query, what it borrows, and how sure it is.

    With `numbers` the ranks of its best window by retriever, fusion and reranker follow, and how the answer came
    about; the table keeps within `width` cells if it can.
    """
    first = _("Why this scene comes first")
    head = first if scene.rank == 1 else _("Why this scene is number {n}").format(n=scene.rank)
    words_by_label, answer_by_label = _words(scene), _answer(result, times) if numbers else {}
    wide = max(map(cell_len, (*words_by_label, *answer_by_label)), default=0)
    word_rows = (_labelled(label, text, wide).truncate(width, ellipsis=True) for label, text in words_by_label.items())
    rows = [Content.styled(head, "bold $text-accent"), *word_rows, *_wrapped(certainty(scene), width)]
    rows += _copies(scene, width)
    if numbers:
        answer_rows = (_labelled(label, text, wide) for label, text in answer_by_label.items())
        rows += [Content(""), *_table(scene, result, width), Content(""), *answer_rows]
    else:
        hint = _("{key} once more shows the numbers.").format(key=key("search.explain"))
        rows += [Content(""), *(row.stylize(MUTED) for row in _wrapped(hint, width))]
    return [*rows, *_missing(result)]


def _copies(scene: "Scene", width: int) -> Iterator[Content]:
    """Yield the other videos that say the same, each with its second."""
    if not scene.copies:
        return
    yield Content("")
    yield Content.styled(_("Said in other videos, too"), "bold $text-accent")
    for copy in scene.copies:
        title = Content.assemble(GAP, clock(copy.at_ms), GAP, clean(copy.video.title)).truncate(width, ellipsis=True)
        yield title
        if copy.jump_url:
            yield Content.styled(f"{GAP}{copy.jump_url}", MUTED)
    hint = _("{key} plays one of them.").format(key=key("scene.copies"))
    yield from (row.stylize(MUTED) for row in _wrapped(hint, width))


def _wrapped(text: str, width: int) -> Iterator[Content]:
    yield from (Content(GAP) + row.rstrip() for row in Content(text).wrap(max(8, width - len(GAP))))


def certainty(scene: "Scene") -> str:
    """Say how sure it is that the scene is meant, by where it has the words of the query."""
    sources = {word.source for word in scene.words} or ({"text"} if scene.highlights else set())
    if sources == {"text"}:
        return _("Sure: every word of the query is said here.")
    if sources == {"text", "missing"}:
        return _("In part: some words of the query are not there.")
    if "text" in sources:
        return _("Likely: some words are said here, the others are borrowed.")
    if sources - {"missing"}:
        return _("Less sure: no word of the query is said here itself; all are borrowed.")
    if reason := REASONS.get(scene.reason):
        return _("Less sure ({reason}): no word of the query is said here.").format(reason=_(reason))
    return _("Less sure: no word of the query is said here; the meaning alone is close.")


def _table(scene: "Scene", result: "SearchResult", width: int) -> Iterator[Content]:
    """Yield rows of name, compared quantity (if there is room), rank and score."""
    names = {name: name for name in (*result.retrievers, *(name for name, _error in result.missing))}
    for part in ("rerank", "index"):
        names.pop(part, None)
    if len(result.retrievers) > 1:
        names["fused"] = _("fused")
    if result.reranked or any(name == "rerank" for name, _error in result.missing):
        names["rerank"] = _("reranked")
    lines = []
    for name, title in names.items():
        entry = scene.scores.get(name) if name != "rerank" or result.reranked else None
        lines.append([title, _(BY[name]) if name in BY else "", *score_cells(name, entry)])
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    if sum(widths) + len(GAP) * len(widths) > width:
        lines, widths = [[line[0], *line[2:]] for line in lines], [widths[0], *widths[2:]]
    for line in lines:
        text_cells = [set_cell_size(text, wide) for text, wide in zip(line[:-2], widths, strict=False)]
        cells = [*text_cells, line[-2].rjust(widths[-2]), line[-1].rjust(widths[-1])]
        yield Content(GAP + GAP.join(cells).rstrip())


def _words(scene: "Scene") -> dict[str, str]:
    """Return the typed words by where the scene has them; without an analysed query what is marked in its speech.

    Empty for a scene that was found by its meaning.
    """
    if scene.words:
        return {label: " · ".join(map(clean, words[:WORDS])) for label, words in words_by_source(scene.words).items()}
    words = list(dict.fromkeys(clean(scene.text[start:end]) for start, end in scene.highlights))
    return {_("said"): " · ".join(words[:WORDS])} if words else {}


def _labelled(label: str, text: str, wide: int) -> Content:
    return Content.assemble(GAP, (label, MUTED), " " * (wide - cell_len(label)), GAP, text)


def _answer(result: "SearchResult", times: bool) -> dict[str, str]:
    names = [*result.retrievers, *([_("reranked")] if result.reranked else [])]
    by_label = {_("Answered by"): " · ".join(names) + ("" if result.final else " …")}
    if result.shares:
        by_label[_("Shares")] = " · ".join(f"{name} {100 * share:.0f} %" for name, share in result.shares.items())
    if times:
        spent = (f"{_(PARTS[part]) if part in PARTS else part} {ms:.0f} ms" for part, ms in result.took_ms.items())
        by_label[_("Time")] = " · ".join(spent)
    return by_label


def _missing(result: "SearchResult") -> Iterator[Content]:
    """Yield the retrievers without part in the answer, by reason."""
    by_code: dict[str, tuple[AppError, list[str]]] = {}
    for name, error in result.missing:
        by_code.setdefault(error.code, (error, []))[1].append(_("reranked") if name == "rerank" else name)
    for error, retrievers in by_code.values():
        sentence = error.message
        if retrievers != ["index"]:
            sentence = _("{names} had no part: {reason}").format(names=", ".join(retrievers), reason=error.message)
        yield Content.styled(f"  ! {clean(sentence)}", "$text-warning")
