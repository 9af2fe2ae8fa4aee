"""Questions and their answers as the screen draws them: `Content` without markup, with citations that can be chosen.

What a model has written is outside text like captions are: it goes through `clean`, line by line.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from textual.content import Content
from textual.style import Style

from subtitle_rag.answers import wording
from subtitle_rag.domain import clock
from subtitle_rag.errors import AppError
from subtitle_rag.events import Answer, Evidence, EvidenceSource
from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.conversation import SIGNS, CitationRef, QuestionTurn, scene_of
from subtitle_rag.tui.text.content import MUTED, byline

META = "citation"
"""What the mouse finds under a citation: its turn and its place among that turn's citations."""
_NUMBER = re.compile(r"\[\d{1,3}\]")
_CITED = "bold $text-accent"
_WARNED = "bold $text-warning"
NUMBER_CELLS = 4
_INDENT = "  "


def drawn(turns: Sequence[QuestionTurn], chosen: CitationRef | None, shown: str | None) -> tuple[Content, int | None]:
    """All questions and answers, and where the chosen citation begins in that.

    Citations of the scene `shown` (its id) are underlined.
    """
    parts: list[Content] = []
    place, length = None, 0
    for number, turn in enumerate(turns):
        for mark, piece in _pieces(turn, number, chosen, shown):
            if mark is not None and mark == chosen:
                place = length
            parts.append(piece)
            length += len(piece.plain)
    return Content("").join(parts), place


def _pieces(
    turn: QuestionTurn, number: int, chosen: CitationRef | None, shown: str | None
) -> Iterator[tuple[CitationRef | None, Content]]:
    """A question, its answer and what is to be said of it; a mark comes with the citation that it stands for."""
    yield None, Content("\n\n" if number else "") + Content.styled(f"❯ {clean(turn.question)}", "bold") + Content("\n")
    yield from _answer(turn, number, chosen, shown)
    rows = list(_below(turn))
    if rows:
        yield None, Content("\n\n" if turn.text else "") + Content("\n").join(rows)


def _answer(
    turn: QuestionTurn, number: int, chosen: CitationRef | None, shown: str | None
) -> Iterator[tuple[CitationRef | None, Content]]:
    if turn.answer is None:
        if turn.text:
            said = _lines(turn.text).highlight_regex(_NUMBER, style=_CITED)  # what they rest on is not looked up yet
            yield None, said + Content.styled(" …", MUTED)
        return
    text, at = turn.text, 0
    order = sorted(range(len(turn.citations)), key=lambda index: turn.citations[index].span)
    for (start, end), group in groupby(order, key=lambda index: turn.citations[index].span):
        own = [CitationRef(number, index) for index in group]
        yield None, _lines(text[at:start])
        current = next((one for one in own if one == chosen), None)
        yield current or own[0], _mark(turn, text[start:end], own, current, shown)
        at = end
    yield None, _lines(text[at:].rstrip())


def _mark(
    turn: QuestionTurn, text: str, own: Sequence[CitationRef], chosen: CitationRef | None, shown: str | None
) -> Content:
    statuses = {turn.citations[one.at].status for one in own}
    sign = "".join(SIGNS[status] for status in sorted(statuses))
    style = _WARNED if sign else _CITED
    ids = {source.scene for one in own if (source := turn.source(turn.citations[one.at].number))}
    if chosen is not None:
        style += " reverse"
    elif shown in ids:
        style += " underline"
    mark = Content.styled(clean(text) + sign, style)
    return mark.stylize(Style.from_meta({META: tuple(chosen or own[0])}))


def _lines(text: str) -> Content:
    return Content("\n".join(clean(line) for line in text.split("\n")))


def _below(turn: QuestionTurn) -> Iterator[Content]:
    """What stands under an answer, or in its place."""
    if turn.answer is None:
        if turn.error is not None:
            yield from _failure(turn.error)
        elif not turn.text:
            yield Content.styled(clean(_awaited(turn.evidence)), MUTED)
        return
    for (sign, words), numbers in _faults(turn.answer).items():
        yield Content.styled(clean(f"{sign} {''.join(f'[{number}]' for number in numbers)} {words}"), "$text-warning")
    for said in _remarks(turn.answer):
        yield Content.styled(f"· {clean(said)}", MUTED)
    if turn.answer.error is not None:
        yield from _failure(turn.answer.error)


def _faults(answer: Answer) -> dict[tuple[str, str], list[int]]:
    """What is wrong with which citations, in their order."""
    found: dict[tuple[str, str], list[int]] = {}
    for citation in answer.citations:
        if citation.status != "supported":
            numbers = found.setdefault((SIGNS[citation.status], wording.fault(answer, citation)), [])
            numbers += [] if citation.number in numbers else [citation.number]
    return found


def _awaited(evidence: Evidence | None) -> str:
    return wording.reading(evidence) if evidence and evidence.sources else _("Searching for scenes…")


def _failure(error: AppError) -> Iterator[Content]:
    yield Content.styled(f"! {clean(error.message)}", "bold")
    yield Content(f"{_INDENT}{clean(error.hint)}")


def _remarks(answer: Answer) -> Iterator[str]:
    evidence = answer.evidence
    yield from wording.remarks(answer)
    if answer.declined:
        yield _("{key} asks a new question, about other scenes.").format(key=key("answer.new"))
    if evidence.way != "search" and evidence.sources:
        title = evidence.sources[0].video.title
        if evidence.way == "transcript":
            yield _("From all captions of “{title}”.").format(title=title)
        else:
            yield _("From what all scenes of “{title}” are about.").format(title=title)
    if evidence.nameless:
        yield _("This seems to be about a whole video. With video:TITLE in the question all of it is read.")


def welcome() -> Content:
    """Nothing is asked yet: what happens to a question."""
    choose = {"keys": f"{key('answer.previous')} {key('answer.next')}", "key": key("answer.enter")}
    kept = _("Answers are kept on this computer alone; {key} shows and deletes them.")
    return Content("\n").join(
        [
            Content.styled(_("Ask what the videos say"), "bold"),
            Content(""),
            Content(_("A local model (Ollama) answers from the best scenes and cites them: [1], [2].")),
            Content(_("{keys} go through the citations, {key} plays the second that one rests on.").format(**choose)),
            Content(""),
            Content.styled(_("of one video: video:TITLE · of one channel: channel:NAME"), MUTED),
            Content.styled(kept.format(key=key("answer.history")), MUTED),
        ]
    )


def row(turn: QuestionTurn, source: EvidenceSource, at_ms: int) -> tuple[Content, Content]:
    """A scene in the list: its number, whether it is cited, when and what is said, then of which video."""
    scene = scene_of(source, at_ms)
    sign = turn.sign(source)
    number = (f"[{source.number}]".rjust(NUMBER_CELLS), "bold" if sign.strip() else "")
    said = f" {sign} {clock(at_ms)}  {clean(source.line(at_ms))}"
    return Content.assemble(number, said), Content.assemble(" " * (NUMBER_CELLS + 3), (byline(scene), MUTED))
