"""`eval make`: questions by a local model about the library's windows, written line by line to a file.

Each line names its origin, so that generated questions never pass for a person's. The file is the checkpoint: kill -9
loses only the current question.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.evaluation import question_drafts
from subtitle_rag.evaluation.llm_question import ENDING, Asker, Cost
from subtitle_rag.evaluation.question_drafts import Draft
from subtitle_rag.evaluation.questions import Gold
from subtitle_rag.evaluation.records import Entry, Records
from subtitle_rag.evaluation.sampling import MULTI, SHARES, SPANNING_SHARE, Candidate, candidates, drawn_videos, quotas
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.store import Library
from subtitle_rag.models.ollama.llm_client import Llm, host_with

logger = logging.getLogger(__name__)

COMMAND = "subtitle-rag eval make"
LINE_FIELD = "origin"
"""A field in every line but the first."""
SEED = 7
PATIENCE = 20
"""Consecutive refused candidates that end the run."""
OPEN = "open"
DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class QuestionMade:
    """A candidate led to a question."""

    kind: str
    query: str
    questions: int
    """Number of questions in the file, including this one."""


@dataclass(frozen=True, slots=True)
class QuestionRefused:
    """A candidate was refused for this reason."""

    kind: str
    reason: str


@dataclass(slots=True)
class MakeReport:
    """Totals of a run, and of the file after it."""

    count: int
    by_kind: dict[str, int]
    """Number of questions in the file."""
    spanning: int = 0
    """Number of questions of `MULTI` in the file with windows in two videos."""
    videos: int | None = None
    """Number of chosen videos; None: the whole library."""
    new: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Refused questions in this run, by reason."""
    cost: Cost = field(default_factory=Cost)
    blocked: AppError | None = None
    """Why there are fewer questions than `count`."""

    def to_json(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "questions": sum(self.by_kind.values()),
            "by_kind": dict(self.by_kind),
            "spanning": self.spanning,
            "videos": self.videos,
            "new": self.new,
            "refused": dict(self.refused),
            **self.cost.to_json(),
        }


MakeEvent = QuestionMade | QuestionRefused | MakeReport


def read(path: Path) -> Records:
    """Read a file of generated questions. Raises UsageError `unreadable`, `not_own_file`."""
    return Records.read(path, COMMAND, LINE_FIELD)


def make_questions(
    library: Library,
    hosts: Sequence[Llm],
    analyzer: Analyzer,
    path: Path,
    count: int,
    *,
    default: str,
    model: str | None = None,
    seed: int | None = None,
    videos: int | None = None,
) -> Iterator[MakeEvent]:
    """Generate questions until the file has `count` of them. The last event is the `MakeReport`.

    An argument that is None keeps the value in the file's first line, if there is one.

    Args:
        library: the library.
        hosts: hosts of the model.
        analyzer: for the morphemes.
        path: file of the questions.
        count: number of questions to reach.
        default: name of the model, if neither `model` nor the file names one.
        model: name of the model.
        seed: for the random choices.
        videos: number of videos to choose by the seed; by default all.

    Raises:
        UsageError: `unreadable`, `unwritable`, `not_own_file`; `questions_differ` for a file of another model, seed or
            prompt.
        LlmError: if no host can be used; later failures are in the report.
    """
    records = read(path)
    head = records.head
    host, info = host_with(hosts, model or head.get("model") or default)
    seed = seed if seed is not None else int(head.get("seed", SEED))
    origin = {"model": info.name, "digest": info.digest, "prompt": question_drafts.VERSION, "seed": seed}
    for name in ("digest", "prompt", "seed"):
        if head and head.get(name) != origin[name]:
            raise UsageError("questions_differ", path=str(path), name=name, before=head.get(name), now=origin[name])
    ids = _drawn_videos(library, path, head, videos, seed)
    first_line = {**origin, "shares": SHARES, "spanning": SPANNING_SHARE, **({"videos": ids} if ids else {})}
    records.begin(first_line)
    asker = Asker(host, info, seed=seed, num_ctx=question_drafts.NUM_CTX)
    yield from _Generation(library, analyzer, asker, records, origin, count, ids).run()


