"""Files of questions with known answers, as `eval run` reads them; folders are read by `sets`.

Two formats, told apart by their content: JSON lines (`{"id", "query", "kind", "gold": [{"video", "start", "end"}]}`,
seconds, over the videos of a library) and KorQuAD 1.0 (one JSON object, which brings its own documents).

What `eval make` wrote is of the first kind, and says in every line who made it. Such questions are no measure beside
those of a person: a file holds the ones or the others.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.domain import Video, Window, nfc
from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import korquad
from subtitle_rag.evaluation.questions import Gold, Question, bad_queries
from subtitle_rag.evaluation.records import MADE_BY
from subtitle_rag.i18n import _


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, and the documents that they are asked of where the file brings its own."""

    path: Path
    questions: tuple[Question, ...]
    documents: tuple[tuple[Video, tuple[Window, ...]], ...] = field(default=(), repr=False)
    made: bool = False
    """Whether a model made the questions (`eval make`)."""


def load(path: Path) -> Dataset:
    """Read a file of questions.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and what is wrong in it.
    """
    text = read_text(path)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None  # more than one line of JSON, or a mistake, which has a line then
    if isinstance(whole, dict) and "data" in whole and "query" not in whole:
        questions, documents = korquad.read(path, whole)
        return Dataset(path, questions, documents)
    found = tuple(_questions(path, text))
    if not found:
        raise bad_queries(path, 1, _("it holds no questions"))
    return Dataset(path, tuple(question for question, _made in found), made=found[0][1])


def read_text(path: Path) -> str:
    """A file's text; raises UsageError `unreadable`, `bad_queries` where it is not UTF-8."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError("unreadable", path=str(path), reason=reason) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_queries(path, raw[: error.start].count(b"\n") + 1, _("it is not UTF-8 text")) from error


def objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The JSON objects of a file of JSON lines, with the numbers of their lines.

    Raises:
        UsageError: `unreadable`, `bad_queries`.
    """
    yield from _objects(path, read_text(path))


def _objects(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # not splitlines(): U+2028 may stand inside a JSON string
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, _object(line)
            except ValueError as error:
                raise bad_queries(path, number, str(error)) from error


def _questions(path: Path, text: str) -> Iterator[tuple[Question, bool]]:
    """Every question, and whether a model made it; a file of both is refused."""
    seen: set[str] = set()
    made: bool | None = None
    for number, entry in _objects(path, text):
        by_model = MADE_BY in entry or "origin" in entry
        try:
            if made not in (None, by_model):
                raise ValueError(_("made and hand-made questions are mixed; keep them in files of their own"))
            made = by_model
            if by_model and (MADE_BY in entry or "refused" in entry):
                continue
            question = _question(entry)
            if question.id in seen:
                raise ValueError(_("the id {id} is there twice").format(id=question.id))
        except ValueError as error:
            raise bad_queries(path, number, str(error)) from error
        seen.add(question.id)
        yield question, made


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
    answer = entry.get("answer")
    told = answer if isinstance(answer, str) else ""
    return Question(string(entry, "id"), string(entry, "query"), string(entry, "kind"), ranges, told)


def string(entry: Mapping[str, Any], name: str) -> str:
    """A field that must be a text; raises ValueError."""
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(_("{name} must be a text").format(name=name))
    return value


def _gold(item: object) -> Gold:
    if not isinstance(item, dict):
        raise ValueError(_("each range in gold must have video, start and end"))
    start, end = seconds(item, "start"), seconds(item, "end")
    if end <= start:
        raise ValueError(_("a range in gold must end after its start"))
    return Gold(nfc(string(item, "video")), start, end)


def seconds(item: Mapping[str, Any], name: str) -> int:
    """A field of seconds, as milliseconds; raises ValueError."""
    value = item.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(_("{name} must be a number of seconds").format(name=name))
    return round(value * 1000)
