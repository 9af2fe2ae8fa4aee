"""`play`: several scenes one after another."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands import completing
from subtitle_rag.commands.options import channel_option, json_option, pass_runtime, video_option
from subtitle_rag.domain import UsageError, clock
from subtitle_rag.i18n import N_, _
from subtitle_rag.terminal_text import line_text

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


@click.command("play")
@click.argument("targets", nargs=-1, metavar="[SCENE]...", shell_complete=completing.videos)
@click.option("--marks", "marked", is_flag=True, help=N_("The marked scenes."))
@click.option("--tag", metavar="NAME", help=N_("The marked scenes with this tag."))
@click.option("--query", metavar="QUERY", help=N_("The scenes of a search; --video and --channel narrow it."))
@click.option("--limit", type=click.IntRange(1, 200), help=N_("At most this many scenes of a search (default 20)."))
@video_option
@channel_option
@json_option
@pass_runtime
def play_(
    runtime: "Runtime",
    targets: Sequence[str],
    marked: bool,
    tag: str | None,
    query: str | None,
    limit: int | None,
    video: Sequence[str],
    channel: Sequence[str],
    as_json: bool,
) -> int:
    from subtitle_rag import player
    from subtitle_rag.commands.chosen_scenes import SceneChoice, chosen_spans
    from subtitle_rag.exporting import SceneReader, left_out_sentence, make_clips

    choice = SceneChoice(targets, marked, tag, query, limit, video, channel)
    scenes = SceneReader(runtime.library).read(chosen_spans(runtime, choice))
    parts = make_clips(scenes)
    if not parts:
        raise UsageError("nothing_playable" if scenes else "nothing_to_export")
    notes = [left_out_sentence(len(scenes) - len(parts))] if len(parts) < len(scenes) else []
    can_show = player.can_show()
    if can_show:
        launch = player.play_all(parts, runtime.settings.paths.cache)
        if launch.wait(launch.patience_s) == "loading":
            output.say(_("{player} is still loading the video.").format(player=launch.name))
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
    return output.finish("play", output.Outcome(values), lines, as_json=as_json, notes=notes)