def _drawn_videos(library: Library, path: Path, head: Entry, count: int | None, seed: int) -> list[str] | None:
    """Return the videos in a file, else `count` random ones; None for all.

    Args:
        library: the library.
        path: the file, for errors.
        head: its first line.
        count: number of videos.
        seed: for the random choice.

    Raises:
        UsageError: `not_own_file` if the file's list is damaged, `questions_differ` if its number differs.
    """
    stored = head.get("videos")
    if stored is not None and not (isinstance(stored, list) and all(isinstance(id, str) for id in stored)):
        raise UsageError("not_own_file", path=str(path), line=1, command=COMMAND)
    ids = list(drawn_videos(library, count, seed)) if count is not None else None
    if head and ids is not None and len(ids) != len(stored or ()):
        raise UsageError(
            "questions_differ", path=str(path), name="videos", before=len(stored) if stored else None, now=len(ids)
        )
    return stored if head else ids


@dataclass(slots=True)
class _Generation:
    library: Library
    analyzer: Analyzer
    asker: Asker
    records: Records
    origin: Entry
    count: int
    ids: list[str] | None
    by_kind: Counter[str] = field(default_factory=Counter)
    spanning: int = 0
    """Number of questions of `MULTI` with windows in two videos."""
    used: set[tuple[str, ...]] = field(default_factory=set)
    """Windows, or pairs of them, in earlier questions and refusals; single windows of a pair stay free."""
    queries: list[str] = field(default_factory=list)
    _pairs_across: Iterator[Candidate] = field(default_factory=lambda: iter(()))
    """Candidates with windows in two videos."""

    def __post_init__(self) -> None:
        for entry in self.records.entries:
            self._note(entry)

    def _note(self, entry: Entry) -> None:
        self.used.add(tuple(entry.get("windows", ())))
        if "query" in entry and "refused" not in entry:
            self.by_kind[str(entry.get("kind"))] += 1
            self.spanning += _is_spanning(entry)
            self.queries.append(str(entry["query"]))

    def run(self) -> Iterator[MakeEvent]:
        report = MakeReport(self.count, {})
        quota = quotas(self.count)
        pools = {kind: self._pool(kind) for kind in SHARES}
        self._pairs_across = self._pool(MULTI, spanning=True)
        refusals = 0
        while kind := self._next_kind(quota, pools):
            candidate = self._next(kind, pools[kind])
            if candidate is None:
                del pools[kind]
                continue
            try:
                event = self._try(candidate)
            except AppError as error:
                logger.info("no question was made", exc_info=True)
                if error.code in ENDING or isinstance(error, UsageError):
                    report.blocked = error
                    break
                event = self._refuse(candidate, error.code)
            finally:
                report.cost.add(self.asker.spent())
            yield event
            if isinstance(event, QuestionMade):
                report.new += 1
                refusals = 0
                continue
            report.refused[event.reason] += 1
            refusals += 1
            if refusals >= PATIENCE:
                report.blocked = AppError("questions_refused", n=refusals, reason=event.reason)
                break
        report.by_kind = {kind: self.by_kind[kind] for kind in SHARES}
        report.spanning, report.videos = self.spanning, len(self.ids) if self.ids else None
        missing = [kind for kind in SHARES if self.by_kind[kind] < quota[kind]]
        if missing and not report.blocked:
            report.blocked = AppError(
                "questions_short", n=sum(self.by_kind.values()), count=self.count, kinds=", ".join(missing)
            )
        yield report

    def _next_kind(self, quota: Mapping[str, int], pools: Collection[str]) -> str | None:
        """Return the kind furthest below its share, among those with candidates left."""
        total = sum(self.by_kind.values()) + 1
        kinds = [kind for kind in pools if self.by_kind[kind] < quota[kind]]
        return max(kinds, key=lambda kind: SHARES[kind] * total - self.by_kind[kind], default=None)

    def _pool(self, kind: str, *, spanning: bool = False) -> Iterator[Candidate]:
        every = candidates(self.library, kind, int(self.origin["seed"]), self.ids, spanning=spanning)
        return (candidate for candidate in every if candidate.ids not in self.used)

    def _next(self, kind: str, pool: Iterator[Candidate]) -> Candidate | None:
        """Return the next candidate: from two videos if their share of `MULTI` is too small or no others are left.

        And the other way around: a library with one video has no pairs across videos.
        """
        pools = [pool]
        if kind == MULTI:
            is_behind = self.spanning <= SPANNING_SHARE * self.by_kind[MULTI]
            pools = [self._pairs_across, pool] if is_behind else [pool, self._pairs_across]
        return next((candidate for some in pools for candidate in some), None)

    def _try(self, candidate: Candidate) -> QuestionMade | QuestionRefused:
        draft = question_drafts.normalized(self.asker.ask(question_drafts.question(candidate)))
        reason = question_drafts.refusal_reason(draft, candidate, self.queries, self.analyzer)
        if reason is None:
            # a user would not need the scene either
            answer = self.asker.ask(question_drafts.closed_book(draft.query))
            if answer and self.asker.ask(question_drafts.same(draft.query, draft.answer, answer)):
                reason = "known"
        if reason:
            return self._refuse(candidate, reason, draft)
        id = f"made-{self.origin['seed']}-{len(self.records.entries) + 1:04d}"
        spans = question_drafts.gold_ranges(draft, candidate)
        # fields for `eval run`, and the evidence for a reviewer and a judge
        entry = {
            "id": id,
            "query": draft.query,
            "kind": candidate.kind,
            "gold": [_seconds(span) for span in spans],
            "answer": draft.answer,
            "evidence": [
                {"quote": quote, **_seconds(span), "title": video.title}
                for quote, span, (video, _name) in zip(draft.quotes, spans, candidate.videos, strict=True)
            ],
            "title": candidate.video.title,
            "review": OPEN,
        }
        self._store(candidate, entry)
        return QuestionMade(candidate.kind, draft.query, sum(self.by_kind.values()))

    def _refuse(self, candidate: Candidate, reason: str, draft: Draft | None = None) -> QuestionRefused:
        self._store(candidate, {"refused": reason, **({"query": draft.query} if draft else {}), "kind": candidate.kind})
        return QuestionRefused(candidate.kind, reason)

    def _store(self, candidate: Candidate, entry: Entry) -> None:
        line = {**entry, "windows": list(candidate.ids), LINE_FIELD: self.origin}
        self.records.append(line)
        self._note(line)


