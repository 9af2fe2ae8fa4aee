"""`contexts`: what a local model writes of each window."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing, contexts_progress, json_option, jsonl_option
from subtitle_rag.config import Settings
from subtitle_rag.contexts import model_choice
from subtitle_rag.domain import clock
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.query import tidy
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import ContextCounts

channel_option = click.option(
    "--channel", multiple=True, shell_complete=completing.channels, help=N_("Only channels whose name holds this.")
)
video_option = click.option(
    "--video",
    multiple=True,
    shell_complete=completing.videos,
    help=N_("Only this video: its id, or a part of its title."),
)
model_option = click.option(
    "--model", shell_complete=completing.context_models, help=N_("Another model of Ollama than the config names.")
)
limit_option = click.option("--limit", type=click.IntRange(min=1), help=N_("Only so many windows."))


@click.group("contexts", help=N_("Have a local model write what each window is about, so that more scenes are found."))
def contexts_() -> None:
    """The verbs of contexts."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What `write` and `redo` are asked for."""

    channel: Sequence[str]
    video: Sequence[str]
    limit: int | None
    jsonl: bool
    as_json: bool
    model: str | None = None

    def __post_init__(self) -> None:
        if self.as_json and self.jsonl:
            raise click.UsageError(_("--json and --jsonl exclude each other."))


Command = Callable[..., int]


