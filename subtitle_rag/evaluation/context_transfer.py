"""Contexts from a library into a file, and back into this or another library.

The file names videos and times, so that it outlives other windows.
"""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.domain import BusyError, UsageError
from subtitle_rag.evaluation.context_file import by_window, given_context, load
from subtitle_rag.evaluation.json_lines import file_name
from subtitle_rag.evaluation.questions import all_windows, windows_by_name
from subtitle_rag.evaluation.sampling import file_counts, gold_name
from subtitle_rag.indexing import Indexer
from subtitle_rag.library import Context, Library, hold_lock


def exported(
    library: Library, channels: Sequence[str] = (), videos: Sequence[str] = (), *, names: Library | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the valid contexts, as `eval run --contexts` and `contexts import` read them; empty: of all videos.

    `names` is the library in which a file's name must be unique to stand for its video, by default the same.
    """
    files = file_counts(state.video for state in (names or library).videos())
    for video in (state.video for state in library.videos()):
        if (channels and video.channel_id not in channels) or (videos and video.id not in videos):
            continue
        contexts = library.contexts.of_video(video.id)
        for window in library.windows_of(video.id) if contexts else ():
            if context := contexts.get(window.id):
                yield context_line(gold_name(video, files), window.start_ms, window.end_ms, context.text, context.model)


def context_line(video: str, start_ms: int, end_ms: int, text: str, model: str) -> dict[str, Any]:
    """Return a line of the file."""
    return {"video": video, "start": start_ms / 1000, "end": end_ms / 1000, "context": text, "model": model}


def to_json_lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def bad_contexts(path: Path, line: int, reason: str) -> UsageError:
    return UsageError("bad_contexts", path=file_name(path), line=line, reason=reason)


@dataclass(slots=True)
class ContextImport:
    """The contents of a file of contexts, laid on the windows of a library."""

    missing_videos: tuple[str, ...]
    """Names of videos that the library lacks."""
    without_window: int
    """Contexts of other times than any window."""
    new: list[Context] = field(default_factory=list)
    replacing: list[Context] = field(default_factory=list)
    """They differ from the context that their window has."""
    same: int = 0
    """Windows that have this very context."""
    replaced_models: Counter[str] = field(default_factory=Counter)
    """Models of the contexts that would be replaced."""


def plan_import(library: Library, path: Path) -> ContextImport:
    """Read a whole file and compare it with the library; nothing is written.

    Raises:
        UsageError: `unreadable`; `bad_contexts` with the line; `contexts_foreign` if the library lacks all the videos.
    """
    contexts = load(path, bad_contexts)
    by_name = windows_by_name(library, all_windows(library), {context.video for context in contexts})
    if not any(by_name.values()):
        raise UsageError("contexts_foreign", path=file_name(path), video=contexts[0].video)
    assigned = by_window(contexts, lambda _names: by_name)
    of_known_videos = sum(bool(by_name[context.video]) for context in contexts)
    plan = ContextImport(
        missing_videos=tuple(sorted(name for name, windows in by_name.items() if not windows)),
        without_window=of_known_videos - sum(map(len, assigned.values())),
    )
    present = library.contexts.of_windows(list(assigned))
    written_at = int(time.time())
    for window_id, some in assigned.items():
        text = " ".join(context.text for context in some)
        stored = present.get(window_id)
        if stored is not None and stored.text == text:
            plan.same += 1
            continue
        models = ", ".join(dict.fromkeys(context.model for context in some))
        (plan.new if stored is None else plan.replacing).append(given_context(window_id, text, models, written_at))
        if stored is not None:
            plan.replaced_models[stored.model] += 1
    return plan


def import_contexts(library: Library, indexer: Indexer, contexts: Sequence[Context]) -> int:
    """Store contexts, all or none, and add them to the index; return their number.

    Raises:
        BusyError: `contexts_busy`, and those of the library and the index.
    """
    path = library.path
    with hold_lock(path.with_name("contexts.lock"), BusyError("contexts_busy", path=str(path.parent))):
        stored = library.contexts.put_given(contexts)
        if late := library.contexts.unindexed():
            indexer.add_contexts(late)
    return stored