def _is_spanning(entry: Mapping[str, Any]) -> bool:
    """Whether the ranges of a stored question are in several videos."""
    gold = entry.get("gold")
    return isinstance(gold, list) and len({str(span.get("video")) for span in gold if isinstance(span, dict)}) > 1


def _seconds(gold: Gold) -> Entry:
    return {"video": gold.video, "start": gold.start_ms / 1000, "end": gold.end_ms / 1000}


class Review:
    """The questions in one file, and the decisions on them."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises UsageError `no_questions`, `unreadable`, `not_own_file`."""
        self._records = read(path)
        if not self._records.head:
            raise UsageError("no_questions", path=str(path))

    @property
    def open(self) -> list[Entry]:
        """The questions without a decision."""
        questions = (entry for entry in self._records.entries if {"id", "query"} <= entry.keys())
        return [entry for entry in questions if entry.get("review") == OPEN and "refused" not in entry]

    def counts(self) -> dict[str, int]:
        """Return the numbers of open, kept, edited and dropped questions."""
        counts = Counter(dict.fromkeys((OPEN, "kept", "edited", DROPPED), 0))
        for entry in self._records.entries:
            if "refused" not in entry:
                counts[str(entry.get("review"))] += 1
            elif entry["refused"] == DROPPED:
                counts[DROPPED] += 1
        return dict(counts)

    def keep(self, id: str) -> None:
        self._put(id, {"review": "kept"})

    def edit(self, id: str, query: str) -> None:
        """Replace the model's question, which is stored along with the new one.

        Raises:
            UsageError: `not_plain` if the search would read part of it as a filter, a phrase or an exclusion.
        """
        if not question_drafts.is_plain(query):
            raise UsageError("not_plain", query=query)
        before = next(entry for entry in self._records.entries if entry.get("id") == id)
        self._put(id, {"review": "edited", "query": query, "made_query": before.get("made_query", before["query"])})

    def drop(self, id: str) -> None:
        """Drop a question; `eval make` makes another about other windows."""
        self._put(id, {"refused": DROPPED})

    def _put(self, id: str, changes: Entry) -> None:
        self._records.replace(
            {**entry, **changes} if entry.get("id") == id else entry for entry in self._records.entries
        )
