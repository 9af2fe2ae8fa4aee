"""`eval judge`: judgements of scenes and answers by a model, all stored in a file.

A small judge is poorly calibrated. Its figures only mean something in comparison with another run of the same judge
over the same questions. A failed measure is counted under its error's code.
"""

import logging
import statistics
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import AppError, LlmError, UsageError
from subtitle_rag.base.domain.progress import Meter, Progress
from subtitle_rag.base.i18n import _
from subtitle_rag.base.json_lines import objects, refused_line, refusing, string, unique
from subtitle_rag.evaluation import measures
from subtitle_rag.evaluation.llm_question import ENDING, Asker, Cost, context_size
from subtitle_rag.evaluation.measures import MEASURES, JudgedAnswer
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.records import Entry, Records
from subtitle_rag.models.neural.protocols import Encoder
from subtitle_rag.models.ollama.host_guard import canonical
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import ModelInfo
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher

logger = logging.getLogger(__name__)

COMMAND = "subtitle-rag eval judge"
LINE_FIELD = "measure"
SEED = 7
PATIENCE = 10
"""Consecutive failed judgements that end the run."""
NO_CLAIMS = "no_claims"


@dataclass(slots=True)
class MeasureResult:
    """The results of one measure. Every question is in `scores`, in `errors` or in `left_out`."""

    method: str
    scores: dict[str, float] = field(default_factory=dict)
    """Scores by question id."""
    by_kind: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.scores.values()) if self.scores else None

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "n": len(self.scores),
            "mean": self.mean,
            "by_kind": {kind: {"n": len(some), "mean": statistics.fmean(some)} for kind, some in self.by_kind.items()},
            "errors": dict(self.errors),
            "left_out": dict(self.left_out),
        }


@dataclass(slots=True)
class JudgeReport:
    questions: int
    judge: dict[str, str]
    rows: dict[str, dict[str, MeasureResult]]
    """Results by arm and measure, as the rows of `eval run`."""
    cost: Cost = field(default_factory=Cost)
    """Cost of this run, without the stored judgements."""
    blocked: AppError | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "queries": self.questions,
            "judge": self.judge,
            "rows": [
                {"name": arm, "measures": {name: figures.to_json() for name, figures in row.items()}}
                for arm, row in self.rows.items()
            ],
            **self.cost.to_json(),
        }


def judge_cases(
    questions: Sequence[Question],
    searcher: Searcher,
    *,
    scenes: int,
    answers: Mapping[str, str],
    retrievers: Sequence[str] | None = None,
) -> list[JudgedAnswer]:
    """Return the questions, each with the best scenes of the search and its answer, if there is one.

    Args:
        questions: the questions.
        searcher: the search.
        scenes: number of scenes per question.
        answers: answers by question id.
        retrievers: retrievers to use; None: all that can run.

    Raises:
        AppError: from `Searcher.stages`, or if a retriever or the reranker fails: all questions must have the same
            search.
    """
    cases = []
    for question in questions:
        scene_texts: list[str] = []
        try:
            query = parse_query(question.query)
        except UsageError:
            logger.info("a refused query finds nothing", exc_info=True)
        else:
            result = searcher.search(query, limit=scenes, retrievers=retrievers)
            if result.missing:
                raise result.missing[0][1]
            scene_texts = list(map(measures.prompt_text, result.scenes))
        cases.append(JudgedAnswer.about(question, answers.get(question.id, ""), scene_texts))
    return cases


def _bad_answers(path: Path, line: int, reason: str) -> UsageError:
    return refused_line(path, line, reason, "id, answer")


def read_answers(path: Path, questions: Sequence[Question]) -> dict[str, str]:
    """Return the answers in a file of JSON lines `{"id", "answer"}`; {} if it does not exist.

    Raises:
        UsageError: `unreadable`, `bad_line`.
    """
    if not path.exists():
        return {}
    ids = {question.id for question in questions}
    answers: dict[str, str] = {}
    for number, entry in objects(path, _bad_answers):
        with refusing(path, number, _bad_answers):
            id, answer = string(entry, "id"), string(entry, "answer")
            unique(id, answers)
            if id not in ids:
                raise ValueError(_("there is no question {id}").format(id=id))
        answers[id] = answer
    return answers


def choose_judge(
    hosts: Sequence[Llm], writer: str, model: str | None, *, allow_same: bool = False
) -> tuple[Llm, ModelInfo]:
    """Return `model`, else the first answering host's largest model other than the writer of contexts.

    Models are compared by digest, so that a second name does not count as a second opinion.

    Raises:
        UsageError: `judge_same` if it is the writer and that is not allowed.
        LlmError: from `Llm.check` and `Llm.models`.
    """
    failure: AppError | None = None
    for host in hosts:
        try:
            installed = host.models()
            writers = {info.digest for info in installed if canonical(info.name) == canonical(writer)}
            if model is None:
                local = [info for info in installed if not info.remote_host and info.digest not in writers]
                candidates = [info for info in local if not info.capabilities or "completion" in info.capabilities]
                largest = max(candidates, key=lambda info: (info.size, info.name), default=None)
                model = largest.name if largest else writer
            info = host.check(model)
        except AppError as error:
            logger.info("a host cannot judge", exc_info=True)
            failure = failure or error
            continue
        if (info.digest in writers or canonical(model) == canonical(writer)) and not allow_same:
            raise UsageError("judge_same", model=model)
        return host, info
    raise failure or LlmError("llm_off")


