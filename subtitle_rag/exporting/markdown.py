"""Scenes to read: Markdown, with a link for each line of speech as Obsidian and GitHub read it, and plain text."""

import re
from collections.abc import Iterator, Sequence

from subtitle_rag.domain import Video, clock
from subtitle_rag.exporting.exported_scene import ExportedScene, by_video
from subtitle_rag.i18n import _
from subtitle_rag.terminal_text import line_text

# also ==, %% and ^ of Obsidian, $ of formulas, and : and @ of bare addresses
_MARKUP = re.compile(r"[\\`*_{}\[\]()#|~$=%^<>&!:@]")
_NO_TAG = re.compile(r"[^\w/-]+")
_LIST = re.compile(r"^([-+]|\d+(?=[.)]))")
"""The beginning of an item of a list; the sign behind a number is escaped too."""
_WEB_NAME = re.compile(r"(?i)\b(www)\.")


def escape(text: str) -> str:
    """Return outside text on one line, without any character that Markdown reads as markup."""
    plain = _MARKUP.sub(lambda match: {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(match[0], f"\\{match[0]}"), text)
    line = " ".join(_WEB_NAME.sub(r"\1\\.", line_text(plain)).split())
    return _LIST.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", line)


def markdown(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write scenes as a document, grouped by video."""
    blocks = [f"# {escape(title)}"]
    for video, group in by_video(scenes):
        blocks.append("\n".join(_video_lines(video)))
        blocks += ["\n".join(_scene_lines(scene)) for scene in group]
    return "\n\n".join(blocks) + "\n"


def standalone_markdown(scene: ExportedScene) -> str:
    """Write one scene together with its video, for the clipboard."""
    return "\n".join([*_video_lines(scene.video), "", *_scene_lines(scene)]) + "\n"


def _video_lines(video: Video) -> Iterator[str]:
    title, link = escape(video.title), video.link()
    yield f"## [{title}]({link})\n" if link else f"## {title}\n"
    yield " · ".join(filter(None, (escape(video.channel), str(video.published or ""))))


def _scene_lines(scene: ExportedScene) -> Iterator[str]:
    yield f"### {clock(scene.start_ms)}–{clock(scene.end_ms)}\n"
    if scene.cues:
        yield "  \n".join(f"> {_time(scene, cue.start_ms)} {escape(cue.text)}" for cue in scene.cues)
    if scene.context:
        yield f"\n**{_('Context')}**: {escape(scene.context)}"
    if scene.note:
        yield f"\n**{_('Note')}**: {escape(scene.note)}"
    if scene.tag:
        yield f"\n#{_NO_TAG.sub('-', scene.tag)}"


def _time(scene: ExportedScene, at_ms: int) -> str:
    link = scene.video.link(at_ms)
    return f"[{clock(at_ms)}]({link})" if link else clock(at_ms)


def plain_text(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write each scene's video, lines, context, note and link."""
    blocks = [line_text(title), *("\n".join(_plain_lines(scene)) for scene in scenes)]
    return "\n\n".join(blocks) + "\n"


def _plain_lines(scene: ExportedScene) -> Iterator[str]:
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
