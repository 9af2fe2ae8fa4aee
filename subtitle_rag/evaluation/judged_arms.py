"""`eval judge --arms`: the scenes and answers of several searches, judged by the same model.

Every scene list and answer is a line of a file, every judgement a line of another. A killed run asks for none of them
twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from subtitle_rag.domain import AppError
from subtitle_rag.evaluation import arm_answers, judging, metrics
from subtitle_rag.evaluation.arm_answers import ArmAnswers
from subtitle_rag.evaluation.arm_run import ArmRun
from subtitle_rag.evaluation.arms import Arm
from subtitle_rag.evaluation.dataset import load_about_scenes
from subtitle_rag.evaluation.judging import JudgementDone, JudgeReport
from subtitle_rag.evaluation.llm_question import ENDING, Cost, ReplyStore
from subtitle_rag.evaluation.measures import MEASURES
from subtitle_rag.evaluation.metrics import Gap
from subtitle_rag.evaluation.published_arms import ArmsRequest, PublishedArms
from subtitle_rag.evaluation.questions import GoldSet, gold_set
from subtitle_rag.evaluation.records import Records
from subtitle_rag.library import all_windows
from subtitle_rag.llm import Llm, ModelInfo
from subtitle_rag.runtime import Runtime

PATIENCE = 10
"""Failed answers in a row, after which the run ends."""
DEPTHS = (5, 10, 20)
"""Windows of the retrieval failures."""


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
    measures: dict[str, Gap | None]
    """Mean and interval; None where nothing was judged."""
    failures: dict[str, Gap | None]
    """By depth: `failure@5`."""
    judged: dict[str, Any]
    """`MeasureResult.to_json` by measure."""
    cost: Cost
    """Cost of its answers and judgements, with those of earlier runs."""
    gains: dict[str, Gap] = field(default_factory=dict)
    """Over the arm before it, on the questions that both have."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.arm.name,
            "retrievers": list(self.arm.retrievers),
            "contexts": self.setting,
            "rerank_depth": self.arm.rerank,
            "measures": self.judged,
            "intervals": {name: gap.to_json() if gap else None for name, gap in self.measures.items()},
            "failures": {name: gap.to_json() if gap else None for name, gap in self.failures.items()},
            "published_failure@20": self.arm.published[0] if self.arm.published else None,
            **metrics.gaps_json("over_previous", self.gains),
            "cost": self.cost.to_json(),
        }


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


