"""`contexts`: the sentences that a local model writes about each window."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing, stage_runs
from subtitle_rag.commands.options import json_option, model_option
from subtitle_rag.commands.stage_runs import StageOptions, channel_ids, stage_options
from subtitle_rag.config import Settings
from subtitle_rag.contexts import model_choice
from subtitle_rag.domain import clock, tidy
from subtitle_rag.i18n import N_, _
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.library.context_store import ContextCounts


@click.group("contexts", help=N_("Have a local model describe each window, so that more scenes are found."))
def contexts_() -> None:
    """The verbs of contexts."""


@contexts_.command("write", help=N_("Write the contexts that are missing, the newest videos first."))
@click.pass_obj
@stage_options(model_option)
def contexts_write(settings: Settings, options: StageOptions) -> int:
    return _write("contexts write", settings, options)


@contexts_.command("redo", help=N_("Write contexts anew; the old ones count until they are replaced."))
@click.pass_obj
@stage_options(model_option)
def contexts_redo(settings: Settings, options: StageOptions) -> int:
    return _write("contexts redo", settings, options, anew=True)


def _write(command: str, settings: Settings, options: StageOptions, *, anew: bool = False) -> int:
    with Runtime(settings) as runtime:
        selection = stage_runs.select_windows(runtime, options, anew=anew)
        report = stage_runs.write_contexts(runtime, selection, options.model, jsonl=options.jsonl)
        counts = _count_values(runtime.library.contexts.counts())
    return stage_runs.print_report(command, report, counts, options)


@contexts_.command(
    "status", help=N_("Show how many windows have a context, and how many tokens and how much time that took.")
)
@click.option("--suspect", is_flag=True, help=N_("List contexts that mention things which are not in their video."))
@json_option
@click.pass_obj
def contexts_status(settings: Settings, suspect: bool, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        counts = runtime.library.contexts.counts()
        contexts = runtime.library.contexts.suspects() if suspect else {}
        windows = runtime.library.windows(list(contexts))
        titles = {context.video_id: runtime.library.video(context.video_id) for context in contexts.values()}
        models = _channel_models(runtime)
    suspects = [
        {
            "scene": id,
            "video": context.video_id,
            "title": video.title if (video := titles[context.video_id]) else "",
            "start": windows[id].start_ms / 1000,
            "context": context.text,
            "doubts": [{"kind": kind, "text": text} for kind, text in context.doubts],
        }
        for id, context in contexts.items()
    ]
    values = {**_count_values(counts), "model": runtime.context_model, "channel_models": models}
    lines = [*_status_lines(counts), *_model_lines(runtime.context_model, models)]
    for entry, (id, context) in zip(suspects, contexts.items(), strict=True):
        lines.append(f"{clock(windows[id].start_ms):>8}  {entry['title']}")
        lines.append(f"          {context.text}")
        lines.append(f"          ! {', '.join(text for _kind, text in context.doubts)}")
    outcome = output.Outcome({**values, "suspects": suspects} if suspect else values)
    return output.finish("contexts status", outcome, lines, as_json=as_json)


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
        id = channel_ids(runtime, [channel])[0]
        stored = runtime.library.contexts.glossary(id)
        names = tuple(glossary.proposed(runtime.library, id, dictionary=runtime.analyzer)) if propose else stored
        if file is not None or edit:
            text = file.read() if file is not None else click.edit(glossary.format_list(names))
            names = glossary.parse_list(text) if text is not None else stored
            runtime.library.contexts.put_glossary(id, names)
    outcome = output.Outcome({"channel": id, "names": list(names)})
    return output.finish("contexts glossary", outcome, names, as_json=as_json)


@contexts_.command("model", help=N_("Show or choose the model that writes a channel's contexts."))
@click.argument("channel", shell_complete=completing.channels)
@click.option(
    "--set",
    "name",
    metavar="MODEL",
    shell_complete=completing.context_models,
    help=N_("Use this Ollama model from now on."),
)
@click.option("--default", "usual", is_flag=True, help=N_("Use the default model again, as for other channels."))
@json_option
@click.pass_obj
def contexts_model(settings: Settings, channel: str, name: str | None, usual: bool, as_json: bool) -> int:
    if name is not None and (usual or not tidy(name)):
        raise click.UsageError(_("--set needs the name of a model, and cannot be used with --default."))
    with Runtime(settings) as runtime:
        contexts = runtime.library.contexts
        id = channel_ids(runtime, [channel])[0]
        if name is not None or usual:
            contexts.put_model(id, tidy(name or ""))
        channel_model = contexts.models().get(id, "")
        model = channel_model or runtime.context_model
        others_count = model_choice.count_by_others(contexts.by_model().get(id, {}), model)
    values = {"channel": id, "model": model, "own": bool(channel_model), "written_by_others": others_count}
    notes = [model_choice.kept_contexts(others_count, channel)] if others_count else []
    return output.finish("contexts model", output.Outcome(values), [model], as_json=as_json, notes=notes)


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
        yield stage_runs.cost(counts.prompt_tokens, counts.tokens, counts.ms)
    elif counts.windows:
        yield _("Optional: contexts also find scenes that do not name their subject. subtitle-rag contexts write")


def _channel_models(runtime: Runtime) -> list[dict[str, Any]]:
    """Return the channels with a model of their own, as `--json` has them."""
    contexts = runtime.library.contexts
    models, counts = contexts.models(), contexts.by_model()
    return [
        {
            "channel": id,
            "name": name,
            "model": model,
            "written_by_others": model_choice.count_by_others(counts.get(id, {}), model),
        }
        for id, name in runtime.library.channels()
        if (model := models.get(id))
    ]


def _model_lines(usual: str, models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not models:
        return
    yield _("Model: {model}").format(model=usual)
    for entry in models:
        yield _("Model of {channel}: {model}").format(channel=entry["name"], model=entry["model"])
        if entry["written_by_others"]:
            yield f"  {model_choice.kept_contexts(entry['written_by_others'], entry['name'])}"


def _count_values(counts: "ContextCounts") -> dict[str, Any]:
    return {
        **output.fields(counts, "windows written due empty suspect"),
        "from_a_part": counts.in_part,
        **output.fields(counts, "prompt_tokens tokens"),
        "seconds": counts.ms / 1000,
    }
