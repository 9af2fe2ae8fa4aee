"""Reader of question sets with known answers.

A file has JSON lines (`{"id", "query", "kind", "gold": [{"video", "start", "end"}]}`, in seconds).

Every line of `eval make` names its model. A file has only such questions or only a person's, since their figures are
not comparable.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.base.i18n import _
from subtitle_rag.base.json_lines import (
    bad_queries,
    objects,
    refusing,
    seconds,
    string,
    unique,
)
from subtitle_rag.evaluation.questions import Dataset, Gold, Question
from subtitle_rag.evaluation.records import MADE_BY


def load_questions(path: Path) -> Dataset:
    """Read a file. Raises UsageError `unreadable`, or `bad_line` with the line and the reason."""
    entries = tuple(_questions(path))
    if not entries:
        raise bad_queries(path, 1, _("it holds no questions"))
    return Dataset(path, tuple(question for question, _by_model in entries), by_model=entries[0][1])


def _questions(path: Path) -> Iterator[tuple[Question, bool]]:
    """Yield every question, and whether a model wrote it; a file with both is refused."""
    ids: set[str] = set()
    file_by_model: bool | None = None
    for number, entry in objects(path):
        by_model = MADE_BY in entry or "origin" in entry
        with refusing(path, number):
            if file_by_model not in (None, by_model):
                raise ValueError(_("made and hand-made questions are mixed; keep them in separate files"))
            file_by_model = by_model
            if by_model and (MADE_BY in entry or "refused" in entry):
                continue
            question = _question(entry)
            unique(question.id, ids)
        ids.add(question.id)
        yield question, by_model


def _question(entry: Mapping[str, Any]) -> Question:
    gold, answer = entry.get("gold"), entry.get("answer")
    if not isinstance(gold, list) or not gold:
        raise ValueError(_("gold must be a list with at least one range"))
    ranges = tuple(map(_gold, gold))
    reference = answer if isinstance(answer, str) else ""
    return Question(string(entry, "id"), string(entry, "query"), string(entry, "kind"), ranges, reference)


def _gold(item: object) -> Gold:
    if not isinstance(item, dict):
        raise ValueError(_("each range in gold must have video, start and end"))
    start, end = seconds(item, "start"), seconds(item, "end")
    if end <= start:
        raise ValueError(_("a range in gold must end after its start"))
    return Gold(nfc(string(item, "video")), start, end)
