"""Questions and answers as `Content` without markup, with citations for the cursor and the mouse.

A model's answer is outside text, like captions: `clean` filters it line by line.
"""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style

from subtitle_rag.base.domain.answer_values import Answer
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared import conversation, search_text
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, TIME_CELLS, paragraphs
from subtitle_rag.tui.shared.conversation import SIGNS, CitationRef, QuestionTurn
from subtitle_rag.tui.shared.failure_reasons import short_moment

if TYPE_CHECKING:
    from subtitle_rag.library.answers import StoredAnswer
    from subtitle_rag.library.rows import Counts

META = "citation"
"""Style meta of a citation for the mouse: its turn, and its index among the turn's citations."""
_NUMBER = re.compile(r"\[\d{1,3}\]")
_CITED = "bold $focus"
_WARNED = "bold $alert"
NUMBER_CELLS = 4
MOST_TITLE = 16
"""Most cells of a title on a narrow page; on wide pages it has a third."""


def draw_answers(turns: Sequence[QuestionTurn], cursor: CitationRef | None, width: int) -> Content:
    """Return all questions and answers, with the last one's scenes below, in rows of `width` cells."""
    last = conversation.listing_turn(turns)
    pieces = (
        piece
        for number, turn in enumerate(turns)
        for piece in _pieces(turn, number, cursor, width if number == last else 0)
    )
    return Content("").join(pieces)


def citation_offset(answers: Content, ref: CitationRef) -> int | None:
    """Return the offset of a citation in drawn answers."""
    starts = (
        span.start
        for span in answers.spans
        if isinstance(span.style, Style) and span.style.meta.get(META) == tuple(ref)
    )
    return min(starts, default=None)


def _pieces(turn: QuestionTurn, number: int, cursor: CitationRef | None, width: int) -> Iterator[Content]:
    """Yield a question, its answer, notes on it and, with a `width`, a row per scene."""
    yield Content("\n\n" if number else "") + Content.styled(f"❯ {clean(turn.question)}", "bold") + Content("\n")
    yield from _answer(turn, number, cursor)
    rows = list(_below(turn))
    if rows:
        yield Content("\n\n" if turn.text else "") + paragraphs(rows)
    if width and turn.sources:
        yield Content("\n")
        yield from (Content("\n") + row for row in _source_rows(turn, number, cursor, width))


