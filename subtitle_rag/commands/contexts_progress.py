"""Writing contexts as the command line shows it: a bar, the failures, and the sum."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subtitle_rag import output
from subtitle_rag.domain import clock
from subtitle_rag.events import ContextEvent, ContextFailed, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.i18n import _, n_
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import WindowSelection

TITLE = 30
"""Characters of a video's title beside the bar."""


def write(
    runtime: Runtime, chosen: "WindowSelection", model: str | None = None, *, jsonl: bool = False, prelude: str = ""
) -> ContextReport:
    """Have contexts written, and narrate it on stderr; with `jsonl` the events go to stdout.

    `prelude` is said when it begins.

    Raises:
        LlmError: where no host can be used.
    """
    report = ContextReport()
    with runtime.writer(model) as writer:
        for event in _narrated(writer.run(chosen)):
            if prelude and isinstance(event, ContextsDue):
                output.say(prelude)
            if jsonl:
                output.context_line(event)
            if isinstance(event, ContextReport):
                report = event
    if report.blocked:
        output.say_error(report.blocked)
    return report


def _narrated(events: Iterator[ContextEvent]) -> Iterator[ContextEvent]:
    with output.progress() as bar:
        task = bar.add_task(_("Contexts"), total=None)
        tokens = 0
        for event in events:
            match event:
                case ContextsDue(windows=windows):
                    bar.update(task, total=windows)
                case ContextWritten():
                    tokens += event.prompt_tokens + event.tokens
                    told = _("{title}, {tokens} tokens").format(title=event.title[:TITLE], tokens=f"{tokens:,}")
                    bar.update(task, advance=1, description=told)
                case ContextFailed():
                    output.say(f"! {output.context_failure(event)['message']}")
            yield event


def report_lines(report: ContextReport) -> Iterator[str]:
    yield n_("{n} context written.", "{n} contexts written.", report.written).format(n=report.written)
    if report.empty:
        yield n_(
            "{n} window stays without: nothing of the answer could be used.",
            "{n} windows stay without: nothing of the answers could be used.",
            report.empty,
        ).format(n=report.empty)
    if report.suspect:
        yield n_(
            "{n} names what stands nowhere in its video: subtitle-rag contexts status --suspect",
            "{n} name what stands nowhere in their video: subtitle-rag contexts status --suspect",
            report.suspect,
        ).format(n=report.suspect)
    if report.written or report.empty:
        yield cost(report.prompt_tokens, report.tokens, report.ms)


def cost(prompt_tokens: int, tokens: int, ms: int) -> str:
    return _("Cost: {read} tokens read, {written} written, {time} of the model's time.").format(
        read=f"{prompt_tokens:,}", written=f"{tokens:,}", time=clock(ms)
    )
