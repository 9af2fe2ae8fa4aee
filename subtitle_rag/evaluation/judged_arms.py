"""`eval judge --arms`: the scenes and answers of several searches, judged by the same model.

Every scene list and answer is a line of a file, every judgement a line of another. A killed run asks for none of them
twice.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from subtitle_rag.answers import Answerer, AnswerOptions, AnswerPrompt, Gatherer
from subtitle_rag.contexts import estimate
from subtitle_rag.domain import Answer, AppError
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.arm_run import ArmRun
from subtitle_rag.evaluation.arms import Arm
from subtitle_rag.evaluation.dataset import load_about_scenes
from subtitle_rag.evaluation.judging import Judge, JudgementDone, JudgeReport, request_size
from subtitle_rag.evaluation.ladder import published_figure
from subtitle_rag.evaluation.llm_question import ENDING, Cost, ReplyStore
from subtitle_rag.evaluation.measures import MEASURES, JudgedAnswer, prompt_text
from subtitle_rag.evaluation.metrics import Mean
from subtitle_rag.evaluation.published_arms import RERANK, ArmsRequest, open_arms
from subtitle_rag.evaluation.questions import GoldSet, Question, gold_set
from subtitle_rag.evaluation.records import Entry, Records, hash_parts
from subtitle_rag.library import all_windows
from subtitle_rag.llm import Llm, ModelInfo
from subtitle_rag.runtime import Runtime

COMMAND = "subtitle-rag eval judge --arms"
LINE_FIELD = "arm"
RANKED = 20
"""Windows of a ranking that are kept: as many as the deepest failure looks at."""
PATIENCE = 10
"""Failed answers in a row, after which the run ends."""
FAILURES = {f"failure@{depth}": depth for depth in (5, 10, 20)}
"""The retrieval failures, each with its number of windows."""


@dataclass(frozen=True, slots=True)
class ArmsCost:
    """The cost that is still to come, at most; counted before the first request."""

    answers: int
    judgements: int
    """Calls of the judge."""
    tokens: int
    """To read, about."""
    pairs: int
    """Pairs of question and window that the reranker reads."""
    seconds: float | None
    """About, by the calls in the files and the speed of the reranker; None without such calls."""


@dataclass(frozen=True, slots=True)
class AnswerStored:
    """A question was searched and answered."""

    done: int
    total: int


@dataclass(slots=True)
class ArmFigures:
    """What one arm has reached."""

    arm: Arm
    setting: str
    """How many windows have contexts; empty without any."""
    means: dict[str, Mean | None]
    """By measure and failure; None where nothing was judged."""
    judged: dict[str, Any]
    """`MeasureResult.to_json` by measure."""
    cost: Cost
    """Cost of its answers and judgements, with those of earlier runs."""
    gains: dict[str, Mean] = field(default_factory=dict)
    """Over the arm before it, on the questions that both have."""

    @property
    def published(self) -> float | None:
        """The article's failure@20 of this arm."""
        figure = published_figure(self.arm)
        return figure[0] if figure else None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.arm.name,
            "retrievers": list(self.arm.retrievers),
            "contexts": self.setting,
            "rerank_depth": self.arm.rerank,
            "measures": self.judged,
            "intervals": self._means_json(MEASURES),
            "failures": self._means_json(FAILURES),
            "published_failure@20": self.published,
            **metrics.gains_json("over_previous", self.gains),
            "cost": self.cost.to_json(),
        }

    def _means_json(self, names: Iterable[str]) -> dict[str, list[float] | None]:
        return {name: mean.to_json() if (mean := self.means[name]) else None for name in names}


@dataclass(slots=True)
class ArmsReport:
    questions: int
    judge: dict[str, str]
    answers_by: str
    rows: list[ArmFigures] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)
    """Cost of this run."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Arm → the reason why it takes no part."""
    missing: tuple[str, ...] = ()
    """Videos of the questions that the library lacks."""
    blocked: AppError | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "queries": self.questions,
            "judge": self.judge,
            "answers_by": self.answers_by,
            "arms": [row.to_json() for row in self.rows],
            "left_out": self.left_out,
            "missing": list(self.missing),
            **self.cost.to_json(),
        }


ArmsEvent = ArmsCost | AnswerStored | JudgementDone | ArmsReport

_Answered = tuple[Question, Entry]
"""A question with its line."""


def arms_path(judged_path: Path) -> Path:
    """Return the file of scenes and answers that belongs to a file of judgements."""
    return judged_path.with_name(f"{judged_path.name.removesuffix('.jsonl').removesuffix('.judged')}.arms.jsonl")


