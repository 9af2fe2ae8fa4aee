"""Contexts in a file: to measure them in place of a model's, or to move them between libraries.

The file has videos and times, so that it fits other windows too.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Window, nfc
from subtitle_rag.base.i18n import _
from subtitle_rag.base.json_lines import (
    BadLine,
    bad_queries,
    file_name,
    objects,
    refused_line,
    refusing,
    seconds,
    string,
)
from subtitle_rag.contexts.writer import ContextIndexer
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.context_store import GIVEN, Context
from subtitle_rag.library.portable_names import all_windows, file_counts, portable_name, windows_by_name
from subtitle_rag.library.store import Library

MAX_CHARACTERS = 4_000
"""Maximum characters of a context; a model's has a few hundred."""


@dataclass(frozen=True, slots=True)
class FileContext:
    """A context for part of a video; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int
    text: str
    model: str = GIVEN
    """The model that wrote it, if the file says."""


def load(path: Path, bad_line: BadLine = bad_queries) -> list[FileContext]:
    """Read a JSON Lines file of `{"video", "start", "end", "context"}`, times in seconds, and optionally `model`.

    Raises:
        UsageError: `unreadable`; `bad_line`'s error for a line and the reason.
    """
    contexts = []
    for number, entry in objects(path, bad_line):
        with refusing(path, number, bad_line):
            if "query" in entry and "context" not in entry:
                raise ValueError(_("that is a question, not a context"))
            start, end = seconds(entry, "start"), seconds(entry, "end")
            if end <= start:
                raise ValueError(_("it must end after its start"))
            model = string(entry, "model") if "model" in entry else GIVEN
            contexts.append(FileContext(nfc(string(entry, "video")), start, end, _text(entry), model))
    if not contexts:
        raise bad_line(path, 1, _("it holds no contexts"))
    return contexts


def _text(entry: Mapping[str, Any]) -> str:
    text = nfc(string(entry, "context")).strip()
    if not text:
        raise ValueError(_("{name} must be a text").format(name="context"))
    if len(text) > MAX_CHARACTERS:
        raise ValueError(_("its context has more than {n} characters").format(n=f"{MAX_CHARACTERS:,}"))
    return text


def assign(contexts: Sequence[FileContext], windows: Mapping[str, Sequence[Window]]) -> dict[str, str]:
    """Assign each context to the window that it overlaps most; several for one window are joined in order.

    `windows` has each video's windows by the video's name in the file.
    """
    return {id: " ".join(context.text for context in some) for id, some in by_window(contexts, windows).items()}


def by_window(contexts: Sequence[FileContext], windows: Mapping[str, Sequence[Window]]) -> dict[str, list[FileContext]]:
    """Group the contexts by the window that each overlaps most, in the file's order."""
    assigned: dict[str, list[FileContext]] = {}
    for context in contexts:
        shared = {
            window.id: min(context.end_ms, window.end_ms) - max(context.start_ms, window.start_ms)
            for window in windows.get(context.video, ())
        }
        best = max(shared, key=shared.__getitem__, default=None)
        if best is not None and shared[best] > 0:
            assigned.setdefault(best, []).append(context)
    return assigned


def given_context(window_id: str, text: str, model: str = GIVEN, written_at: int = 0) -> Context:
    """Return a context from a file in the form of the library."""
    return Context(
        key=hashlib.sha256(f"{window_id}\x1f{text}".encode()).hexdigest()[:32],
        window_id=window_id,
        video_id="",
        model=model,
        digest=GIVEN,
        prompt=GIVEN,
        scope="full",
        seed=0,
        text=text,
        raw=text,
        doubts=(),
        prompt_tokens=0,
        tokens=0,
        prompt_ms=0,
        ms=0,
        tries=1,
        stale=False,
        written_at=written_at,
    )


def store(library: Library, contexts: Mapping[str, str]) -> None:
    """Store contexts as if a model had written them."""
    library.contexts.put_given([given_context(window_id, text) for window_id, text in contexts.items()])


def exported(
    library: Library, channels: Sequence[str] = (), videos: Sequence[str] = (), *, names: Library | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the valid contexts in the form of `eval run --contexts` and `contexts import`; by default of all videos.

    A file name stands for a video only if it is unique in `names`, by default the same library.
    """
    files = file_counts(state.video for state in (names or library).videos())
    for video in (state.video for state in library.videos()):
        if (channels and video.channel_id not in channels) or (videos and video.id not in videos):
            continue
        contexts = library.contexts.of_video(video.id)
        for window in library.windows_of(video.id) if contexts else ():
            if context := contexts.get(window.id):
                span = {"start": window.start_ms / 1000, "end": window.end_ms / 1000}
                yield {"video": portable_name(video, files), **span, "context": context.text, "model": context.model}


def to_json_lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def bad_contexts(path: Path, line: int, reason: str) -> UsageError:
    return refused_line(path, line, reason, "video, start, end, context")


@dataclass(slots=True)
class ContextImport:
    """The contexts in a file, assigned to the windows of a library."""

    missing_videos: tuple[str, ...]
    """Names of videos missing from the library."""
    without_window: int
    """Contexts at times without a window."""
    new: list[Context] = field(default_factory=list)
    replacing: list[Context] = field(default_factory=list)
    """Contexts that differ from their window's present one."""
    same: int = 0
    """Windows that already have the same context."""
    replaced_models: Counter[str] = field(default_factory=Counter)
    """Models of the contexts to replace."""


def plan_import(library: Library, path: Path) -> ContextImport:
    """Read a whole file and compare it with the library; write nothing.

    Raises:
        UsageError: `unreadable`; `bad_line` with the line; `contexts_foreign` if the library lacks all the videos.
    """
    contexts = load(path, bad_contexts)
    by_name = windows_by_name(library, all_windows(library), {context.video for context in contexts})
    if not any(by_name.values()):
        raise UsageError("contexts_foreign", path=file_name(path), video=contexts[0].video)
    assigned = by_window(contexts, by_name)
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


def import_contexts(library: Library, indexer: ContextIndexer, contexts: Sequence[Context]) -> int:
    """Store contexts, all or none, and add them to the index; return their number.

    Raises:
        BusyError: `busy`, and the codes of the library and the index.
    """
    with hold_lock(library.path.parent, "contexts"):
        stored = library.contexts.put_given(contexts)
        if late := library.contexts.unindexed():
            indexer.add_contexts(late)
    return stored
