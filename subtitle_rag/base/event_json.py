"""Events and reports of a run as JSON, by line or in the envelope."""

import re
from dataclasses import asdict
from typing import Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import (
    ContextEvent,
    ContextReport,
    FileNotice,
    IndexEvent,
    IndexReport,
    ListeningEvent,
    ListeningReport,
    Resting,
    VectorEvent,
    VectorsReport,
    VideoFailed,
)
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import moment, pick_json
from subtitle_rag.base.output import error_entry, json_line


def failure_entry(event: VideoFailed | FileNotice | Resting) -> dict[str, Any]:
    """Return a failed video or window, or the reason for a pause, as an entry of `errors`."""
    return error_entry(AppError(event.code, **event.details), getattr(event, "video", None))


def event_name(kind: type) -> str:
    """Return the `--jsonl` name of an event class: `VideoDone` → `video_done`, any run's report → `report`."""
    name = kind.__name__
    return "report" if name.endswith("Report") else re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def event_line(event: IndexEvent | ContextEvent | VectorEvent | ListeningEvent) -> None:
    """Write one event as one line of JSON, unbuffered."""
    if isinstance(event, VideoFailed):
        values = {"title": event.title, **failure_entry(event)}
    elif isinstance(event, FileNotice):
        values = notice_values(event)
    elif isinstance(event, Resting):
        values = {"until": moment(event.until), "goes_on": event.goes_on, **failure_entry(event)}
    elif isinstance(event, IndexReport | ContextReport | VectorsReport | ListeningReport):
        values = report_values(event)
    elif isinstance(event, Progress):
        values = {"stage": event.stage, "done": event.done, "total": event.total or None, "text": event.text}
    else:
        values = asdict(event)
    json_line({"event": event_name(type(event)), **values})


def report_values(report: IndexReport | ContextReport | VectorsReport | ListeningReport) -> dict[str, Any]:
    """Return the totals of a run for `--json` and `--jsonl`."""
    match report:
        case IndexReport():
            return {
                "videos": pick_json(report, "found", "new", "changed", "unchanged", "failed"),
                "windows_indexed": report.windows,
                "notices": [notice_values(notice) for notice in report.notices],
                **pick_json(report, "estimates", "cut_short"),
            }
        case ContextReport():
            counts = pick_json(report, "written", "empty", "left_out", "suspect", "failed", "prompt_tokens", "tokens")
            return counts | pick_json(report, "summaries", "empty_summaries", "empty_overviews", seconds="ms")
        case VectorsReport():
            counts = pick_json(report, "encoder", "made", "left", "waiting", "failed", "cut")
            return counts | pick_json(report, "pieces", "pieces_left")
        case ListeningReport():
            counts = pick_json(report, "heard", "failed", "left", "sound", "gap", windows_indexed="windows")
            return {**counts, "seconds": round(report.seconds, 1)}


def notice_values(notice: FileNotice) -> dict[str, Any]:
    """Return a notice with its counts of files by suffix and its duplicate files, if any."""
    entry = failure_entry(notice)
    counts, left_out = notice.details.get("counts", {}), notice.details.get("left_out", [])
    return {key: entry[key] for key in ("code", "message", "hint")} | {"files": counts, "left_out": left_out}
