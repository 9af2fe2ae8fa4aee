"""Stored answers: the history of questions, which the user can delete."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from subtitle_rag.domain import Answer, Citation, EvidenceSource
from subtitle_rag.library.connection import Database


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


class Answers:
    """The library's table of answers. Every method can raise the errors of `Library`."""

    def __init__(self, database: Database) -> None:
        self._read = database.read
        self._write = database.write

    def put(self, answer: Answer, prompt: str) -> int:
        """Store an answer and return its id."""
        cited = {citation.number: citation.at_ms for citation in reversed(answer.citations)}
        sources = [s for s in answer.evidence.sources if s.number in cited or answer.evidence.kind == "search"]
        values = (
            int(time.time()),
            answer.question,
            answer.text,
            answer.model,
            prompt,
            answer.evidence.kind,
            answer.ending,
            json.dumps([asdict(_cited_scene(s, cited.get(s.number))) for s in sources], ensure_ascii=False),
            json.dumps([asdict(citation) for citation in answer.citations], ensure_ascii=False),
        )
        with self._write() as db:
            done = db.execute("INSERT INTO answer VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            return int(done.lastrowid or 0)

    def adopt(self, answer: StoredAnswer) -> bool:
        """Store another library's answer, with its time; return False if it is stored already."""
        values = (
            *(answer.asked_at, answer.question, answer.text, answer.model, answer.prompt, answer.way, answer.ending),
            json.dumps([asdict(scene) for scene in answer.sources], ensure_ascii=False),
            json.dumps([asdict(citation) for citation in answer.citations], ensure_ascii=False),
        )
        with self._write() as db:
            done = db.execute(
                """INSERT INTO answer SELECT NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE NOT EXISTS
                     (SELECT 1 FROM answer WHERE (asked_at, question, text) = (?1, ?2, ?3))""",
                values,
            )
            return done.rowcount > 0

    def latest(self, limit: int = 50) -> list[StoredAnswer]:
        """Return the latest answers, the newest first."""
        with self._read() as db:
            return [_answer(row) for row in db.execute("SELECT * FROM answer ORDER BY id DESC LIMIT ?", (limit,))]

    def get(self, id: int) -> StoredAnswer | None:
        with self._read() as db:
            row = db.execute("SELECT * FROM answer WHERE id = ?", (id,)).fetchone()
        return _answer(row) if row else None

    def forget(self, id: int | None = None) -> int:
        """Delete one answer, or all, and return their number."""
        with self._write() as db:
            if id is None:
                return db.execute("DELETE FROM answer").rowcount
            return db.execute("DELETE FROM answer WHERE id = ?", (id,)).rowcount


def _cited_scene(source: EvidenceSource, at_ms: int | None) -> CitedScene:
    """Return a source at the time of its first citation, or at the question's best line."""
    at = source.at_ms if at_ms is None else at_ms
    return CitedScene(source.number, source.scene, source.video.id, source.video.title, at, source.line(at))


def _answer(row: Sequence[Any]) -> StoredAnswer:
    id, asked_at, question, text, model, prompt, way, ending, sources, citations = row
    scenes = tuple(CitedScene(**entry) for entry in json.loads(sources))
    marks = tuple(map(_citation, json.loads(citations)))
    return StoredAnswer(id, asked_at, question, text, model, prompt, way, ending, scenes, marks)


def _citation(entry: dict[str, Any]) -> Citation:
    spans = {"span": tuple(entry["span"]), "claim": tuple(entry["claim"]), "missing": tuple(entry["missing"])}
    return Citation(**{**entry, **spans})
