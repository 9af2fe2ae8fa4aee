"""Rows of a scene list by video: the left part may be cut, the right part never is."""

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.search.reasons import copies_sentence
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, SIGN, assembled, marked
from subtitle_rag.tui.shared.scenes.video_groups import VideoGroup

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene

Parts = tuple[Content, Content]
SHORT_REASONS = {
    "title": N_("title"),
    "context": N_("context"),
    "nearby": N_("nearby"),
    "meaning": N_("≈ meaning"),
}
"""Origin of words that a scene does not say; by `Scene.reason`, or the source of a word."""
NAMED_CELLS = 10
"""Cells for missing words named after the first one."""
LEAD = 12
"""Most characters before the first mark of a sentence too long to reach its last one."""


def header_row(group: VideoGroup, width: int, *, with_channel: bool) -> Parts:
    """Return a video's title, and as much of channel, date and number of scenes as fits."""
    video = group.video
    title = marked(video.title, group.scenes[0].title_highlights, 0, len(video.title), "bold")
    count = n_("{n} place", "{n} places", group.count, n=f"{group.count:,}")
    names = [clean(video.channel) if with_channel else "", video.published.isoformat() if video.published else ""]
    parts = [*filter(None, names), count]
    while len(parts) > 1 and title.cell_length + cell_len(" · ".join(parts)) + 2 > width:
        del parts[0]
    return title, Content.styled(" · ".join(parts), MUTED)


def scene_row(scene: "Scene", width: int, time_cells: int, tag: str | None = None) -> Parts:
    """Return time and best sentence of a scene, and its reason, copies and tag.

    Text beyond the edge costs time: a hundred characters of Hangul take as long to draw as the rest of a row.
    """
    notes = [f"#{clean(tag)}" if tag else "", copies_sentence(len(scene.copies)) if scene.copies else ""]
    right = Content.styled(" · ".join(filter(None, (*notes, short_reason(scene)))), MUTED)
    head = f"{SIGN if tag is not None else ' '}{clock(scene.at_ms).rjust(time_cells)}  "
    room = width - cell_len(head) - right.cell_length - 3  # the gap before it, and the ellipsis
    start, stop = scene.sentence
    lead = ""
    spans = [span for span in scene.highlights if start <= span[0] < stop]
    typed = [span for span in spans if span not in scene.related] or spans
    if typed and cell_len(scene.text[start : typed[-1][1]]) > room:
        near = max(start, typed[0][0] - LEAD)
        if near == start and cell_len(scene.text[start : typed[0][1]]) > room:
            near = max(start, typed[0][0] - LEAD // 2)
        if near > start:
            start, lead = scene.text.find(" ", near, typed[0][0]) + 1 or typed[0][0], "… "
    end = min(len(scene.text), start + max(0, room) + 2)
    words = marked(scene.text, scene.highlights, start, end, related=scene.related)
    return assembled((head, MUTED), lead, words), right


def more_row(count: int, time_cells: int) -> Parts:
    """Return the row for further scenes of a video."""
    text = n_("→ {n} more", "→ {n} more", count, n=f"{count:,}")
    return Content.styled(" " * (time_cells + 3) + text, MUTED), Content()


def short_reason(scene: "Scene") -> str:
    """Return the reason of a scene without all typed words, in a word or two; else an empty text."""
    missing = [clean(word.word) for word in scene.words if word.source == "missing"]
    if scene.reason == "meaning" or len(missing) == len(scene.words):
        return _(SHORT_REASONS[scene.reason]) if scene.reason in SHORT_REASONS else ""
    if missing:
        names = missing[:1]
        while len(names) < len(missing) and cell_len(" ".join(missing[: len(names) + 1])) <= NAMED_CELLS:
            names.append(missing[len(names)])
        more = [f"+{len(missing) - len(names)}"] if len(names) < len(missing) else []
        return _("without: {words}").format(words=" ".join([*names, *more]))
    for word in scene.words:
        if word.source in SHORT_REASONS:
            return _(SHORT_REASONS[word.source])
        if word.source in ("related", "part"):
            return f"≈ {clean(word.instead)}"
    return ""
