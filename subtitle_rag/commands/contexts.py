"""`contexts` and `models`: what local models write, and which models there are."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option, jsonl_option
from subtitle_rag.config import Settings
from subtitle_rag.domain import clock
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import ContextEvent, ContextFailed, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library.contexts import ContextCounts
from subtitle_rag.retrieval.query import tidy
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.llm import ModelInfo
    from subtitle_rag.models import Offered

channel_option = click.option("--channel", multiple=True, help=N_("Only channels whose name holds this."))
video_option = click.option("--video", multiple=True, help=N_("Only this video: its id, or a part of its title."))
model_option = click.option("--model", help=N_("Another model of Ollama than the config names."))
limit_option = click.option("--limit", type=click.IntRange(min=1), help=N_("Only so many windows."))


@click.group("contexts", help=N_("Have a local model write what each window is about, so that more scenes are found."))
def contexts_() -> None:
    """The verbs of contexts."""


@contexts_.command("write", help=N_("Write the contexts that are missing, the newest videos first."))
@channel_option
@video_option
@model_option
@limit_option
@jsonl_option
@json_option
@click.pass_obj
def contexts_write(
    settings: Settings,
    channel: Sequence[str],
    video: Sequence[str],
    model: str | None,
    limit: int | None,
    jsonl: bool,
    as_json: bool,
) -> int:
    with Runtime(settings) as runtime:
        return _written("contexts write", runtime, channel, video, model, limit, jsonl=jsonl, as_json=as_json)


@contexts_.command("redo", help=N_("Write contexts anew; the old ones count until they are replaced."))
@channel_option
@video_option
@model_option
@limit_option
@jsonl_option
@json_option
@click.pass_obj
def contexts_redo(
    settings: Settings,
    channel: Sequence[str],
    video: Sequence[str],
    model: str | None,
    limit: int | None,
    jsonl: bool,
    as_json: bool,
) -> int:
    with Runtime(settings) as runtime:
        runtime.library.contexts.redo(channels=_channels(runtime, channel), videos=_videos(runtime, video))
        return _written("contexts redo", runtime, channel, video, model, limit, jsonl=jsonl, as_json=as_json)


@contexts_.command("status", help=N_("Show how many windows have a context, and what they have cost."))
@click.option("--suspect", is_flag=True, help=N_("List those that name what stands nowhere in their video."))
@json_option
@click.pass_obj
def contexts_status(settings: Settings, suspect: bool, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        counts = runtime.library.contexts.counts()
        found = runtime.library.contexts.suspects() if suspect else {}
        windows = runtime.library.windows(list(found))
        titles = {one.video_id: runtime.library.video(one.video_id) for one in found.values()}
    listed = [
        {
            "scene": id,
            "video": one.video_id,
            "title": video.title if (video := titles[one.video_id]) else "",
            "start": windows[id].start_ms / 1000,
            "context": one.text,
            "doubts": [{"kind": kind, "text": what} for kind, what in one.doubts],
        }
        for id, one in found.items()
    ]
    if as_json:
        values = {**_count_values(counts), **({"suspects": listed} if suspect else {})}
        output.envelope("contexts status", output.Outcome(values))
        return 0
    for line in _status_lines(counts):
        output.data(line)
    for entry, (id, one) in zip(listed, found.items(), strict=True):
        output.data(f"{clock(windows[id].start_ms):>8}  {entry['title']}")
        output.data(f"          {one.text}")
        output.data(f"          ! {', '.join(what for _kind, what in one.doubts)}")
    return 0


@contexts_.command("glossary", help=N_("Show or set a channel's proper nouns, which the model is told."))
@click.argument("channel")
@click.option("--propose", is_flag=True, help=N_("Propose some from the channel's own captions; check them."))
@click.option("--edit", is_flag=True, help=N_("Open the list in your editor."))
@click.option("--set", "file", type=click.File(encoding="utf-8"), help=N_("Read the list from a file, one a line."))
@json_option
@click.pass_obj
def contexts_glossary(settings: Settings, channel: str, propose: bool, edit: bool, file: Any, as_json: bool) -> int:
    from subtitle_rag.contexts import glossary

    with Runtime(settings) as runtime:
        id = _channels(runtime, [channel])[0]
        names = runtime.library.contexts.glossary(id)
        shown = tuple(_proposed(runtime, id)) if propose else names
        if file is not None or edit:
            text = file.read() if file is not None else click.edit(glossary.format_list(shown))
            shown = glossary.parse_list(text) if text is not None else names
            runtime.library.contexts.put_glossary(id, shown)
    if as_json:
        output.envelope("contexts glossary", output.Outcome({"channel": id, "names": list(shown)}))
    else:
        for name in shown:
            output.data(name)
    return 0


def _proposed(runtime: Runtime, channel_id: str) -> list[str]:
    from subtitle_rag.contexts import glossary

    videos = [state.video for state in runtime.library.videos() if state.video.channel_id == channel_id]
    windows = [window for video in videos for window in runtime.library.windows_of(video.id)]
    analyses = runtime.library.morphemes([window.id for window in windows])
    known = [window for window in windows if window.id in analyses]
    return glossary.propose(
        [video.title for video in videos],
        [analyses[window.id] for window in known],
        [window.text for window in known],
        dictionary=runtime.analyzer,
    )


@click.group("models", help=N_("The local models that write contexts, which Ollama serves."))
def models_() -> None:
    """The verbs of models."""


@models_.command("list", help=N_("Show the models that are offered, and which of them are here."))
@json_option
@click.pass_obj
def models_list(settings: Settings, as_json: bool) -> int:
    from subtitle_rag import models

    with Runtime(settings) as runtime:
        settings = replace(settings, llm=replace(settings.llm, model=runtime.context_model))
        here = _here(runtime)
    names = dict.fromkeys([*(one.name for one in models.offered()), *here])
    offered = {one.name: one for one in models.offered()}
    listed = [_model_values(name, offered.get(name), here.get(name), settings) for name in names]
    if as_json:
        output.envelope("models list", output.Outcome({"models": listed}))
        return 0
    for entry in listed:
        mark = "✓" if entry["here"] else " "
        size = f"{entry['disk_gb']:.1f} GB" if entry["disk_gb"] else ""
        default = _("(in use)") if entry["chosen"] else ""
        output.data(f"{mark} {entry['name']}  {size}  {entry['licence'] or ''}  {default}".rstrip())
        if entry["note"]:
            output.data(f"    {entry['note']}")
    return 0


def _here(runtime: Runtime) -> "dict[str, ModelInfo]":
    """The models that the hosts have; without a host, none."""
    found: dict[str, ModelInfo] = {}
    try:
        with runtime.llms() as hosts:
            for host in hosts:
                found |= {info.name: info for info in host.models() if not info.remote_host}
    except AppError as error:
        output.say_error(error)
    return found


def _model_values(name: str, offered: "Offered | None", info: "ModelInfo | None", settings: Settings) -> dict[str, Any]:
    return {
        "name": name,
        "here": info is not None,
        "chosen": name == settings.llm.model,
        "disk_gb": info.size / 1e9 if info else offered.disk_gb if offered else None,
        "memory_gb": offered.memory_gb if offered else None,
        "licence": offered.licence if offered else None,
        "suits": offered.suits if offered else None,
        "note": offered.note.get(settings.language, offered.note["en"]) if offered else None,
    }


@models_.command("get", help=N_("Fetch a model through Ollama; without a name, the one that suits this machine."))
@click.argument("name", required=False)
@json_option
@click.pass_obj
def models_get(settings: Settings, name: str | None, as_json: bool) -> int:
    with Runtime(settings) as runtime, runtime.llms() as hosts, output.progress() as bar:
        wanted = name or runtime.context_model
        for host in hosts:
            task = bar.add_task(wanted[:40], total=None)
            for step in host.pull(wanted):
                bar.update(task, completed=step.completed, total=step.total or None)
    if as_json:
        output.envelope("models get", output.Outcome({"name": wanted}))
    else:
        output.data(_("{model} is here.").format(model=wanted))
    return 0


def _channels(runtime: Runtime, names: Sequence[str]) -> list[str]:
    """Ids of the channels of these ids or names, or whose names hold them."""
    found: list[str] = []
    for name in names:
        wanted = tidy(name).casefold()
        known = runtime.library.channels()
        exact = [id for id, full in known if wanted in (id.casefold(), full.casefold())]
        ids = exact or [id for id, full in known if wanted in full.casefold()]
        if not ids:
            raise UsageError("unknown_channel", channel=tidy(name))
        found += ids
    return found


def _videos(runtime: Runtime, names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        ids = runtime.library.find_videos(tidy(name))
        if not ids:
            raise UsageError("unknown_video", video=tidy(name))
        found += ids
    return found


def _written(
    command: str,
    runtime: Runtime,
    channel: Sequence[str],
    video: Sequence[str],
    model: str | None,
    limit: int | None,
    *,
    jsonl: bool,
    as_json: bool,
) -> int:
    """Write, narrate, and print the sum."""
    from subtitle_rag.contexts.writer import Chosen

    if as_json and jsonl:
        raise click.UsageError(_("--json and --jsonl exclude each other."))
    chosen = Chosen(tuple(_channels(runtime, channel)), tuple(_videos(runtime, video)), limit)
    report = ContextReport()
    with runtime.writer(model) as writer:
        for event in _narrated(writer.run(chosen)):
            if jsonl:
                output.context_line(event)
            if isinstance(event, ContextReport):
                report = event
    errors = [output.error_entry(report.blocked)] if report.blocked else []
    code = output.ExitCode.DONE
    if report.blocked:
        code = output.exit_code_for(report.blocked)
    if as_json:
        values = {**output.context_values(report), "library": _count_values(runtime.library.contexts.counts())}
        output.envelope(command, output.Outcome(values, errors, code))
    elif not jsonl:
        for line in _report_lines(report):
            output.data(line)
    if report.blocked:
        output.say_error(report.blocked)
    return code


def _narrated(events: Iterator[ContextEvent]) -> Iterator[ContextEvent]:
    """The events, with a bar and the failures on stderr while they come."""
    with output.progress() as bar:
        task = bar.add_task(_("Contexts"), total=None)
        for event in events:
            match event:
                case ContextsDue(windows=windows):
                    bar.update(task, total=windows)
                case ContextWritten(title=title):
                    bar.update(task, advance=1, description=title[:30])
                case ContextFailed():
                    output.say(f"! {output.context_failure(event)['message']}")
            yield event


def _report_lines(report: ContextReport) -> Iterator[str]:
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
        yield _cost(report.prompt_tokens, report.tokens, report.ms)


def _cost(prompt_tokens: int, tokens: int, ms: int) -> str:
    return _("Cost: {read} tokens read, {written} written, {time} of the model's time.").format(
        read=f"{prompt_tokens:,}", written=f"{tokens:,}", time=clock(ms)
    )


def _status_lines(counts: ContextCounts) -> Iterator[str]:
    rows = [
        (_("Windows"), f"{counts.windows:,}"),
        (_("With a context"), f"{counts.written:,}"),
        (_("Without, for good"), f"{counts.empty:,}"),
        (_("Suspect"), f"{counts.suspect:,}"),
    ]
    yield from output.table(rows, right=frozenset({1}))
    if counts.tokens:
        yield _cost(counts.prompt_tokens, counts.tokens, counts.ms)
    elif counts.windows:
        yield _("Contexts are optional: with them, scenes are found that name nothing. subtitle-rag contexts write")


def _count_values(counts: ContextCounts) -> dict[str, Any]:
    return {
        "windows": counts.windows,
        "written": counts.written,
        "due": counts.windows - counts.written - counts.empty,
        "empty": counts.empty,
        "suspect": counts.suspect,
        "prompt_tokens": counts.prompt_tokens,
        "tokens": counts.tokens,
        "seconds": counts.ms / 1000,
    }
