"""`clip`: scenes as video files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing
from subtitle_rag.commands.options import channel_option, json_option, pass_runtime, video_option
from subtitle_rag.domain import AppError, UsageError, clock
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.terminal_text import line_text

if TYPE_CHECKING:
    from subtitle_rag.commands.chosen_scenes import SceneChoice
    from subtitle_rag.exporting import ClipFile, ClipMaker, ExportedScene, SceneSpan
    from subtitle_rag.runtime import Runtime

MAX_PAD_S = 600


@click.command("clip")
@click.argument("targets", nargs=-1, metavar="[SCENE]...", shell_complete=completing.videos)
@click.option("--marks", "marked", is_flag=True, help=N_("The marked scenes."))
@click.option("--tag", metavar="NAME", help=N_("The marked scenes with this tag."))
@click.option("--query", metavar="QUERY", help=N_("The scenes of a search; --video and --channel narrow it."))
@click.option("--limit", type=click.IntRange(1, 200), help=N_("At most this many scenes of a search (default 20)."))
@video_option
@channel_option
@click.option(
    "--pad",
    type=click.FloatRange(0, MAX_PAD_S),
    default=0.0,
    metavar="SECONDS",
    help=N_("So many seconds more on both sides."),
)
@click.option(
    "--exact", is_flag=True, help=N_("Encode, so that a clip begins at its second, not at the key frame before.")
)
@click.option("--join", is_flag=True, help=N_("Make one video of all scenes, in their order."))
@click.option(
    "--subs",
    type=click.Choice(["soft", "burn", "none"]),
    default="none",
    help=N_("Captions: beside the picture (soft), in it (burn) or left out (none)."),
)
@click.option(
    "--height", type=click.IntRange(144, 4320), help=N_("At most so many lines; for downloads 720 if not given.")
)
@click.option("-o", "--output", "folder", metavar="DIR", default=".", help=N_("Where the clips go; else this folder."))
@click.option("--force", is_flag=True, help=N_("Cut again what is there."))
@json_option
@pass_runtime
def clip_(
    runtime: "Runtime",
    targets: Sequence[str],
    marked: bool,
    tag: str | None,
    query: str | None,
    limit: int | None,
    video: Sequence[str],
    channel: Sequence[str],
    pad: float,
    exact: bool,
    join: bool,
    subs: Any,
    height: int | None,
    folder: str,
    force: bool,
    as_json: bool,
) -> int:
    from subtitle_rag.commands.chosen_scenes import SceneChoice
    from subtitle_rag.exporting import ClipMaker, ClipOptions, Ffmpeg, SceneReader, padded

    ffmpeg = Ffmpeg.find()
    spans = _spans(runtime, targets, SceneChoice((), marked, tag, query, limit, video, channel))
    scenes = SceneReader(runtime.library).read([padded(span, round(1000 * pad)) for span in spans])
    if not scenes:
        raise UsageError("nothing_to_clip")
    with output.progress() as bar:
        total_s = sum((scene.end_ms - scene.start_ms) / 1000 for scene in scenes)
        run = _ClipRun(bar, bar.add_task(_("Clips"), total=round(total_s)))
        maker = ClipMaker(
            ffmpeg,
            Path(folder).expanduser(),
            ClipOptions(exact, subs, height, force),
            runtime.settings.youtube,
            run.show_seconds,
        )
        if join:
            path = maker.join(scenes, run.finish)
            values: dict[str, Any] = {"joined": str(path), "clips": [], "seconds": total_s}
            line = n_("{n} scene in {path}", "{n} scenes in {path}", len(scenes)).format(n=len(scenes), path=path)
            return output.finish("clip", output.Outcome(values), [line_text(line)], as_json=as_json)
        clips, errors = run.make(maker, scenes)
    for error in errors:
        output.say_error(error)
    values = {"joined": None, "clips": [_values(clip) for clip in clips], "seconds": total_s}
    outcome = output.Outcome.of(values, errors)
    if clips:
        outcome.exit_code = output.ExitCode.DONE
    return output.finish("clip", outcome, [_line(clip) for clip in clips], as_json=as_json)


class _ClipRun:
    """The bar of a run."""

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task
        self._done_s = 0.0

    def show_seconds(self, seconds: float) -> None:
        self._bar.update(self._task, completed=round(self._done_s + seconds))

    def finish(self, scene: "ExportedScene") -> None:
        self._done_s += (scene.end_ms - scene.start_ms) / 1000
        self._bar.update(self._task, completed=round(self._done_s))

    def make(self, maker: "ClipMaker", scenes: "Sequence[ExportedScene]") -> "tuple[list[ClipFile], list[AppError]]":
        """Make one clip after the other; a scene that fails leaves the others."""
        clips: list[ClipFile] = []
        errors: list[AppError] = []
        for scene in scenes:
            try:
                clips.append(maker.make(scene))
            except AppError as error:
                errors.append(error)
            self.finish(scene)
        return clips, errors


def _spans(runtime: "Runtime", targets: Sequence[str], choice: "SceneChoice") -> "list[SceneSpan]":
    """Return the spans by name, each of one scene, and those of the choice."""
    from subtitle_rag.commands import scene_arguments
    from subtitle_rag.commands.chosen_scenes import chosen_spans

    spans = [scene_arguments.scene_span(runtime, target) for target in targets]
    narrowed = choice if choice.query is not None else choice._replace(videos=(), channels=())
    return spans + chosen_spans(runtime, narrowed)


def _values(clip: "ClipFile") -> dict[str, Any]:
    scene = clip.scene
    return {
        "scene": scene.id,
        "video": scene.video.values(),
        "start": scene.start_ms / 1000,
        "end": scene.end_ms / 1000,
        "file": str(clip.path),
        "new": clip.is_new,
    }


def _line(clip: "ClipFile") -> str:
    scene = clip.scene
    span = f"{line_text(scene.video.title)}  {clock(scene.start_ms)}–{clock(scene.end_ms)}"
    note = "" if clip.is_new else "  " + _("(was there)")
    return f"{line_text(str(clip.path))}  {span}{note}"