def judge_arms(
    runtime: Runtime,
    path: Path,
    judged_path: Path,
    request: ArmsRequest,
    answering: tuple[Llm, ModelInfo],
    judge: tuple[Llm, ModelInfo],
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
    own = arm_answers.arms_path(judged_path)
    records = arm_answers.read(own)
    judged = judging.read(judged_path)
    prompt = runtime.answer_prompt()
    with ExitStack() as opened:
        arms = PublishedArms.open(runtime, request, opened)
        records = records or Records.begin(own, arm_answers.COMMAND, {})
        answers = ArmAnswers(runtime, records, answering, prompt, request.scenes)
        report = ArmsReport(len(gold.questions), {}, answering[1].name, left_out=arms.left_out, missing=gold.missing)
        run = _ArmsRun(gold, arms, answers, judge, judged_path)
        yield run.cost(judged, sum(map(len, windows.values())))
        yield from run.run(report)
    yield report


@dataclass(frozen=True, slots=True)
class _ArmsRun:
    gold: GoldSet
    published: PublishedArms
    answers: ArmAnswers
    judge: tuple[Llm, ModelInfo]
    judged_path: Path

    def cost(self, judged: judging.Judgements, windows: int) -> ArmsCost:
        """Return the cost of what the files lack, at most."""
        scenes, scene_tokens = self.answers.scenes, self.answers.scene_tokens()
        answers = calls = tokens = pairs = 0
        for each in self.published.arms:
            for question in self.gold.questions:
                entry = self.answers.find(each, question)
                if entry is None:
                    answers += 1
                    tokens += scenes * scene_tokens
                    pairs += min(each.arm.rerank, windows)
                case = arm_answers.case(question, entry)
                for measure in judging.missing(case, judged, self.judge[1], self.published.models.encoder):
                    calls += scenes if measure == "context_precision" else 1
                    tokens += scene_tokens if measure == "answer_relevancy" else scenes * scene_tokens
        return ArmsCost(answers, calls, tokens, pairs, self._seconds(answers, calls, pairs, judged))

    def _seconds(self, answers: int, calls: int, pairs: int, judged: judging.Judgements) -> float | None:
        if not (answers or calls or pairs):
            return None
        seconds = self.published.models.rerank_seconds(pairs) or 0.0
        for count, cost in ((answers, self.answers.cost), (calls, Cost.of_json(*judged.values()))):
            if count and not cost.calls:
                return None
            seconds += count * cost.ms / 1000 / max(1, cost.calls)
        return seconds

    def run(self, report: ArmsReport) -> Iterator[AnswerStored | JudgementDone]:
        """Fill the report."""
        arms, questions = self.published.arms, self.gold.questions
        pairs = [(each, question) for each in arms for question in questions]
        failed = 0
        for done, (each, question) in enumerate(pairs, start=1):
            if self.answers.find(each, question) is None:
                error = self.answers.add(each, question, report.cost)
                failed = failed + 1 if error is not None else 0
                if error is not None and (error.code in ENDING or failed >= PATIENCE):
                    report.blocked = error
                    return
            yield AnswerStored(done, len(pairs))
        yield from self._judge(report)

    def _judge(self, report: ArmsReport) -> Iterator[JudgementDone]:
        answered = [self.answers.of_arm(each, self.gold.questions) for each in self.published.arms]
        listed = [[arm_answers.case(question, entry) for question, entry in pairs] for pairs in answered]
        every_case = [case for cases in listed for case in cases]
        # one size for all: another one would make the server load the model again
        num_ctx = judging.request_size(every_case)
        replies = ReplyStore(self.answers.records, arm_answers.LINE_FIELD)
        previous: Mapping[str, Mapping[str, float]] = {}
        done, total = 0, len(every_case) * len(MEASURES)
        for each, pairs, cases in zip(self.published.arms, answered, listed, strict=True):
            result: JudgeReport | None = None
            for event in judging.judge(
                cases, self.judged_path, *self.judge, self.published.models.encoder, num_ctx=num_ctx, replies=replies
            ):
                if isinstance(event, JudgeReport):
                    result = event
                else:
                    yield replace(event, done=done + event.done, total=total)
            assert result is not None  # the last event
            done += len(cases) * len(MEASURES)
            report.judge = result.judge
            report.cost.add(result.cost)
            values = {name: some.scores for name, some in result.measures.items()} | self._failures(pairs)
            report.rows.append(_figures(each, pairs, result, values, previous))
            previous = values
            if result.blocked is not None:
                report.blocked = result.blocked
                return

    def _failures(self, pairs: Sequence[arm_answers.Answered]) -> dict[str, dict[str, float]]:
        """Return by depth and question the share of its ranges that the best windows do not show."""
        gold = {question.id: windows for question, windows in zip(self.gold.questions, self.gold.windows, strict=True)}
        return {
            f"failure@{depth}": {
                question.id: 1.0 - metrics.recall(gold[question.id], entry["ranking"][:depth])
                for question, entry in pairs
            }
            for depth in DEPTHS
        }


def _figures(
    each: ArmRun,
    pairs: Sequence[arm_answers.Answered],
    result: JudgeReport,
    values: Mapping[str, Mapping[str, float]],
    previous: Mapping[str, Mapping[str, float]],
) -> ArmFigures:
    """Return an arm's figures; `values` and those of the arm before it are by measure or depth, and question."""
    cost = Cost.of_json(*(entry for _question, entry in pairs))
    cost.add(result.total)
    gaps = {name: metrics.mean_gap(list(some.values())) for name, some in values.items()}
    gains = {
        name: metrics.mean_gap([values[name][id] - before[id] for id in values[name] if id in before])
        for name, before in previous.items()
    }
    return ArmFigures(
        arm=each.arm,
        setting=each.view.setting,
        measures={name: gap for name, gap in gaps.items() if name in result.measures},
        failures={name: gap for name, gap in gaps.items() if name not in result.measures},
        judged={name: some.to_json() for name, some in result.measures.items()},
        cost=cost,
        gains={name: gap for name, gap in gains.items() if gap is not None},
    )