def judge_arms(
    runtime: Runtime,
    path: Path,
    judged_path: Path,
    request: ArmsRequest,
    answering: tuple[Llm, ModelInfo],
    judging: tuple[Llm, ModelInfo],
) -> Iterator[ArmsEvent]:
    """Search, answer and judge the questions of `path` by every arm. The last event is the `ArmsReport`.

    Scenes and answers are in a file beside `judged_path`, see `arms_path`. What the files contain is not requested
    again.

    Raises:
        UsageError: `unreadable`, `bad_queries`, `bad_prompt`, `unwritable`; `not_own_file` for a file with a damaged
            line; `arm_not_ready` for an arm without its models or contexts; `retriever_not_ready`.
        BusyError, AppError: from the library, the index and the models.
    """
    windows = all_windows(runtime.library)
    gold = gold_set(load_about_scenes(path), runtime.library, windows)
    records = Records.read(arms_path(judged_path), COMMAND, LINE_FIELD, _is_whole)
    models = EvalModels.of(runtime, rerank=RERANK in request.names)
    judge = Judge.open(judged_path, *judging, models.encoder)
    prompt = runtime.answer_prompt()
    with ExitStack() as opened:
        arms, left_out = open_arms(runtime, request, models, opened)
        records.begin()
        report = ArmsReport(len(gold.questions), {}, answering[1].name, left_out=left_out, missing=gold.missing)
        run = _ArmsRun(runtime, gold, arms, models, records, answering, prompt, request.scenes, judge, report)
        yield run.missing_cost(sum(map(len, windows.values())))
        yield from run.answer_all()
        if report.blocked is None:
            yield from run.judge_all()
    yield report


def _is_whole(entry: Entry) -> bool:
    if "request" in entry:
        return isinstance(entry["request"], str) and isinstance(entry.get("reply"), str) and Cost.is_json(entry)
    texts = ("arm", "id", "search", "asked", "answer")
    lists = (entry.get("ranking"), entry.get("scenes"))
    return (
        all(isinstance(entry.get(name), str) for name in texts)
        and all(isinstance(some, list) and all(isinstance(text, str) for text in some) for some in lists)
        and Cost.is_json(entry)
    )


