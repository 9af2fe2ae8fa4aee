"""`export`, `play`, `clip`: save scenes in other formats, play them one after another, cut them as video files."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.progress import Meter
from subtitle_rag.base.domain.values import clock, pick_json
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.cli.open import say_if_loading
from subtitle_rag.cli.options import file_to_write, force_option, runtime_outcome
from subtitle_rag.cli.progress_bar import progress_bar
from subtitle_rag.cli.scene_arguments import SceneChoice, choose_scenes, chosen_spans
from subtitle_rag.plugins import EXPORT_FORMATS, plugin_names

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.sharing.clip_files import ClipFile
    from subtitle_rag.sharing.exported_scene import ExportedScene


class InstalledFormat(click.ParamType[str]):
    """A choice of the export formats, read when it is needed: looking through the packages takes 14 ms."""

    name = "choice"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return _installed_formats().get_metavar(param, ctx)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return _installed_formats().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return _installed_formats().shell_complete(ctx, param, incomplete)


def _installed_formats() -> click.Choice[str]:
    return click.Choice(plugin_names(EXPORT_FORMATS))


@click.command("export")
@click.option(
    "--format",
    "name",
    type=InstalledFormat(),
    help=N_("The format. Default: by the ending of FILE, else md."),
)
@choose_scenes
@click.option("-o", "--output", "file", metavar="FILE", help=N_("Write this file instead of standard output."))
@click.option("--clips", metavar="DIR", help=N_("Folder with the clips of the scenes, for Anki cards."))
@force_option
@runtime_outcome
def export_(
    runtime: "Runtime", name: str | None, choice: SceneChoice, file: str | None, clips: str | None, force: bool
) -> output.Outcome:
    from subtitle_rag.sharing.clip_files import clip_of
    from subtitle_rag.sharing.scene_reader import read_scenes

    path = None if file is None or file == "-" else file_to_write(file, "scenes.md", force=force)
    from subtitle_rag.sharing.export_formats import format_of_file, is_binary, render_export, write_export

    format_name = name or format_of_file(path)
    if path is None and is_binary(format_name):
        raise UsageError("export_without_file", format=format_name)
    scenes = read_scenes(runtime.library, chosen_spans(runtime, choice))
    if silent := next((scene for scene in scenes if choice.targets and not scene.cues), None):
        title, start, end = silent.video.title, clock(silent.start_ms), clock(silent.end_ms)
        raise UsageError("range_silent", video=title, start=start, end=end)
    if clips is not None:
        scenes = [replace(scene, clip=clip_of(Path(clips).expanduser(), scene)) for scene in scenes]
    export = render_export(format_name, scenes, choice.query)
    values = {
        "format": format_name,
        "file": str(path) if path else None,
        "scenes": export.scenes,
    }
    if path is None:
        text = export.text
        lines = text.replace("\r\n", "\n").removesuffix("\n")  # a carriage return moves a terminal's cursor
        return output.Outcome({**values, "text": text}, [lines])
    write_export(path, export)
    line = n_("{n} scene: {path}", "{n} scenes: {path}", export.scenes, path=path)
    return output.Outcome({**values, "text": None}, [line])


@click.command("play")
@choose_scenes
@runtime_outcome
def play_(runtime: "Runtime", choice: SceneChoice) -> output.Outcome:
    from subtitle_rag.sharing import player
    from subtitle_rag.sharing.scene_reader import read_scenes

    scenes = read_scenes(runtime.library, chosen_spans(runtime, choice))
    from subtitle_rag.sharing.player_clips import make_clips

    parts = make_clips(scenes)
    if not parts:
        raise UsageError("no_playable_scene" if scenes else "nothing_chosen")
    notes = []
    if left_out := len(scenes) - len(parts):
        notes.append(
            n_(
                "{n} scene has neither a video file here nor a link.",
                "{n} scenes have neither a video file here nor a link.",
                left_out,
            )
        )
    can_show = player.can_show()
    if can_show:
        say_if_loading(player.play_all(parts, runtime.settings.paths.cache))
    else:
        notes.append(_("There is no screen to play on here; this is what would be played."))
    values = {
        "played": can_show,
        "scenes": [
            {"what": part.what, "start": part.start_ms / 1000, "end": part.end_ms / 1000, "title": part.title}
            for part in parts
        ],
    }
    lines = (f"{clock(part.start_ms)}–{clock(part.end_ms)}  {line_text(part.what)}" for part in parts)
    return output.Outcome(values, lines, notes)


@click.command("clip")
@choose_scenes
@click.option(
    "--pad",
    type=click.FloatRange(0, 600),
    default=0.0,
    metavar="SECONDS",
    help=N_("Add this many seconds on both sides."),
)
@click.option(
    "--exact", is_flag=True, help=N_("Re-encode, so that a clip begins at its exact second, not at a key frame.")
)
@click.option("--join", is_flag=True, help=N_("Make one video of all scenes, in their order."))
@click.option(
    "--subs",
    type=click.Choice(["soft", "burn", "none"]),
    default="none",
    help=N_("Subtitles: as a track (soft), burned in (burn) or none."),
)
@click.option(
    "--height", type=click.IntRange(144, 4320), help=N_("Maximum height of the picture; downloads default to 720p.")
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="DIR|FILE",
    default=".",
    help=N_("The folder for the clips, or an .mp4 file with --join (default: the current folder)."),
)
@click.option("--force", is_flag=True, help=N_("Cut clips again that already exist."))
@runtime_outcome
def clip_(
    runtime: "Runtime",
    choice: SceneChoice,
    pad: float,
    exact: bool,
    join: bool,
    subs: Any,
    height: int | None,
    target: str,
    force: bool,
) -> output.Outcome:
    from subtitle_rag.base.ffmpeg import Ffmpeg
    from subtitle_rag.sharing.clip_files import CLIP_SUFFIXES, ClipMaker, ClipOptions, padded_span
    from subtitle_rag.sharing.scene_reader import read_scenes

    folder, file_name = Path(target).expanduser(), None
    if folder.suffix.lower() in CLIP_SUFFIXES and not folder.is_dir():
        if not join or folder.suffix.lower() != ".mp4":
            raise UsageError("clip_folder", path=target)
        folder, file_name = folder.parent, folder.name
    spans = chosen_spans(runtime, choice, whole=False)  # whole videos are not cut
    scenes = read_scenes(runtime.library, [padded_span(span, round(1000 * pad)) for span in spans])
    if not scenes:
        raise UsageError("nothing_chosen")
    ffmpeg = Ffmpeg.find()
    clips: list[ClipFile] = []
    errors: list[AppError] = []
    total_s, done_s = sum(map(_seconds, scenes)), 0.0
    meter = Meter("clips", round(total_s))
    with progress_bar() as show:

        def show_seconds(seconds: float) -> None:
            show(meter.to(round(done_s + seconds)))

        def finish(scene: "ExportedScene") -> None:
            nonlocal done_s
            done_s += _seconds(scene)
            show_seconds(0)

        options = ClipOptions(exact, subs, height, force)
        maker = ClipMaker(ffmpeg, folder, options, runtime.settings.youtube, show_seconds)
        if join:
            path = maker.join(scenes, finish, file_name)
            line = n_("{n} scene in {path}", "{n} scenes in {path}", len(scenes), path=path)
            return output.Outcome({"joined": str(path), "clips": [], "seconds": total_s}, [line_text(line)])
        for scene in scenes:  # a failed clip does not stop the others
            try:
                clips.append(maker.make(scene))
            except AppError as error:
                errors.append(error)
            finish(scene)
    values = {"joined": None, "clips": [_clip_values(clip) for clip in clips], "seconds": total_s}
    code = output.ExitCode.DONE if clips else None
    return output.Outcome(values, map(_clip_line, clips), errors=errors, exit_code=code)


def _seconds(scene: "ExportedScene") -> float:
    return (scene.end_ms - scene.start_ms) / 1000


def _clip_values(clip: "ClipFile") -> dict[str, Any]:
    place = {"scene": clip.scene.id, **pick_json(clip.scene, "video", "start", "end")}
    return {**place, "file": str(clip.path), **pick_json(clip, "new", "cut_short")}


def _clip_line(clip: "ClipFile") -> str:
    scene = clip.scene
    span = f"{line_text(scene.video.title)}  {clock(scene.start_ms)}–{clock(scene.end_ms)}"
    notes = [] if clip.is_new else [_("(was there)")]
    notes += [_("(the film ends here)")] * clip.is_cut_short
    return "  ".join([line_text(str(clip.path)), span, *notes])
