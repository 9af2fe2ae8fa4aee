"""Contexts in a file: in place of a model's, to measure the worth of contexts, or to be imported into a library."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subtitle_rag.domain import Window, nfc
from subtitle_rag.evaluation.json_lines import BadLine, bad_queries, objects, refusing, seconds, string
from subtitle_rag.i18n import _
from subtitle_rag.library import GIVEN, Context, Library

MAX_CHARACTERS = 4_000
"""Characters of a context; a model's has a few hundred."""


@dataclass(frozen=True, slots=True)
class FileContext:
    """A context of a stretch of a video; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int
    text: str
    model: str = GIVEN
    """The model that wrote it, where the file says."""


def load(path: Path, bad_line: BadLine = bad_queries) -> list[FileContext]:
    """Read a file of JSON lines `{"video", "start", "end", "context"}`, times in seconds; `model` may follow.

    Raises:
        UsageError: `unreadable`; what `bad_line` makes of a line and the reason.
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


def assign(
    contexts: Sequence[FileContext], windows_of: Callable[[Collection[str]], Mapping[str, Sequence[Window]]]
) -> dict[str, str]:
    """Assign each context to the window that it overlaps most; one window's are joined in the file's order."""
    return {id: " ".join(context.text for context in some) for id, some in by_window(contexts, windows_of).items()}


def by_window(
    contexts: Sequence[FileContext], windows_of: Callable[[Collection[str]], Mapping[str, Sequence[Window]]]
) -> dict[str, list[FileContext]]:
    """Group the contexts by the window that each overlaps most, in the file's order."""
    windows_by_name = windows_of({context.video for context in contexts})
    assigned: dict[str, list[FileContext]] = {}
    for context in contexts:
        shared = {
            window.id: min(context.end_ms, window.end_ms) - max(context.start_ms, window.start_ms)
            for window in windows_by_name[context.video]
        }
        best = max(shared, key=shared.__getitem__, default=None)
        if best is not None and shared[best] > 0:
            assigned.setdefault(best, []).append(context)
    return assigned


def given_context(window_id: str, text: str, model: str = GIVEN, written_at: int = 0) -> Context:
    """Return a context from a file as the library stores one."""
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
    """Store them as if a model had written them."""
    library.contexts.put_given([given_context(window_id, text) for window_id, text in contexts.items()])