def _is_whole(entry: Entry) -> bool:
    score, error = entry.get("score"), entry.get("error")
    is_score = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    return (is_score if error is None else isinstance(error, str)) and Cost.is_json(entry)


@dataclass(slots=True)
class Judge:
    """A judging model, and the file of its judgements."""

    host: Llm
    info: ModelInfo
    encoder: Encoder | None
    records: Records
    stored: Mapping[Hashable, Entry] = field(init=False)
    """The judgements by key."""

    @classmethod
    def open(cls, path: Path, host: Llm, info: ModelInfo, encoder: Encoder | None = None) -> "Judge":
        """Read the judgements in a file, which need not exist.

        Raises:
            UsageError: `unreadable`, `not_own_file`; the latter for a damaged line, too.
        """
        return cls(host, info, encoder, Records.read(path, COMMAND, LINE_FIELD, _is_whole))

    def __post_init__(self) -> None:
        self.stored = self.records.index(measures.judgement_key)

    def to_json(self) -> dict[str, str]:
        info = self.info
        return {"model": info.name, "digest": info.digest, "prompt": measures.VERSION, "server": info.server}

    def frame(self, measure: str, case: JudgedAnswer) -> Entry:
        """Return the fields of a judgement that are known before it is made."""
        return {
            "id": case.id,
            "measure": measure,
            "method": measures.method(measure, self.encoder),
            "inputs": measures.inputs(measure, case),
            "judge": self.to_json(),
        }

    def find(self, frame: Entry) -> Entry | None:
        """Return the stored judgement, unless it must be tried again."""
        entry = self.stored.get(measures.judgement_key(frame))
        return entry if entry is not None and entry.get("error") in (None, NO_CLAIMS) else None

    def judge(self, arms: Mapping[str, Sequence[JudgedAnswer]]) -> Iterator[Progress | JudgeReport]:
        """Judge every case of every arm by every measure, unless stored. The last event is the `JudgeReport`.

        Failed judgements are tried again. All requests have the same `num_ctx`, which fits the longest of them.

        Raises:
            UsageError: `unwritable`.
        """
        self.records.begin()
        # a different one would make the server reload the model
        cases = [(arm, case) for arm, listed in arms.items() for case in listed]
        num_ctx = context_size(max((measures.tokens(case) for _arm, case in cases), default=0))
        asker = Asker(self.host, self.info, seed=SEED, num_ctx=num_ctx)
        rows = {arm: {name: MeasureResult(measures.method(name, self.encoder)) for name in MEASURES} for arm in arms}
        report = JudgeReport(max(map(len, arms.values()), default=0), self.to_json(), rows)
        run = _JudgeRun(self, asker, report)
        pairs = list(product(cases, MEASURES))
        meter = Meter("judgements", len(pairs))
        for done, ((arm, case), measure) in enumerate(pairs, start=1):
            run.count(arm, case, measure)
            yield meter.to(done)
        yield report


@dataclass(slots=True)
class _JudgeRun:
    judge: Judge
    asker: Asker
    report: JudgeReport
    failed: int = 0
    """Consecutive failures."""

    def count(self, arm: str, case: JudgedAnswer, measure: str) -> None:
        """Count a measure of a case, stored or judged."""
        result = self.report.rows[arm][measure]
        if reason := measures.left_out(measure, case):
            result.left_out[reason] += 1
            return
        entry = None
        if self.report.blocked is None:
            frame = self.judge.frame(measure, case)
            entry = self.judge.find(frame) or self._ask(case, measure, frame)
        if entry is None:
            result.errors["not_judged"] += 1
            return
        if entry.get("error") is None:
            result.scores[case.id] = float(entry["score"])
            result.by_kind.setdefault(case.kind, []).append(float(entry["score"]))
        else:
            result.errors[str(entry["error"])] += 1

    def _ask(self, case: JudgedAnswer, measure: str, frame: Entry) -> Entry | None:
        """Make and store a judgement; None if the judge cannot continue."""
        result: Mapping[str, Any]
        try:
            score = measures.score(measure, case, self.asker, self.judge.encoder)
        except AppError as error:
            logger.info("no judgement", exc_info=True)
            self.failed += 1
            if error.code in ENDING or self.failed >= PATIENCE:
                self.report.blocked = error
            if error.code in ENDING:
                self.report.cost.add(self.asker.spent())
                return None
            result = {"score": None, "error": error.code, "reason": error.message}
        else:
            self.failed = 0
            result = {"score": None, "error": NO_CLAIMS, "judgements": []}
            if score:
                result = {"score": round(score.value, 6), "error": None, "judgements": score.judgements}
        spent = self.asker.spent()
        self.report.cost.add(spent)
        entry = {**frame, **result, **spent.to_json()}
        self.judge.records.append(entry)
        return entry