def writing_options(*more: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """The options of `write` and `redo`, and `more`, as one argument `asked`."""

    options: list[Callable[[Command], Command]]
    options = [json_option, jsonl_option, limit_option, *more, video_option, channel_option]

    def with_options(command: Command) -> Command:
        @functools.wraps(command)
        def run(settings: Settings, **options: Any) -> int:
            return command(settings, Asked(**options))

        asked: Command = run
        for option in options:
            asked = option(asked)
        return asked

    return with_options


@contexts_.command("write", help=N_("Write the contexts that are missing, the newest videos first."))
@click.pass_obj
@writing_options(model_option)
def contexts_write(settings: Settings, asked: Asked) -> int:
    with Runtime(settings) as runtime:
        return _written("contexts write", runtime, asked)


@contexts_.command("redo", help=N_("Write contexts anew; the old ones count until they are replaced."))
@click.pass_obj
@writing_options(model_option)
def contexts_redo(settings: Settings, asked: Asked) -> int:
    with Runtime(settings) as runtime:
        return _written("contexts redo", runtime, asked, anew=True)


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
        models = _models(runtime)
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
        told = {"model": runtime.context_model, "channel_models": models}
        values = {**_count_values(counts), **told, **({"suspects": listed} if suspect else {})}
        output.envelope("contexts status", output.Outcome(values))
        return 0
    for line in (*_status_lines(counts), *_model_lines(runtime.context_model, models)):
        output.data(line)
    for entry, (id, one) in zip(listed, found.items(), strict=True):
        output.data(f"{clock(windows[id].start_ms):>8}  {entry['title']}")
        output.data(f"          {one.text}")
        output.data(f"          ! {', '.join(what for _kind, what in one.doubts)}")
    return 0


@contexts_.command("glossary", help=N_("Show or set a channel's proper nouns, which the model is told."))
@click.argument("channel", shell_complete=completing.channels)
@click.option("--propose", is_flag=True, help=N_("Propose some from the channel's own captions; check them."))
@click.option("--edit", is_flag=True, help=N_("Open the list in your editor."))
@click.option("--set", "file", type=click.File(encoding="utf-8-sig"), help=N_("Read the list from a file, one a line."))
@json_option
@click.pass_obj
def contexts_glossary(settings: Settings, channel: str, propose: bool, edit: bool, file: Any, as_json: bool) -> int:
    from subtitle_rag.contexts import glossary

    with Runtime(settings) as runtime:
        id = channels_of(runtime, [channel])[0]
        names = runtime.library.contexts.glossary(id)
        shown = tuple(glossary.proposed(runtime.library, id, dictionary=runtime.analyzer)) if propose else names
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


@contexts_.command("model", help=N_("Show or choose the model that writes a channel's contexts."))
@click.argument("channel", shell_complete=completing.channels)
@click.option(
    "--set",
    "name",
    metavar="MODEL",
    shell_complete=completing.context_models,
    help=N_("Have this model of Ollama write them from now on."),
)
@click.option("--default", "usual", is_flag=True, help=N_("Have the model write them that writes those of the others."))
@json_option
@click.pass_obj
def contexts_model(settings: Settings, channel: str, name: str | None, usual: bool, as_json: bool) -> int:
    if name is not None and (usual or not tidy(name)):
        raise click.UsageError(_("--set needs the name of a model, and excludes --default."))
    with Runtime(settings) as runtime:
        contexts = runtime.library.contexts
        id = channels_of(runtime, [channel])[0]
        if name is not None or usual:
            contexts.put_model(id, tidy(name or ""))
        own = contexts.models().get(id, "")
        model = own or runtime.context_model
        others = model_choice.count_by_others(contexts.by_model().get(id, {}), model)
    if as_json:
        values = {"channel": id, "model": model, "own": bool(own), "written_by_others": others}
        output.envelope("contexts model", output.Outcome(values))
        return 0
    output.data(model)
    if others:
        output.say(model_choice.kept_contexts(others, channel))
    return 0


def channels_of(runtime: Runtime, names: Sequence[str]) -> list[str]:
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


def videos_of(runtime: Runtime, names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        ids = runtime.library.find_videos(tidy(name))
        if not ids:
            raise UsageError("unknown_video", video=tidy(name))
        found += ids
    return found


def _written(command: str, runtime: Runtime, asked: Asked, *, anew: bool = False) -> int:
    """Write, narrate, and print the sum."""
    from subtitle_rag.library.context_store import WindowSelection

    channels, videos = channels_of(runtime, asked.channel), videos_of(runtime, asked.video)
    chosen = WindowSelection(tuple(channels), tuple(videos), asked.limit, anew)
    report = contexts_progress.write(runtime, chosen, asked.model, jsonl=asked.jsonl)
    errors = [output.error_entry(report.blocked)] if report.blocked else []
    code = output.exit_code_for(report.blocked) if report.blocked else output.ExitCode.DONE
    if asked.as_json:
        values = {**output.context_values(report), "library": _count_values(runtime.library.contexts.counts())}
        output.envelope(command, output.Outcome(values, errors, code))
    elif not asked.jsonl:
        for line in contexts_progress.report_lines(report):
            output.data(line)
    return code


def _status_lines(counts: "ContextCounts") -> Iterator[str]:
    rows = [
        (_("Windows"), f"{counts.windows:,}"),
        (_("With a context"), f"{counts.written:,}"),
        (_("Without, for good"), f"{counts.empty:,}"),
        (_("Suspect"), f"{counts.suspect:,}"),
        *([(_("Of long videos, from a part"), f"{counts.in_part:,}")] if counts.in_part else []),
    ]
    yield from output.table(rows, right=frozenset({1}))
    if counts.tokens:
        yield contexts_progress.cost(counts.prompt_tokens, counts.tokens, counts.ms)
    elif counts.windows:
        yield _("Contexts are optional: with them, scenes are found that name nothing. subtitle-rag contexts write")


def _models(runtime: Runtime) -> list[dict[str, Any]]:
    """The channels that have a model of their own."""
    contexts = runtime.library.contexts
    own, written = contexts.models(), contexts.by_model()
    return [
        {
            "channel": id,
            "name": name,
            "model": own[id],
            "written_by_others": model_choice.count_by_others(written.get(id, {}), own[id]),
        }
        for id, name in runtime.library.channels()
        if own.get(id)
    ]


def _model_lines(usual: str, models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not models:
        return
    yield _("Model: {model}").format(model=usual)
    for one in models:
        yield _("Model of {channel}: {model}").format(channel=one["name"], model=one["model"])
        if one["written_by_others"]:
            yield f"  {model_choice.kept_contexts(one['written_by_others'], one['name'])}"


def _count_values(counts: "ContextCounts") -> dict[str, Any]:
    return {
        "windows": counts.windows,
        "written": counts.written,
        "due": counts.due,
        "empty": counts.empty,
        "suspect": counts.suspect,
        "from_a_part": counts.in_part,
        "prompt_tokens": counts.prompt_tokens,
        "tokens": counts.tokens,
        "seconds": counts.ms / 1000,
    }