@dataclass(slots=True)
class _ArmsRun:
    """The scenes that arms find, the answers of one model by one prompt, and their judgements by another."""

    runtime: Runtime
    gold: GoldSet
    arms: Sequence[ArmRun]
    models: EvalModels
    records: Records
    model: tuple[Llm, ModelInfo]
    prompt: AnswerPrompt
    scenes: int
    """Scenes of each search and answer."""
    judge: Judge
    report: ArmsReport
    _by_request: Mapping[Hashable, Entry] = field(init=False)
    """Lines by the hash of all that an answer depends on: the same scenes need no second answer."""
    _by_search: Mapping[Hashable, Entry] = field(init=False)
    """Lines by arm, id of question, and the hash of all that the search and its answer depend on."""

    def __post_init__(self) -> None:
        self._by_request = self.records.index(lambda entry: entry.get("asked"))
        self._by_search = self.records.index(lambda entry: tuple(map(entry.get, ("arm", "id", "search"))))

    def _search_key(self, run: ArmRun, question: Question) -> str:
        return hash_parts([run.signature, question.query, self.scenes, self.model[1].digest, self.prompt.version])

    def _find(self, run: ArmRun, question: Question) -> Entry | None:
        """Return the line about a question, if the file has it."""
        return self._by_search.get((run.arm.name, question.id, self._search_key(run, question)))

    def missing_cost(self, windows: int) -> ArmsCost:
        """Return the cost of what the files lack, at most."""
        scene_tokens = self._scene_tokens()
        answers = calls = tokens = pairs = 0
        for each in self.arms:
            for question in self.gold.questions:
                entry = self._find(each, question)
                if entry is None:
                    answers += 1
                    tokens += self.scenes * scene_tokens
                    pairs += min(each.arm.rerank, windows)
                for measure in self.judge.missing(_case(question, entry)):
                    calls += self.scenes if measure == "context_precision" else 1
                    tokens += scene_tokens if measure == "answer_relevancy" else self.scenes * scene_tokens
        return ArmsCost(answers, calls, tokens, pairs, self._seconds(answers, calls, pairs))

    def _scene_tokens(self) -> int:
        """Estimate the tokens of a scene by the first windows of the library."""
        library = self.runtime.library
        ids = [state.video.id for state in library.videos() if state.windows][:8]
        texts = [window.text for id in ids for window in library.windows_of(id)]
        return sum(map(estimate, texts)) // max(1, len(texts))

    def _seconds(self, answers: int, calls: int, pairs: int) -> float | None:
        if not (answers or calls or pairs):
            return None
        seconds = self.models.rerank_seconds(pairs) or 0.0
        for count, entries in ((answers, self._by_request), (calls, self.judge.stored)):
            cost = Cost.of_json(*entries.values())
            if count and not cost.calls:
                return None
            seconds += count * cost.ms / 1000 / max(1, cost.calls)
        return seconds

    def answer_all(self) -> Iterator[AnswerStored]:
        """Search and answer what the file lacks."""
        pairs = list(product(self.arms, self.gold.questions))
        failed = 0
        for done, (each, question) in enumerate(pairs, start=1):
            if self._find(each, question) is None:
                error = self._add(each, question)
                failed = failed + 1 if error is not None else 0
                if error is not None and (error.code in ENDING or failed >= PATIENCE):
                    self.report.blocked = error
                    return
            yield AnswerStored(done, len(pairs))

    def _add(self, run: ArmRun, question: Question) -> AppError | None:
        """Search and answer a question, and store both; return the failure of the model."""
        result, ranking = run.search_text(question.query, self.scenes) or (None, [])
        texts = list(map(prompt_text, result.scenes)) if result else []
        host, info = self.model
        request = hash_parts([question.query, texts, info.digest, self.prompt.version])
        text, cost = "", Cost()
        if (before := self._by_request.get(request)) is not None:
            text, cost = str(before["answer"]), Cost.of_json(before)
        elif result and texts:
            gatherer = Gatherer(run.view.library, run, self.runtime.words, self.scenes, self.prompt)
            answerer = Answerer(gatherer, [host], info.name)
            *_events, answer = answerer.conversation(AnswerOptions(self.scenes)).ask(result.query)
            assert isinstance(answer, Answer)
            if answer.error is not None:
                return answer.error
            text = answer.text
            cost = Cost(1, 0, answer.prompt_tokens or 0, answer.tokens or 0, round(answer.took_ms.get("answer", 0)))
            self.report.cost.add(cost)
        entry: Entry = {
            "arm": run.arm.name,
            "id": question.id,
            "search": self._search_key(run, question),
            "asked": request,
            "ranking": ranking[:RANKED],
            "scenes": texts,
            "answer": text,
            "answered_by": {"model": info.name, "digest": info.digest, "prompt": self.prompt.version},
            **cost.to_json(),
        }
        self.records.append(entry)
        return None

    def judge_all(self) -> Iterator[JudgementDone]:
        """Judge what every arm has found and answered, and add its row to the report."""
        answered = [
            [(question, entry) for question in self.gold.questions if (entry := self._find(each, question))]
            for each in self.arms
        ]
        listed = [[_case(question, entry) for question, entry in pairs] for pairs in answered]
        every_case = [case for cases in listed for case in cases]
        # one size for all: another one would make the server load the model again
        num_ctx = request_size(every_case)
        replies = ReplyStore(self.records, LINE_FIELD)
        previous: Mapping[str, Mapping[str, float]] = {}
        done, total = 0, len(every_case) * len(MEASURES)
        for each, pairs, cases in zip(self.arms, answered, listed, strict=True):
            result: JudgeReport | None = None
            for event in self.judge.judge(cases, num_ctx=num_ctx, replies=replies):
                if isinstance(event, JudgeReport):
                    result = event
                else:
                    yield replace(event, done=done + event.done, total=total)
            assert result is not None  # the last event
            done += len(cases) * len(MEASURES)
            self.report.judge = result.judge
            self.report.cost.add(result.cost)
            values = {name: some.scores for name, some in result.measures.items()} | self._failures(pairs)
            self.report.rows.append(_figures(each, pairs, result, values, previous))
            previous = values
            if result.blocked is not None:
                self.report.blocked = result.blocked
                return

    def _failures(self, pairs: Sequence[_Answered]) -> dict[str, dict[str, float]]:
        """Return by depth and question the share of its ranges that the best windows do not show."""
        gold = {question.id: windows for question, windows in zip(self.gold.questions, self.gold.windows, strict=True)}
        return {
            name: {
                question.id: 1.0 - metrics.recall(gold[question.id], entry["ranking"][:depth])
                for question, entry in pairs
            }
            for name, depth in FAILURES.items()
        }


def _case(question: Question, entry: Entry | None) -> JudgedAnswer:
    """Return the case of a line; without one, a case that could be judged by every measure."""
    return JudgedAnswer.about(question, entry["answer"] if entry else "?", entry["scenes"] if entry else "?")


def _figures(
    each: ArmRun,
    pairs: Sequence[_Answered],
    result: JudgeReport,
    values: Mapping[str, Mapping[str, float]],
    previous: Mapping[str, Mapping[str, float]],
) -> ArmFigures:
    """Return an arm's figures; `values` and those of the arm before it are by measure or depth, and question."""
    cost = Cost.of_json(*(entry for _question, entry in pairs))
    cost.add(result.total)
    gains = {
        name: metrics.mean([values[name][id] - before[id] for id in values[name] if id in before])
        for name, before in previous.items()
    }
    return ArmFigures(
        arm=each.arm,
        setting=each.view.setting,
        means={name: metrics.mean(list(some.values())) for name, some in values.items()},
        judged={name: some.to_json() for name, some in result.measures.items()},
        cost=cost,
        gains={name: gain for name, gain in gains.items() if gain is not None},
    )
