"""Questions with known answers: what `eval run` reads.

Two formats, told apart by their content: JSON lines (`{"id", "query", "kind", "gold": [{"video", "start", "end"}]}`,
seconds, over the videos of a library) and KorQuAD 1.0 (one JSON object, which brings its own documents).
"""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.domain import Video, Window, nfc
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _

OVERLAP_MS = 5_000
"""A window answers a question when it shares so much with a gold range."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A stretch of a video that answers a question; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int

    def answered_by(self, start_ms: int, end_ms: int) -> bool:
        """Whether a window of the same video shows enough of this range: `OVERLAP_MS`.

        A range or window that is itself shorter can never share that much: half of the shorter one is enough then,
        which also finds a short range that a cut divides.
        """
        shorter = min(self.end_ms - self.start_ms, end_ms - start_ms)
        needed = OVERLAP_MS if shorter >= OVERLAP_MS else shorter / 2
        return min(self.end_ms, end_ms) - max(self.start_ms, start_ms) >= needed


@dataclass(frozen=True, slots=True)
class Question:
    """A query with the ranges that answer it; any one of them is a hit."""

    id: str
    query: str
    kind: str
    gold: tuple[Gold, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, and the documents that they are asked of where the file brings its own."""

    path: Path
    questions: tuple[Question, ...]
    documents: tuple[tuple[Video, tuple[Window, ...]], ...] = field(default=(), repr=False)


def load(path: Path) -> Dataset:
    """Read a file of questions.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and what is wrong in it.
    """
    text = _text(path)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None  # more than one line of JSON, or a mistake, which has a line then
    if isinstance(whole, dict) and "data" in whole and "query" not in whole:
        from subtitle_rag.evaluation import korquad

        questions, documents = korquad.read(path, whole)
        return Dataset(path, questions, documents)
    questions = tuple(_questions(path, text))
    if not questions:
        raise bad_queries(path, 1, _("it holds no questions"))
    return Dataset(path, questions)


def bad_queries(path: Path, line: int, reason: str) -> UsageError:
    return UsageError("bad_queries", path=str(path), line=line, reason=reason)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError("unreadable", path=str(path), reason=reason) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_queries(path, raw[: error.start].count(b"\n") + 1, _("it is not UTF-8 text")) from error


def _questions(path: Path, text: str) -> Iterator[Question]:
    seen: set[str] = set()
    # not splitlines(): U+2028 may stand inside a JSON string
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            question = _question(_object(line))
            if question.id in seen:
                raise ValueError(_("the id {id} is there twice").format(id=question.id))
        except ValueError as error:
            raise bad_queries(path, number, str(error)) from error
        seen.add(question.id)
        yield question


def _object(line: str) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        reason = _("no JSON from column {column} on").format(column=error.colno)
        raise ValueError(reason) from error
    except RecursionError as error:
        raise ValueError(_("it is nested too deeply")) from error
    if not isinstance(entry, dict):
        raise ValueError(_("it is not a JSON object"))
    return entry


def _question(entry: Mapping[str, Any]) -> Question:
    gold = entry.get("gold")
    if not isinstance(gold, list) or not gold:
        raise ValueError(_("gold must be a list with at least one range"))
    ranges = tuple(_gold(item) for item in gold)
    return Question(_string(entry, "id"), _string(entry, "query"), _string(entry, "kind"), ranges)


def _string(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(_("{name} must be a text").format(name=name))
    return value


def _gold(item: object) -> Gold:
    if not isinstance(item, dict):
        raise ValueError(_("each range in gold must have video, start and end"))
    start, end = _ms(item, "start"), _ms(item, "end")
    if end <= start:
        raise ValueError(_("a range in gold must end after its start"))
    return Gold(nfc(_string(item, "video")), start, end)


def _ms(item: Mapping[str, Any], name: str) -> int:
    value = item.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(_("{name} must be a number of seconds").format(name=name))
    return round(value * 1000)


def answers(question: Question, windows: Mapping[str, Sequence[Window]]) -> dict[str, frozenset[int]]:
    """The windows that answer a question, each with the numbers of the gold ranges that it shows.

    `windows` has, for each video named in gold, the windows that it has in the library.
    """
    found: dict[str, frozenset[int]] = {}
    for number, gold in enumerate(question.gold):
        for window in windows.get(gold.video, ()):
            if gold.answered_by(window.start_ms, window.end_ms):
                found[window.id] = found.get(window.id, frozenset()) | {number}
    return found
