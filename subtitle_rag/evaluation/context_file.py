"""Contexts from a file, in place of a model's, to measure the worth of contexts."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain import Window, nfc
from subtitle_rag.evaluation.json_lines import bad_queries, objects, refusing, seconds, string
from subtitle_rag.i18n import _
from subtitle_rag.library.context_store import Context
from subtitle_rag.library.store import Library

MODEL = "given"


@dataclass(frozen=True, slots=True)
class FileContext:
    """A context of a stretch of a video; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int
    text: str


def load(path: Path) -> list[FileContext]:
    """Read a file of JSON lines `{"video", "start", "end", "context"}`, times in seconds.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and the reason.
    """
    contexts = []
    for number, entry in objects(path):
        with refusing(path, number):
            start, end = seconds(entry, "start"), seconds(entry, "end")
            if end <= start:
                raise ValueError(_("it must end after its start"))
            text = string(entry, "context")
            contexts.append(FileContext(nfc(string(entry, "video")), start, end, nfc(text)))
    if not contexts:
        raise bad_queries(path, 1, _("it holds no contexts"))
    return contexts


def assign(
    contexts: Sequence[FileContext], windows_of: Callable[[Collection[str]], Mapping[str, Sequence[Window]]]
) -> dict[str, str]:
    """Assign each context to the window that it overlaps most; one window's are joined in the file's order."""
    windows_by_name = windows_of({context.video for context in contexts})
    assigned: dict[str, list[str]] = {}
    for context in contexts:
        shared = {
            window.id: min(context.end_ms, window.end_ms) - max(context.start_ms, window.start_ms)
            for window in windows_by_name[context.video]
        }
        best = max(shared, key=shared.__getitem__, default=None)
        if best is not None and shared[best] > 0:
            assigned.setdefault(best, []).append(context.text)
    return {id: " ".join(texts) for id, texts in assigned.items()}


def store(library: Library, contexts: Mapping[str, str]) -> None:
    """Store them as if a model had written them."""
    for window_id, text in contexts.items():
        library.contexts.put(
            Context(
                key=hashlib.sha256(f"{window_id}\x1f{text}".encode()).hexdigest()[:32],
                window_id=window_id,
                video_id="",
                model=MODEL,
                digest=MODEL,
                prompt=MODEL,
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
                written_at=0,
            )
        )
