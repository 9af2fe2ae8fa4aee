"""Questions and answers as `Content` without markup, with citations for the cursor and the mouse.

A model's answer is outside text, as captions are: `clean` filters it line by line.
"""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from subtitle_rag.answers import (
    answer_remarks,
    citation_fault,
    reading_plan,
    unfounded_fault,
    video_count,
)
from subtitle_rag.contexts import reading_notes
from subtitle_rag.domain import Answer, EvidenceSource, clock
from subtitle_rag.i18n import _
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.state import SIGNS, CitationRef, QuestionTurn, clean, scene_of
from subtitle_rag.tui.text import search_text
from subtitle_rag.tui.text.content import MUTED, byline, failure_rows, paragraphs
from subtitle_rag.tui.text.failure_reasons import short_moment

if TYPE_CHECKING:
    from subtitle_rag.library import Counts, StoredAnswer

META = "citation"
"""Style meta of a citation for the mouse: its turn, and its index among that turn's citations."""
_NUMBER = re.compile(r"\[\d{1,3}\]")
_CITED = "bold $focus"
_WARNED = "bold $alert"
NUMBER_CELLS = 4
MOMENT_CELLS = 12


def draw_answers(turns: Sequence[QuestionTurn], cursor: CitationRef | None, scene_id: str | None) -> Content:
    """Return all questions and answers; citations of the scene `scene_id` are underlined."""
    return Content("").join(
        piece for number, turn in enumerate(turns) for piece in _pieces(turn, number, cursor, scene_id)
    )


def citation_offset(answers: Content, ref: CitationRef) -> int | None:
    """Return the offset of a citation in drawn answers."""
    starts = (
        span.start
        for span in answers.spans
        if isinstance(span.style, Style) and span.style.meta.get(META) == tuple(ref)
    )
    return min(starts, default=None)


def _pieces(turn: QuestionTurn, number: int, cursor: CitationRef | None, scene_id: str | None) -> Iterator[Content]:
    """Yield a question, its answer and the remarks on it."""
    yield Content("\n\n" if number else "") + Content.styled(f"❯ {clean(turn.question)}", "bold") + Content("\n")
    yield from _answer(turn, number, cursor, scene_id)
    rows = list(_below(turn))
    if rows:
        yield Content("\n\n" if turn.text else "") + paragraphs(rows)


def _answer(turn: QuestionTurn, number: int, cursor: CitationRef | None, scene_id: str | None) -> Iterator[Content]:
    if turn.answer is None:
        if turn.text:
            text_so_far = _lines(turn.text).highlight_regex(_NUMBER, style=_CITED)  # citations are checked at the end
            yield text_so_far + Content.styled(" …", MUTED)
        return
    text, at = turn.text, 0
    unfounded = sorted(each.claim for each in turn.answer.unfounded)
    order = sorted(range(len(turn.citations)), key=lambda index: turn.citations[index].span)
    for (start, end), group in groupby(order, key=lambda index: turn.citations[index].span):
        refs = [CitationRef(number, index) for index in group]
        yield from _claims(text, at, start, unfounded)
        current = next((ref for ref in refs if ref == cursor), None)
        yield _mark(turn, text[start:end], refs, current, scene_id)
        at = end
    yield from _claims(text, at, len(text.rstrip()), unfounded)


def _claims(text: str, start: int, end: int, unfounded: Sequence[tuple[int, int]]) -> Iterator[Content]:
    """Yield a part of an answer, with a sign after each claim that no scene bears out."""
    for begin, stop in unfounded:
        if not start <= begin < stop <= end:
            continue
        yield _lines(text[start:begin])
        yield Content.styled(_lines(text[begin:stop]).plain + f" {SIGNS['unsupported']}", "$alert")
        start = stop
    yield _lines(text[start:end])


def _mark(
    turn: QuestionTurn, text: str, refs: Sequence[CitationRef], cursor: CitationRef | None, scene_id: str | None
) -> Content:
    statuses = {turn.citations[ref.at].status for ref in refs}
    sign = "".join(SIGNS[status] for status in sorted(statuses))
    style = _WARNED if sign else _CITED
    ids = {source.scene for ref in refs if (source := turn.source(turn.citations[ref.at].number))}
    if cursor is not None:
        style += " reverse"
    elif scene_id in ids:
        style += " underline"
    mark = Content.styled(clean(text) + sign, style)
    return mark.stylize(Style.from_meta({META: tuple(cursor or refs[0])}))


