"""Scenes to read: plain text, or Markdown for Obsidian and GitHub, with a link for each line of speech."""

import re
from collections.abc import Iterator, Sequence

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.sharing.export_formats import ExportFormat
from subtitle_rag.sharing.exported_scene import ExportedScene, by_video

# also ==, %% and ^ of Obsidian, $ of formulas, and : and @ of bare addresses; > is markup only at the start of a line
_MARKUP = re.compile(r"[\\`*_{}\[\]()#|~$=%^<&!:@]")
_NO_TAG = re.compile(r"[^\w/-]+")
_BLOCK = re.compile(r"^([-+>]|\d+(?=[.)]))")
"""Start of a quotation or list item; after a number the sign is escaped too."""
_WEB_NAME = re.compile(r"(?i)\b(www)\.")


def escape(text: str, *, begins_line: bool = True) -> str:
    """Return outside text on one line, with all Markdown characters escaped."""
    plain = _MARKUP.sub(lambda match: {"<": "&lt;", "&": "&amp;"}.get(match[0], f"\\{match[0]}"), text)
    line = " ".join(_WEB_NAME.sub(r"\1\\.", line_text(plain)).split())
    if not begins_line:
        return line
    return _BLOCK.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", line)


def markdown(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write scenes as a document, grouped by video."""
    groups = by_video(scenes)
    is_one = len(groups) == 1 and groups[0][0].title == title
    blocks = [] if is_one else [f"# {escape(title)}"]
    for _video, group in groups:
        blocks.append("\n".join(_video_lines(group[0], 1 if is_one else 2)))
        blocks += ["\n".join(_scene_lines(scene, 2 if is_one else 3)) for scene in group]
    return "\n\n".join(blocks) + "\n"


def standalone_markdown(scene: ExportedScene) -> str:
    """Write one scene together with its video, for the clipboard."""
    return "\n".join([*_video_lines(scene, 2), "", *_scene_lines(scene, 3)]) + "\n"


def _video_lines(first: ExportedScene, level: int) -> Iterator[str]:
    """Yield a video's heading, linked to the best line of its first scene, and its source."""
    video = first.video
    yield f"{'#' * level} {_linked(escape(video.title), first.link(first.at_ms))}\n"
    yield " · ".join(filter(None, (escape(video.channel), str(video.published or ""))))


def _scene_lines(scene: ExportedScene, level: int) -> Iterator[str]:
    yield f"{'#' * level} {clock(scene.start_ms)}–{clock(scene.end_ms)}\n"
    if scene.cues:
        yield "  \n".join(
            f"> {_linked(clock(cue.start_ms), scene.link(cue.start_ms))} {escape(cue.named_text, begins_line=False)}"
            for cue in scene.cues
        )
    if scene.context:
        yield f"\n**{_('Context')}**: {escape(scene.context)}"
    if scene.note:
        yield f"\n**{_('Note')}**: {escape(scene.note)}"
    if tag := _tag(scene.tag):
        yield f"\n#{tag}"


def _tag(text: str) -> str:
    """Return an Obsidian tag: letters, digits, _ - and /, but not only digits (help.obsidian.md/tags)."""
    tag = re.sub(r"/{2,}", "/", _NO_TAG.sub("-", text)).strip("-/")
    return f"{tag}_" if tag and not re.search(r"[^\W\d]|[-/]", tag) else tag


def _linked(text: str, link: str | None) -> str:
    return f"[{text}]({link})" if link else text


def plain_text(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write each scene's video, lines, context, note and link."""
    blocks = [line_text(title), *("\n".join(_plain_lines(scene)) for scene in scenes)]
    return "\n\n".join(blocks) + "\n"


def _plain_lines(scene: ExportedScene) -> Iterator[str]:
    video = scene.video
    yield line_text(" · ".join(filter(None, (video.title, video.channel, str(video.published or "")))))
    for cue in scene.cues:
        yield f"{clock(cue.start_ms):>8}  {line_text(cue.named_text)}"
    if scene.context:
        yield _("Context: {text}").format(text=line_text(scene.context))
    if scene.note:
        yield _("Note: {text}").format(text=line_text(scene.note))
    if scene.tag:
        yield _("Tag: {text}").format(text=line_text(scene.tag))
    yield line_text(scene.jump_url or str(scene.media or video.source or video.id))


MARKDOWN, PLAIN_TEXT = ExportFormat(markdown), ExportFormat(plain_text)
