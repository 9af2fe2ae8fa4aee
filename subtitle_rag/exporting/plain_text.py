"""Scenes as text to read or print."""

from collections.abc import Iterator, Sequence

from subtitle_rag.domain import clock
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.i18n import _
from subtitle_rag.terminal_text import line_text


def plain_text(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write each scene's video, lines, context, note and link."""
    blocks = [line_text(title), *("\n".join(_lines(scene)) for scene in scenes)]
    return "\n\n".join(blocks) + "\n"


def _lines(scene: ExportedScene) -> Iterator[str]:
    video = scene.video
    yield line_text(" · ".join(filter(None, (video.title, video.channel, str(video.published or "")))))
    for cue in scene.cues:
        yield f"{clock(cue.start_ms):>8}  {line_text(cue.text)}"
    if scene.context:
        yield _("Context: {text}").format(text=line_text(scene.context))
    if scene.note:
        yield _("Note: {text}").format(text=line_text(scene.note))
    if scene.tag:
        yield _("Tag: {text}").format(text=line_text(scene.tag))
    yield line_text(scene.jump_url or str(scene.media or video.source or video.id))
