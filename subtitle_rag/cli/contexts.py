"""`contexts`: the sentences that a local model writes about each window."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import UsageError, os_error_as_unwritable
from subtitle_rag.base.domain.values import clock, pick_json
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli import stage_runs
from subtitle_rag.cli.options import (
    channel_option,
    complete_channels,
    file_to_write,
    force_option,
    model_option,
    runtime_outcome,
    video_option,
    wants_json,
)
from subtitle_rag.cli.stage_runs import StageOptions, stage_options

if TYPE_CHECKING:
    from subtitle_rag.contexts import context_file
    from subtitle_rag.library.context_store import ContextCounts
    from subtitle_rag.library.summary_store import SummaryCounts
    from subtitle_rag.runtime import Runtime

NAMES = 3
"""Maximum number of videos named in a note."""


contexts_ = click.Group("contexts")


@contexts_.command("write", help=N_("Write the contexts that are missing, the newest videos first."))
@stage_options(N_("Write all contexts again; the old ones are used until they are replaced."), model_option)
@runtime_outcome
def contexts_write(runtime: "Runtime", options: StageOptions) -> output.Outcome:
    selection = stage_runs.select_windows(runtime, options)
    report = stage_runs.write_contexts(runtime, selection, options.model, jsonl=options.jsonl)
    counts = _count_values(runtime.library.contexts.counts(), runtime.library.summaries.counts())
    return stage_runs.report_outcome(report, counts, options)


@contexts_.command("list", help=N_("Count the contexts, and list doubtful ones and windows without a usable answer."))
@runtime_outcome
def contexts_list(runtime: "Runtime") -> output.Outcome:
    from subtitle_rag.contexts.cleaning import clean_context
    from subtitle_rag.contexts.context_text import doubt_reason, left_out_reason, model_cost

    counts, summaries = runtime.library.contexts.counts(), runtime.library.summaries.counts()
    stored = runtime.library.contexts
    contexts = {**stored.suspects(), **stored.unusable()}
    windows = runtime.library.windows(list(contexts))
    titles = {context.video_id: runtime.library.video(context.video_id) for context in contexts.values()}
    suspects = [
        {
            "scene": id,
            "video": context.video_id,
            "title": video.title if (video := titles[context.video_id]) else "",
            "start": windows[id].start_ms / 1000,
            "context": context.text or clean_context(context.raw),
            "left_out": context.is_left_out,
            "reason": doubt_reason(context) if context.text else left_out_reason(context),
            "doubts": [{"kind": kind, "text": text} for kind, text in context.doubts],
        }
        for id, context in contexts.items()
    ]
    values = {**_count_values(counts, summaries), "model": runtime.context_model}
    values["prompt"] = runtime.settings.prompts.contexts
    costs = stored.model_costs()
    values["model_costs"] = [
        pick_json(cost, "model", "windows", "videos", "seconds_a_window", "tokens_a_video", "saved_share")
        for cost in costs
    ]
    lines = [*_status_lines(counts, summaries), *map(model_cost, costs)]
    if values["prompt"]:
        lines.append(_("Prompt: {file}").format(file=values["prompt"]))
    for entry, (id, context) in zip(suspects, contexts.items(), strict=True):
        lines.append(f"{clock(windows[id].start_ms):>8}  {entry['title']}  ({id})")
        lines += [f"          {entry['context']}"] if entry["context"] else []
        sentence = "{reason}" if context.text else _("Left out: {reason}.")
        lines.append(f"          ! {sentence.format(reason=entry['reason'])}")
    return output.Outcome({**values, "suspects": suspects}, lines)


@contexts_.command("glossary", help=N_("Show or set a channel's proper nouns, which are given to the model."))
@click.argument("channel", shell_complete=complete_channels)
@click.option("--propose", is_flag=True, help=N_("Propose some from the channel's own captions; check them."))
@click.option("--edit", is_flag=True, help=N_("Open the list in your editor."))
@click.option("--set", "file", type=click.File(encoding="utf-8-sig"), help=N_("Read the list from a file, one a line."))
@runtime_outcome
def contexts_glossary(runtime: "Runtime", channel: str, propose: bool, edit: bool, file: Any) -> output.Outcome:
    from subtitle_rag.contexts.glossary import format_list, likely_channel_names, put_names
    from subtitle_rag.library.resolve import named_channel

    id = named_channel(runtime.library, channel)
    stored = runtime.library.contexts.glossary(id)
    names = tuple(likely_channel_names(runtime.library, id, dictionary=runtime.analyzer)) if propose else stored
    if file is not None or edit:
        text = file.read() if file is not None else click.edit(format_list(names))
        names = put_names(runtime.library, id, text) if text is not None else stored
    return output.Outcome({"channel": id, "names": list(names)}, names)


@contexts_.command("export", help=N_("Write the contexts as lines of JSON, which eval run --contexts and import read."))
@click.argument("file", metavar="FILE|-")
@channel_option
@video_option
@force_option
@runtime_outcome
def contexts_export(
    runtime: "Runtime", file: str, channel: Sequence[str], video: Sequence[str], force: bool
) -> output.Outcome:
    from subtitle_rag.library.resolve import channel_ids, video_ids

    if file == "-" and wants_json():
        raise click.UsageError(_("--json needs a file: without one the contexts themselves go to standard output."))
    path = file_to_write(file, "contexts.jsonl", force=force) if file != "-" else None
    runtime.require_library()
    channels, videos = channel_ids(runtime.library, channel), video_ids(runtime.library, video)
    from subtitle_rag.contexts import context_file

    entries = list(context_file.exported(runtime.library, channels, videos))
    if not entries:
        raise UsageError("no_contexts")
    text = context_file.to_json_lines(entries)
    if path is None:
        return output.Outcome(None, [text.removesuffix("\n")])
    with os_error_as_unwritable(path):
        path.write_text(text, encoding="utf-8", newline="\n")
    count = len({entry["video"] for entry in entries})
    line = n_("{n} context: {path}", "{n} contexts: {path}", len(entries), n=f"{len(entries):,}", path=path)
    return output.Outcome({"file": str(path), "contexts": len(entries), "videos": count}, [line])


@contexts_.command("import", help=N_("Import contexts from a file, matched by time."))
@click.argument("file", metavar="FILE|-")
@click.option("--replace", is_flag=True, help=N_("Replace the contexts that these windows have."))
@click.option("--keep", is_flag=True, help=N_("Import only for windows without a context."))
@runtime_outcome
def contexts_import(runtime: "Runtime", file: str, replace: bool, keep: bool) -> output.Outcome:
    if replace and keep:
        raise click.UsageError(_("--replace and --keep cannot be used together."))
    path = Path(file).expanduser()
    runtime.require_library()
    from subtitle_rag.contexts import context_file

    plan = context_file.plan_import(runtime.library, path)
    contexts = [*plan.new, *([] if keep else plan.replacing)]
    if plan.replacing and not (replace or keep):
        _confirm_replacement(plan, file)
    if contexts:
        context_file.import_contexts(runtime.library, runtime.indexer, contexts)
    values: dict[str, Any] = {
        "file": file,
        "new": len(plan.new),
        "replaced": 0 if keep else len(plan.replacing),
        "kept": len(plan.replacing) if keep else 0,
        **pick_json(plan, "same", "without_window", "missing_videos"),
    }
    rows = [(_("Added"), "new"), (_("Replaced"), "replaced"), (_("Kept"), "kept"), (_("Already the same"), "same")]
    lines = output.counts_table((title, values[name]) for title, name in rows)
    return output.Outcome(values, lines, _import_notes(values))


def _confirm_replacement(plan: "context_file.ContextImport", file: str) -> None:
    """Ask whether to replace contexts. Raises UsageError `contexts_kept` without a terminal or the user's consent."""
    count = len(plan.replacing)
    models = ", ".join(f"{model} ({number:,})" for model, number in plan.replaced_models.most_common())
    if not wants_json() and sys.stdin.isatty():
        question = n_(
            "Replace the context of {n} window, by {models}?",
            "Replace the contexts of {n} windows, by {models}?",
            count,
            n=f"{count:,}",
            models=models,
        )
        if output.confirm(question):
            return
    raise UsageError("contexts_kept", path="stdin" if file == "-" else file, n=count, models=models)


