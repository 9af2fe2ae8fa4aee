"""`pack` and `unpack`: channels and videos of a library as one file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output, packing
from subtitle_rag.commands.options import (
    complete_channels,
    complete_files,
    file_to_write,
    force_option,
    print_outcome,
    runtime_outcome,
    video_option,
    wants_json,
)
from subtitle_rag.domain import AppError, byte_size
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.library import channel_ids, video_ids
from subtitle_rag.models import ENCODER
from subtitle_rag.retrieval import named_vectors
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.config import Settings

SHOWN = 10
"""Conflicts and failures that are printed; all are in `--json`."""


@click.command("pack")
@click.argument("channels", nargs=-1, metavar="[CHANNEL]...", shell_complete=complete_channels)
@video_option
@click.option("--vectors/--no-vectors", default=False, help=N_("With the vectors of search by meaning, or without."))
@click.option("--marks/--no-marks", default=True, help=N_("With your marks and their notes (default), or without."))
@click.option("-o", "--output", "file", metavar="FILE", required=True, help=N_("The file to write."))
@force_option
@runtime_outcome
def pack_(
    runtime: Runtime,
    channels: Sequence[str],
    video: Sequence[str],
    vectors: bool,
    marks: bool,
    file: str,
    force: bool,
) -> output.Outcome:
    path = file_to_write(file, force=force)
    runtime.require_library()
    videos, ids = video_ids(runtime.library, video), channel_ids(runtime.library, channels)
    selection = packing.PackSelection(tuple(ids), tuple(videos), marks, vectors)
    index = runtime.index if vectors and runtime.library.vectors.encoders() else None

    def update(event: "packing.PackProgress") -> Mapping[str, Any]:
        return {"completed": event.records, "total": event.total}

    events = packing.Packer(runtime.library, index).run(path, selection)
    packed = output.track_to_report(packing.Packed, events, _("Packing"), update)
    notes = []
    if n := packed.noted_marks:
        notes.append(
            n_(
                "{n} mark with your note is in the pack; --no-marks leaves marks out.",
                "{n} marks with your notes are in the pack; --no-marks leaves marks out.",
                n,
            )
        )
    values = {"file": str(path), **asdict(packed)}
    return output.Outcome(values, _packed_lines(path, packed), notes)


def _packed_lines(path: Path, packed: "packing.Packed") -> Iterator[str]:
    yield f"{path}  ({byte_size(packed.bytes)})"
    counts = [
        n_("{n} video", "{n} videos", packed.videos),
        n_("{n} window", "{n} windows", packed.windows),
        n_("{n} context", "{n} contexts", packed.contexts),
        n_("{n} vector", "{n} vectors", packed.vectors),
        n_("{n} mark", "{n} marks", packed.marks),
    ]
    yield ", ".join(counts)


@click.command("unpack")
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@click.option("--follow", is_flag=True, help=N_("Follow the channels and playlists that the pack names."))
@click.pass_obj
@print_outcome
def unpack_(settings: "Settings", file: str, follow: bool) -> output.Outcome:
    def update(event: "packing.UnpackProgress") -> Mapping[str, Any]:
        return {"completed": event.done, "total": event.total or None, "description": labels[event.step]}

    labels = {"check": _("Checking"), "videos": _("Captions"), "windows": _("Windows"), "vectors": _("Vectors")}
    with closing(packing.PackReader(Path(file).expanduser())) as reader:
        total = sum(each.records for each in reader.manifest.members.values())
        checks = (packing.UnpackProgress("check", count, total) for count in reader.check())
        for _progress in output.track(checks, labels["check"], update, total):
            pass
        with Runtime(settings) as runtime:
            takes = _vectors_to_take(runtime, reader.manifest)
            unpacker = packing.Unpacker(runtime.library, runtime.index, runtime.indexer, takes)
            events = unpacker.run(reader, follow=follow)
            last = output.track_to_report(packing.UnpackReport, events, labels["videos"], update)
            size = runtime.library.counts()
    errors = [output.failure_entry(failure) for failure in last.failures]
    for error in errors if wants_json() else errors[:SHOWN]:
        output.say_error(error)
    failed = last.failures and not (last.new or last.known)
    return output.Outcome(
        {**_report_values(last), "library": {"videos": size.videos, "windows": size.windows}},
        _report_lines(last),
        _report_notes(last),
        errors,
        output.ExitCode.FAILED if failed else output.ExitCode.DONE,
        errors_shown=True,
    )


def _vectors_to_take(runtime: Runtime, manifest: "packing.Manifest") -> Callable[[str], bool]:
    """Return which encoders' vectors this library takes: its own, or the pack's searched one if it has none."""
    encoders = set()
    if manifest.encoder:
        try:
            encoder = runtime.neural.encoder()
        except AppError as error:  # a model that is damaged, or an Ollama that does not answer
            output.say_error(error)
            encoder = None
        is_off = not runtime.models.configured(ENCODER)
        encoders = {id for id in (encoder.id if encoder else None, runtime.library.vectors.active()) if id}
        encoders |= {manifest.encoder} if not encoders and not is_off else set()
        if runtime.settings.models.pieces != "off":
            encoders |= {named_vectors.piece_id(id) for id in encoders}
    return encoders.__contains__


def _report_values(report: "packing.UnpackReport") -> dict[str, Any]:
    return {
        "videos": {"new": report.new, "known": report.known, "failed": len(report.failures)},
        "windows_indexed": report.windows,
        "contexts": {"taken": report.contexts, "own_kept": report.contexts_kept, "left_out": report.contexts_left_out},
        "vectors": {"taken": report.vectors, "left_out": report.vectors_left_out},
        "marks": report.marks,
        "sources": {"followed": report.followed, "not_followed": report.not_followed},
        "conflicts": [asdict(conflict) for conflict in report.conflicts],
    }


def _report_lines(report: "packing.UnpackReport") -> Iterator[str]:
    counts = [
        n_("{n} new video", "{n} new videos", report.new),
        n_("{n} known", "{n} known", report.known),
    ]
    if report.failures:
        counts.append(n_("{n} failed", "{n} failed", len(report.failures)))
    yield ", ".join(counts)
    yield n_("{n} window became searchable.", "{n} windows became searchable.", report.windows)
    counts_taken = [
        n_("{n} context", "{n} contexts", report.contexts),
        n_("{n} vector", "{n} vectors", report.vectors),
        n_("{n} mark", "{n} marks", report.marks),
    ]
    yield _("Taken over: {list}.").format(list=", ".join(counts_taken))


def _report_notes(report: "packing.UnpackReport") -> Iterator[str]:
    sentences = {
        "captions": _("{name}: the pack has other captions; yours stay."),
        "mark": _("{name}: a mark has another note or tag in the pack; yours stays."),
        "glossary": _("{name}: the channel has other proper nouns in the pack; yours stay."),
    }
    for conflict in report.conflicts[:SHOWN]:
        yield sentences[conflict.kind].format(name=conflict.name)
    if (rest := len(report.conflicts) - SHOWN) > 0:
        yield n_("{n} more conflict is in --json.", "{n} more conflicts are in --json.", rest)
    if n := report.contexts_kept:
        yield n_("{n} window keeps its own context.", "{n} windows keep their own contexts.", n)
    if n := report.contexts_left_out:
        yield n_(
            "{n} context is of other captions or other windows: subtitle-rag contexts write writes it again.",
            "{n} contexts are of other captions or other windows: subtitle-rag contexts write writes them again.",
            n,
        )
    if n := report.vectors_left_out:
        yield n_(
            "{n} vector is of another model or text: subtitle-rag vectors write makes it again.",
            "{n} vectors are of another model or text: subtitle-rag vectors write makes them again.",
            n,
        )
    if n := len(report.not_followed):
        yield n_(
            "{n} source of the pack is not followed: unpack it again with --follow to follow it.",
            "{n} sources of the pack are not followed: unpack it again with --follow to follow them.",
            n,
        )
