"""Stored answers: the history of questions. The user can delete it."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from subtitle_rag.base.domain.answer_values import Answer, Citation, EvidenceSource, UnfoundedClaim
from subtitle_rag.library.connection import Store


@dataclass(frozen=True, slots=True)
class CitedScene:
    """A source of a stored answer. Its window may have left the library since."""

    number: int
    scene: str
    video: str
    title: str
    at_ms: int
    line: str


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer with its citations, as stored."""

    id: int
    asked_at: int
    """Unix seconds."""
    question: str
    text: str
    model: str
    prompt: str
    """The version of the prompt."""
    way: str
    ending: str
    sources: tuple[CitedScene, ...]
    """Cited sources, or all sources of a search."""
    citations: tuple[Citation, ...]
    unfounded: tuple[UnfoundedClaim, ...] = ()


class Answers(Store):
    def put(self, answer: Answer, prompt: str) -> int:
        """Store an answer and return its id."""
        cited = {citation.number: citation.at_ms for citation in reversed(answer.citations)}
        sources = [s for s in answer.evidence.sources if s.number in cited or answer.evidence.kind == "search"]
        values = (
            *(int(time.time()), answer.question, answer.text, answer.model, prompt, answer.evidence.kind),
            answer.ending,
            _json(_cited_scene(source, cited.get(source.number)) for source in sources),
            _json(answer.citations),
            _json(answer.unfounded),
        )
        with self._database.write() as db:
            done = db.execute("INSERT INTO answer VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            return int(done.lastrowid or 0)

    def latest(self, limit: int = 50) -> list[StoredAnswer]:
        """Return the latest answers, the newest first."""
        return [_answer(row) for row in self._database.rows("SELECT * FROM answer ORDER BY id DESC LIMIT ?", (limit,))]

    def get(self, id: int) -> StoredAnswer | None:
        row = self._database.row("SELECT * FROM answer WHERE id = ?", (id,))
        return _answer(row) if row else None

    def count(self) -> int:
        return int(self._database.row("SELECT count(*) FROM answer")[0])

    def forget(self, id: int | None = None) -> int:
        """Delete one answer, or all, and return their number."""
        return self._database.change("DELETE FROM answer WHERE id = coalesce(?, id)", (id,))


def _cited_scene(source: EvidenceSource, at_ms: int | None) -> CitedScene:
    """Return a source with the time of its first citation, or else of the question's best line."""
    at = source.at_ms if at_ms is None else at_ms
    return CitedScene(source.number, source.scene, source.video.id, source.video.title, at, source.line(at))


def _json(values: Iterable[CitedScene | Citation | UnfoundedClaim]) -> str:
    return json.dumps([asdict(value) for value in values], ensure_ascii=False)


def _answer(row: Sequence[Any]) -> StoredAnswer:
    id, asked_at, question, text, model, prompt, method, ending, sources, citations, unfounded = row
    scenes = tuple(CitedScene(**entry) for entry in json.loads(sources))
    marks = tuple(map(_citation, json.loads(citations)))
    claims = tuple(
        UnfoundedClaim(**dict(zip(each, map(tuple, each.values()), strict=True))) for each in json.loads(unfounded)
    )
    return StoredAnswer(id, asked_at, question, text, model, prompt, method, ending, scenes, marks, claims)


def _citation(entry: dict[str, Any]) -> Citation:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return Citation(**values)