def _import_notes(values: Mapping[str, Any]) -> Iterator[str]:
    if values["without_window"]:
        yield n_(
            "{n} context is left out: its video has no captions at that time.",
            "{n} contexts are left out: their videos have no captions at these times.",
            values["without_window"],
        )
    if names := values["missing_videos"]:
        yield n_(
            "{n} video is not in the library, and its contexts are left out: {names}",
            "{n} videos are not in the library, and their contexts are left out: {names}",
            len(names),
            names=", ".join(names[:NAMES]) + (" …" if len(names) > NAMES else ""),
        )


def _status_lines(counts: "ContextCounts", summaries: "SummaryCounts") -> Iterator[str]:
    rows = [
        (_("Windows"), counts.windows),
        (_("With a context"), counts.written),
        (_("No usable context"), counts.empty),
        (_("Left out"), counts.left_out),
        (_("Suspect"), counts.suspect),
        *([(_("Of long videos, from a part"), counts.in_part)] if counts.in_part else []),
        (_("Videos with a summary"), summaries.written),
        *([(_("No usable summary"), summaries.empty)] if summaries.empty else []),
    ]
    yield from output.counts_table(rows)
    if counts.tokens:
        yield stage_runs.cost(counts.prompt_tokens, counts.tokens, counts.ms)
    elif counts.windows:
        yield _("Optional: contexts also find scenes that do not name their subject. subtitle-rag contexts write")


def _count_values(counts: "ContextCounts", summaries: "SummaryCounts") -> dict[str, Any]:
    return {
        **pick_json(counts, "windows", "written", "due", "empty", "left_out", "suspect", "prompt_tokens", "tokens"),
        **pick_json(counts, from_a_part="in_part", seconds="ms"),
        "summaries": pick_json(summaries, "written", "due", "empty"),
    }
