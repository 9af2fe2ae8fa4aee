"""Questions and their answers as the screen draws them: `Content` without markup, with citations that can be chosen.

What a model has written is outside text like captions are: it goes through `clean`, line by line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.content import Content
from textual.style import Style

from subtitle_rag.answers import wording
from subtitle_rag.domain import Line, Video, clock
from subtitle_rag.errors import AppError
from subtitle_rag.events import Answer, Citation, Evidence, EvidenceSource
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.scenes import Scene
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.text import MUTED, byline, clean

if TYPE_CHECKING:
    from subtitle_rag.answers.prompt import Way
    from subtitle_rag.library.answers import KeptAnswer

SIGNS = {"supported": "", "unsupported": "?", "unknown": "✗"}
"""Behind a citation; the words that go with it stand under the answer."""
META = "citation"
"""What the mouse finds under a citation: its turn and its place among that turn's citations."""
_NUMBER = re.compile(r"\[\d{1,3}\]")
_CITED = "bold $text-accent"
_WARNED = "bold $text-warning"
NUMBER_CELLS = 4
_INDENT = "  "


class Choice(NamedTuple):
    """A citation: which question's, and which of its answer's."""

    turn: int
    at: int


@dataclass(slots=True, eq=False)
class Turn:
    """A question on the screen, and what has come of it so far."""

    question: str
    evidence: Evidence | None = None
    text: str = ""
    answer: Answer | None = None
    error: AppError | None = None
    """Why there is no answer at all."""

    @property
    def ended(self) -> bool:
        return self.answer is not None or self.error is not None

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.answer.citations if self.answer else ()

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        return self.evidence.sources if self.evidence else ()

    def source(self, number: int) -> EvidenceSource | None:
        return next((source for source in self.sources if source.number == number), None)

    @property
    def first_cited(self) -> int | None:
        """The scene that the first good citation names."""
        return next((one.number for one in self.citations if one.status == "supported"), None)

    def best_ms(self, source: EvidenceSource) -> int:
        """Where its first citation that is borne out leads; the question's own best line without one."""
        own = (one for one in self.citations if one.number == source.number and one.status == "supported")
        found = next(own, None)
        return source.at_ms if found is None or found.at_ms is None else found.at_ms

    def sign(self, source: EvidenceSource) -> str:
        """Whether the answer cites a scene, and whether that is borne out."""
        statuses = {one.status for one in self.citations if one.number == source.number}
        return "✓" if "supported" in statuses else SIGNS["unsupported"] if statuses else " "


def choices(turns: Sequence[Turn]) -> list[Choice]:
    """All citations, in the order in which they are read."""
    return [
        Choice(number, at)
        for number, turn in enumerate(turns)
        for at in sorted(range(len(turn.citations)), key=lambda at: turn.citations[at].span)
    ]


def drawn(turns: Sequence[Turn], chosen: Choice | None, shown: str | None) -> tuple[Content, int | None]:
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
    turn: Turn, number: int, chosen: Choice | None, shown: str | None
) -> Iterator[tuple[Choice | None, Content]]:
    """A question, its answer and what is to be said of it; a mark comes with the citation that it stands for."""
    yield None, Content("\n\n" if number else "") + Content.styled(f"❯ {clean(turn.question)}", "bold") + Content("\n")
    yield from _answer(turn, number, chosen, shown)
    rows = list(_below(turn))
    if rows:
        yield None, Content("\n\n" if turn.text else "") + Content("\n").join(rows)


def _answer(
    turn: Turn, number: int, chosen: Choice | None, shown: str | None
) -> Iterator[tuple[Choice | None, Content]]:
    if turn.answer is None:
        if turn.text:
            said = _lines(turn.text).highlight_regex(_NUMBER, style=_CITED)  # what they rest on is not looked up yet
            yield None, said + Content.styled(" …", MUTED)
        return
    text, at = turn.text, 0
    order = sorted(range(len(turn.citations)), key=lambda index: turn.citations[index].span)
    for (start, end), group in groupby(order, key=lambda index: turn.citations[index].span):
        own = [Choice(number, index) for index in group]
        yield None, _lines(text[at:start])
        current = next((one for one in own if one == chosen), None)
        yield current or own[0], _mark(turn, text[start:end], own, current, shown)
        at = end
    yield None, _lines(text[at:].rstrip())


def _mark(turn: Turn, text: str, own: Sequence[Choice], chosen: Choice | None, shown: str | None) -> Content:
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


def _below(turn: Turn) -> Iterator[Content]:
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


def row(turn: Turn, source: EvidenceSource, at_ms: int) -> tuple[Content, Content]:
    """A scene in the list: its number, whether it is cited, when and what is said, then of which video."""
    scene = scene_of(source, at_ms)
    sign = turn.sign(source)
    number = (f"[{source.number}]".rjust(NUMBER_CELLS), "bold" if sign.strip() else "")
    said = f" {sign} {clock(at_ms)}  {clean(source.line(at_ms))}"
    return Content.assemble(number, said), Content.assemble(" " * (NUMBER_CELLS + 3), (byline(scene), MUTED))


def scene_of(source: EvidenceSource, at_ms: int) -> Scene:
    """A source as the rest of the app knows scenes, to be jumped to at `at_ms`."""
    offsets, offset = [], 0
    for start, text in source.lines:
        offsets.append(Line(offset, start))
        offset += len(text) + 1
    return Scene(
        rank=source.number,
        id=source.scene,
        video=source.video,
        start_ms=source.start_ms,
        end_ms=source.end_ms,
        text=" ".join(text for _start, text in source.lines),
        lines=tuple(offsets),
        highlights=(),
        at_ms=at_ms,
        score=0.0,
        scores={},
        context=source.context,
    )


def kept_turn(kept: "KeptAnswer", videos: Mapping[str, Video]) -> Turn:
    """A kept answer; of scenes whose video has left the library only the words are there."""
    sources = tuple(
        EvidenceSource(
            number=one.number,
            scene=one.scene,
            video=videos.get(one.video) or Video(one.video, one.title, "", ""),
            start_ms=one.at_ms,
            end_ms=one.at_ms,
            at_ms=one.at_ms,
            lines=((one.at_ms, one.line),),
            text=one.line,
        )
        for one in kept.sources
    )
    evidence = Evidence(cast("Way", kept.way), sources)
    answer = Answer(kept.question, kept.text, kept.model, evidence, kept.citations)
    return Turn(kept.question, evidence, kept.text, answer)
