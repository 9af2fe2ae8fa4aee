"""`index --dry-run`: the videos that would be indexed, and the files that would be left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.base import event_json, output
from subtitle_rag.base.domain.events import VideoFailed
from subtitle_rag.base.i18n import n_

if TYPE_CHECKING:
    from subtitle_rag.library.sources import SourceOptions


def preview(paths: Sequence[Path], options: "SourceOptions") -> output.Outcome:
    """Return what `index` would read from files and folders, without writing anything.

    Raises:
        UsageError: like `find_captions`.
    """
    from subtitle_rag.captions import files
    from subtitle_rag.captions.films import printable_path
    from subtitle_rag.index.indexing import find_captions

    entries, notices = find_captions(paths, languages=options.languages, since=options.since, limit=options.limit)
    groups = [entry for entry in entries if isinstance(entry, files.CaptionGroup)]
    failures = [event_json.failure_entry(entry) for entry in entries if isinstance(entry, VideoFailed)]
    left_out = [pair for group in groups for pair in group.left_out(group.candidates[0])]
    if left_out:
        notices = [*notices, files.tracks_notice(left_out)]
    for entry in (*failures, *map(event_json.notice_values, notices)):
        output.say(f"– {entry['message']}")
    videos = [
        {"title": group.video.title, "id": group.video.id, "file": printable_path(group.candidates[0].path)}
        for group in groups
    ]
    count = n_(
        "{n} video would be read; nothing was written.", "{n} videos would be read; nothing was written.", len(videos)
    )
    parts = [count]
    if n := sum(sum(notice.details.get("counts", {}).values()) for notice in notices):
        parts.append(n_("{n} file left out", "{n} files left out", n))
    lines = [*(f"{video['title']}: {video['file']}" for video in videos), " ".join(parts)]
    result = {"preview": videos, "notices": [event_json.notice_values(notice) for notice in notices]}
    return output.Outcome(result, lines, errors=failures, errors_shown=True)
