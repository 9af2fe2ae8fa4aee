"""Texts for the clipboard with their sources: a transcript's line, and an answer."""

from subtitle_rag.base.domain.values import Video, clock
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.conversation import QuestionTurn


def quote_scene(video: Video, at_ms: int, words: str) -> str:
    """Return words of a video with title, time and link."""
    return f"“{clean(words)}”\n{source(video, at_ms)}"


def source(video: Video, at_ms: int) -> str:
    """Return title, channel, time and link of a moment."""
    names = " · ".join(filter(None, (clean(video.title), clean(video.channel), clock(at_ms))))
    return "\n".join(filter(None, (names, video.link(at_ms))))


def quote_answer(turn: QuestionTurn) -> str:
    """Return a question, its answer, notes on it, and a line per cited scene."""
    from subtitle_rag.answers.wording import answer_remarks
    from subtitle_rag.tui.shared import answer_lines

    parts = [clean(turn.question), answer_lines.answer_text(turn)]
    if turn.answer:
        parts.append("\n".join([*answer_lines.fault_lines(turn.answer), *map(clean, answer_remarks(turn.answer))]))
    cited = {citation.number for citation in turn.citations}
    sources = [each for each in turn.sources if each.number in cited]
    parts.append("\n".join(f"[{each.number}] {source(each.video, turn.best_ms(each))}" for each in sources))
    return "\n\n".join(filter(None, parts))