def _lines(text: str) -> Content:
    return Content("\n".join(clean(line) for line in text.split("\n")))


def _below(turn: QuestionTurn) -> Iterator[str | tuple[str, str]]:
    """Yield the remarks under an answer, or the lines that replace it."""
    if turn.answer is None:
        if turn.error is not None:
            yield from failure_rows(turn.error)
        elif not turn.text:
            evidence = turn.evidence
            reading = evidence and evidence.sources and reading_plan(evidence)
            yield clean(reading or _("Searching for scenes…")), MUTED
        if turn.request is not None and (notes := reading_notes(turn.request, turn.request_s)):
            yield " · ".join(notes), MUTED
        return
    for line in fault_lines(turn.answer):
        yield line, "$alert"
    for remark in _remarks(turn.answer):
        yield f"· {clean(remark)}", MUTED
    if turn.answer.error is not None:
        yield from failure_rows(turn.answer.error)


def answer_text(turn: QuestionTurn) -> str:
    """Return an answer as plain text, with the signs of its citations."""
    return "".join(piece.plain for piece in _answer(turn, 0, None, None)).strip()


def fault_lines(answer: Answer) -> Iterator[str]:
    """Yield a sentence for each kind of faulty citation, with the numbers of those citations in their order, and for
    each claim without a citation that no scene bears out."""
    faults: dict[tuple[str, str], list[int]] = {}
    for citation in answer.citations:
        if citation.status == "unsupported":
            faults.setdefault((SIGNS[citation.status], citation_fault(answer.text, citation)), []).append(
                citation.number
            )
    for (sign, words), numbers in faults.items():
        yield clean(f"{sign} {''.join(f'[{number}]' for number in dict.fromkeys(numbers))} {words}")
    for unfounded in answer.unfounded:
        yield clean(f"{SIGNS['unsupported']} {unfounded_fault(answer.text, unfounded)}")


def _remarks(answer: Answer) -> Iterator[str]:
    evidence = answer.evidence
    yield from answer_remarks(answer)
    if answer.ending == "loop":
        yield _("{key} asks once more with another seed.").format(key=key("screen.retry"))
    if evidence.kind == "library":
        yield _("{key} asks of the best scenes only.").format(key=key("answer.whole"))
    if answer.declined:
        yield _("{key} asks a new question, about other scenes.").format(key=key("app.ask"))
    if evidence.kind in ("transcript", "library", "map") and evidence.sources:
        title = evidence.sources[0].video.title
        if evidence.kind == "transcript":
            yield _("From all captions of “{title}”.").format(title=title)
        elif evidence.kind == "library":
            yield _("From all captions of {videos}.").format(videos=video_count(evidence))
        else:
            yield _("From the contexts of all scenes of “{title}”.").format(title=title)
    if evidence.nameless:
        yield _("This seems to be about a whole video. With video:TITLE in the question all of it is read.")


def welcome(counts: "Counts | None") -> Content:
    """Return the page of an empty conversation; that of a library without videos, or one that opens, says so."""
    if counts is None or not counts.videos:
        return paragraphs(search_text.welcome(counts))
    choose = {"keys": f"{key('list.up')} {key('list.down')}", "key": key("screen.enter")}
    return paragraphs(
        [
            (_("Ask what the videos say"), "bold"),
            "",
            _("A local model (Ollama) answers from the best scenes and cites them: [1], [2]."),
            _("{keys} go through the citations, {key} plays the second that one rests on.").format(**choose),
            "",
            (_("of one video: video:TITLE · of one channel: channel:NAME"), MUTED),
            (_("Answers stay on this computer."), MUTED),
        ]
    )


def row(turn: QuestionTurn, source: EvidenceSource, at_ms: int) -> tuple[Content, Content]:
    """Return a scene's two lines in the list: number, sign of citation, time and words; then the byline."""
    scene = scene_of(source, at_ms)
    sign = turn.sign(source)
    number = (f"[{source.number}]".rjust(NUMBER_CELLS), "bold" if turn.is_cited(source) else "")
    line = f" {sign} {clock(at_ms)}  {clean(source.line(at_ms))}"
    return Content.assemble(number, line), Content.assemble(" " * (NUMBER_CELLS + 3), byline(scene))


def recent_answer_row(answer: "StoredAnswer") -> Content:
    """Return when it was asked, and the question."""
    moment = short_moment(answer.asked_at, time.time()).rjust(MOMENT_CELLS - 2)
    return Content.assemble((moment, MUTED), "  ", clean(answer.question))
