"""`marks`: saved scenes, with notes and tags."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import clock, pick_json, tidy, watch_url
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.cli.options import complete_videos, removal_confirmed, runtime_outcome, yes_option

if TYPE_CHECKING:
    from subtitle_rag.library.mark_store import Mark, MarkStore
    from subtitle_rag.runtime import Runtime


marks_ = click.Group("marks")


@marks_.command("list", help=N_("List the marked scenes with their numbers."))
@click.option("--tag", metavar="NAME", help=N_("Only marks with this tag."))
@runtime_outcome
def marks_list(runtime: "Runtime", tag: str | None) -> output.Outcome:
    marks = runtime.library.marks.all(None if tag is None else tidy(tag))
    values = list(map(_values, marks))
    lines = itertools.chain.from_iterable(map(_lines, marks))
    none = _("No scene is marked. subtitle-rag marks add NUMBER marks one of the last search.")
    if tag is not None:
        none = _("No mark has the tag {tag}.").format(tag=tag)
    notes = [] if marks else [none]
    return output.Outcome({"marks": values}, lines, notes)


@marks_.command("add", help=N_("Mark scenes: by a number of the last search, an id, or a video and a time."))
@click.argument("targets", nargs=-1, required=True, metavar="SCENE...", shell_complete=complete_videos)
@click.option("--note", metavar="TEXT", default="", help=N_("A note, for these scenes."))
@click.option("--tag", metavar="NAME", default="", help=N_("A tag, for these scenes."))
@runtime_outcome
def marks_add(runtime: "Runtime", targets: Sequence[str], note: str, tag: str) -> output.Outcome:
    from subtitle_rag.cli import scene_arguments
    from subtitle_rag.sharing.scene_reader import read_scenes

    spans = [scene_arguments.scene_span(runtime, target) for target in targets]
    scenes = read_scenes(runtime.library, spans)
    marks = [
        runtime.library.marks.add(
            *(scene.video, scene.start_ms, scene.end_ms, scene.at_ms, scene.sentence), note=tidy(note), tag=tidy(tag)
        )
        for scene in scenes
    ]
    return output.Outcome({"marks": list(map(_values, marks))}, itertools.chain.from_iterable(map(_lines, marks)))


@marks_.command("note", help=N_("Show or replace the note of a mark."))
@click.argument("number", type=int)
@click.argument("text", nargs=-1)
@click.option("--remove", is_flag=True, help=N_("Delete the note."))
@runtime_outcome
def marks_note(runtime: "Runtime", number: int, text: Sequence[str], remove: bool) -> output.Outcome:
    _change(runtime.library.marks.put_note, number, " ".join(text), remove)
    return _mark_outcome(runtime, number)


@marks_.command("tag", help=N_("Show or replace the tag of a mark."))
@click.argument("number", type=int)
@click.argument("name", required=False, default="")
@click.option("--remove", is_flag=True, help=N_("Delete the tag."))
@runtime_outcome
def marks_tag(runtime: "Runtime", number: int, name: str, remove: bool) -> output.Outcome:
    _change(runtime.library.marks.put_tag, number, name, remove)
    return _mark_outcome(runtime, number)


def _change(put: Callable[[int, str], object], number: int, text: str, remove: bool) -> None:
    """Set the text; an empty one deletes only with `remove`."""
    text = tidy(text)
    if text and remove:
        raise click.UsageError(_("--remove takes no text."))
    if text or remove:
        put(number, text)


@marks_.command("remove", help=N_("Remove marks by their numbers; the scenes stay in the library."))
@click.argument("numbers", nargs=-1, required=True, type=int, metavar="NUMBER...")
@yes_option
@runtime_outcome
def marks_remove(runtime: "Runtime", numbers: Sequence[int], yes: bool) -> output.Outcome:
    from subtitle_rag.workflows.removing import mark_removal_sentence

    marks = runtime.library.marks
    named = [_mark(marks, number) for number in dict.fromkeys(numbers)]
    sentence = mark_removal_sentence(len(named), sum(bool(mark.note) for mark in named))
    if not removal_confirmed([line_text(mark.line) for mark in named], sentence, yes=yes):
        return output.Outcome({"removed": []}, notes=[_("Nothing was removed.")])
    removed = [mark.id for mark in named if marks.remove(mark.id)]
    line = n_("{n} mark removed.", "{n} marks removed.", len(removed))
    return output.Outcome({"removed": removed}, [line])


def _mark(marks: "MarkStore", number: int) -> "Mark":
    mark = next((mark for mark in marks.all() if mark.id == number), None)
    if mark is None:
        raise UsageError("unknown", kind=_("mark"), name=number, command="subtitle-rag marks list")
    return mark


def _mark_outcome(runtime: "Runtime", number: int) -> output.Outcome:
    mark = _mark(runtime.library.marks, number)
    return output.Outcome({"mark": _values(mark)}, _lines(mark))


def _values(mark: "Mark") -> dict[str, Any]:
    return {
        "video": {"id": mark.video_id, **pick_json(mark, "title", "channel", "url")},
        **pick_json(mark, "start", "end", "line", "note", "tag", "marked_at", number="id"),
        "jump": {"at": mark.at_ms / 1000, "url": watch_url(mark.video_id, mark.at_ms) if mark.url else None},
    }


def _lines(mark: "Mark") -> Iterator[str]:
    tag = f"#{mark.tag}" if mark.tag else ""
    yield f"{mark.id:>3}  {clock(mark.at_ms):>8}  {line_text(mark.line)}"
    where = " · ".join(filter(None, (mark.channel, mark.title, tag)))
    yield f"               {line_text(where)}"
    if mark.note:
        note = _("Note: {text}").format(text=line_text(mark.note))
        yield f"               {note}"