def _source_rows(turn: QuestionTurn, number: int, cursor: CitationRef | None, width: int) -> Iterator[Content]:
    """Yield the scenes of a turn: number, sign, title, time and sentence."""
    titles = [clean(source.video.title) for source in turn.sources]
    title_cells = min(max(map(cell_len, titles)), max(MOST_TITLE, width // 3))
    for source, title in zip(turn.sources, titles, strict=True):
        ref = CitationRef(number, source.number, None)
        at_ms, sign = turn.best_ms(source), turn.sign(source)
        style = _CITED if turn.is_cited(source) else MUTED
        name = Content(title).truncate(title_cells, ellipsis=True, pad=True)
        row = Content.assemble(
            (f"[{source.number}]".rjust(NUMBER_CELLS), f"{style} reverse" if ref == cursor else style),
            f" {sign} ",
            name.stylize("bold") if turn.is_cited(source) else name,
            (clock(at_ms).rjust(TIME_CELLS - 1), MUTED),
            f"  {clean(source.line(at_ms))}",
        )
        yield row.truncate(width, ellipsis=True).stylize(Style.from_meta({META: tuple(ref)}))


def _answer(turn: QuestionTurn, number: int, cursor: CitationRef | None) -> Iterator[Content]:
    if turn.answer is None:
        if turn.text:
            text_so_far = _lines(turn.text).highlight_regex(_NUMBER, style=_CITED)  # citations are checked at the end
            yield text_so_far + Content.styled(" …", MUTED)
        return
    text, at = turn.text, 0
    unfounded = sorted(each.claim for each in turn.answer.unfounded)
    order = sorted(range(len(turn.citations)), key=lambda index: turn.citations[index].span)
    for (start, end), group in groupby(order, key=lambda index: turn.citations[index].span):
        refs = [CitationRef(number, turn.citations[index].number, index) for index in group]
        yield from _claims(text, at, start, unfounded)
        yield _mark(turn, text[start:end], refs, cursor)
        at = end
    yield from _claims(text, at, len(text.rstrip()), unfounded)


def _claims(text: str, start: int, end: int, unfounded: Sequence[tuple[int, int]]) -> Iterator[Content]:
    """Yield a part of an answer, with a sign after each claim that no scene supports."""
    for begin, stop in unfounded:
        if not start <= begin < stop <= end:
            continue
        yield _lines(text[start:begin])
        yield Content.styled(_lines(text[begin:stop]).plain + f" {SIGNS['unsupported']}", "$alert")
        start = stop
    yield _lines(text[start:end])


def _mark(turn: QuestionTurn, text: str, refs: Sequence[CitationRef], cursor: CitationRef | None) -> Content:
    current = next((ref for ref in refs if ref == cursor), None)
    statuses = {turn.citations[ref.at].status for ref in refs if ref.at is not None}
    sign = "".join(SIGNS[status] for status in sorted(statuses))
    style = _WARNED if sign else _CITED
    if current is not None:
        style += " reverse"
    elif cursor is not None and cursor.number in {ref.number for ref in refs}:
        style += " underline"
    mark = Content.styled(clean(text) + sign, style)
    return mark.stylize(Style.from_meta({META: tuple(current or refs[0])}))


def _lines(text: str) -> Content:
    return Content("\n".join(clean(line) for line in text.split("\n")))


def _below(turn: QuestionTurn) -> Iterator[str | tuple[str, str]]:
    """Yield the notes under an answer, or the lines that replace it."""
    from subtitle_rag.answers.wording import reading_plan
    from subtitle_rag.contexts.context_text import reading_notes

    if turn.answer is None:
        if turn.error is not None:
            yield from _failure(turn.error)
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
        yield from _failure(turn.answer.error)


def _failure(error: AppError) -> Iterator[str | tuple[str, str]]:
    """Yield the failure, and the key that helps."""
    yield f"! {clean(error.message)}", "bold"
    advice = {
        "llm_model_missing": _("{key} chooses one of the models that are here, and asks again."),
        "llm_not_running": _("Start Ollama, then {key} asks again."),
    }
    hint = advice.get(error.code)
    yield "  " + (hint.format(key=key("screen.retry")) if hint else clean(error.hint))


def answer_text(turn: QuestionTurn) -> str:
    """Return an answer as plain text, with the signs of its citations."""
    return "".join(piece.plain for piece in _answer(turn, 0, None)).strip()


def fault_lines(answer: Answer) -> Iterator[str]:
    """Yield a sentence per kind of faulty citation with their numbers, and one per unsupported claim without a
    citation.
    """
    from subtitle_rag.answers.wording import citation_fault, unfounded_fault

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
    from subtitle_rag.answers.wording import answer_remarks, video_count

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
    """Return the page of an empty conversation, also for a library that is empty or still opening."""
    if counts is None or not counts.videos:
        return paragraphs(search_text.welcome(counts))
    return paragraphs(
        [
            (_("Ask what the videos say"), "bold"),
            "",
            _("A model on this computer answers from the best scenes and numbers them: [1], [2]."),
            _("Press a number to play the second that it rests on."),
            "",
            (_("of one video: video:TITLE · of one channel: channel:NAME"), MUTED),
        ]
    )


def recent_answer_row(answer: "StoredAnswer", *, show_times: bool) -> Content:
    """Return the question and its time."""
    time_text = f"  {short_moment(answer.asked_at, time.time())}" if show_times else ""
    return Content.assemble(clean(answer.question), (time_text, MUTED))
