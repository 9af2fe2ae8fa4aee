"""`eval judge --arms`: the scenes and answers of several searches, judged by the same model.

The arms are those of the seed article: before contexts, with contexts, then with all retrievers, then with the
reranker. Every scene list and answer is a line of a file, every judgement a line of another. A killed run asks for none
of them twice.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from subtitle_rag.answers import Answerer, AnswerOptions, AnswerPrompt, Gatherer
from subtitle_rag.contexts import estimate
from subtitle_rag.domain import Answer, AppError, UsageError
from subtitle_rag.evaluation import judging, measures, metrics
from subtitle_rag.evaluation.arms import NOT_READY, Arm, ArmChoice, EvalModels, ProgressCallback, Retrievers, View
from subtitle_rag.evaluation.dataset import load_about_scenes
from subtitle_rag.evaluation.json_lines import Entry, Records
from subtitle_rag.evaluation.judging import JudgementDone, JudgeReport
from subtitle_rag.evaluation.llm_question import ENDING, Cost, ReplyStore, context_size
from subtitle_rag.evaluation.measures import MEASURES, Case
from subtitle_rag.evaluation.metrics import Gap
from subtitle_rag.evaluation.questions import GoldSet, Question, all_windows, gold_set
from subtitle_rag.evaluation.temp_library import Views
from subtitle_rag.i18n import _
from subtitle_rag.llm import Llm, ModelInfo
from subtitle_rag.retrieval import (
    LEXICAL,
    PATIENCE_S,
    SEARCH_PARTS,
    Filter,
    Query,
    RerankBudget,
    SearchResult,
    parse_query,
)
from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

COMMAND = "subtitle-rag eval judge --arms"
LINE_FIELD = "arm"
WITHOUT, CONTEXTS, HYBRID, RERANK = "none", "contexts", "hybrid", "rerank"
ARMS = (WITHOUT, CONTEXTS, HYBRID, RERANK)
DEPTHS = (5, 10, 20)
"""Windows of the retrieval failures."""
PUBLISHED = {WITHOUT: 0.057, CONTEXTS: 0.037, HYBRID: 0.029, RERANK: 0.019}
"""failure@20 of Anthropic 2024, "Introducing Contextual Retrieval"."""
PATIENCE = 10
"""Failed answers in a row, after which the run ends."""


def parse_arms(text: str) -> tuple[str, ...]:
    """Read a text like `none,contexts`, in the order of `ARMS`; raises UsageError `unknown_arm`."""
    names = {name.strip() for name in text.split(",")}
    for name in sorted(names - {*ARMS}):
        raise UsageError("unknown_arm", name=name, known=", ".join(ARMS))
    return tuple(name for name in ARMS if name in names)


@dataclass(frozen=True, slots=True)
class ArmsRequest:
    """The arms to judge."""

    names: tuple[str, ...]
    scenes: int = 5
    """The scenes of each search: an answer is made of them, and they are judged."""
    retrievers: Retrievers | None = None
    """Those of the first two arms; None: dense vectors, else words."""
    skip_missing: bool = False
    """Leave out an arm without its models or contexts, instead of ending."""


@dataclass(frozen=True, slots=True)
class ArmsCost:
    """The cost that is still to come, at most; counted before the first request."""

    answers: int
    judgements: int
    """Calls of the judge."""
    tokens: int
    """To read, about."""
    pairs: int
    """Of question and window, which the reranker reads."""
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

    name: str
    retrievers: Retrievers
    setting: str
    """How many windows have contexts; empty without any."""
    rerank_depth: int
    measures: dict[str, Gap | None]
    """Mean and interval; None where nothing was judged."""
    failures: dict[str, Gap | None]
    """By depth: `failure@5`."""
    judged: dict[str, Any]
    """`MeasureResult.to_json` by measure."""
    cost: Cost
    """Of its answers and judgements, those of earlier runs included."""
    gains: dict[str, Gap] = field(default_factory=dict)
    """Over the arm before it, on the questions that both have."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "retrievers": list(self.retrievers),
            "contexts": self.setting,
            "rerank_depth": self.rerank_depth,
            "measures": self.judged,
            "intervals": {name: gap.to_json() if gap else None for name, gap in self.measures.items()},
            "failures": {name: gap.to_json() if gap else None for name, gap in self.failures.items()},
            "published_failure@20": PUBLISHED[self.name],
            "over_previous": {name: gap.to_json() for name, gap in self.gains.items()},
            "real": [name for name, gap in self.gains.items() if gap.is_real],
            "cost": self.cost.to_json(),
        }


@dataclass(slots=True)
class ArmsReport:
    """All arms over the same questions."""

    questions: int
    judge: dict[str, str]
    answers_by: str
    rows: list[ArmFigures] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)
    """Of this run alone."""
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


class _ArmSearch:
    """The search of an arm as the gatherer of an answer calls it; keeps the last result."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._last: tuple[str, SearchResult, list[str]] | None = None

    def where(self, query: Query) -> Filter:
        return self._arm.view.searcher.where(query)

    def search(
        self,
        query: Query,
        *,
        limit: int,
        retrievers: Sequence[str] | None = None,  # noqa: ARG002
        rerank: bool = True,  # noqa: ARG002
        budget: RerankBudget | None = None,  # noqa: ARG002
    ) -> SearchResult:
        """Return the best scenes. An arm has its own retrievers, and its reranker reads all windows."""
        return self.ranked(query, limit)[0]

    def ranked(self, query: Query, limit: int) -> tuple[SearchResult, list[str]]:
        """Return the best scenes, and the ids of the best windows."""
        if self._last is None or self._last[0] != query.raw:
            ranking = self._arm.rank(query)
            best = tuple(scene for scene, _windows in self._arm.scenes(ranking, limit))
            result = SearchResult(query, self._arm.retrievers, best, {}, lexical=ranking.fused.lexical)
            self._last = query.raw, result, ranking.ids[: DEPTHS[-1]]
        return self._last[1], self._last[2]


@dataclass(slots=True)
class _NamedArm:
    name: str
    arm: Arm
    search: _ArmSearch
    signature: str
    """A hash of all that the scenes depend on."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """By id of question."""


def judge_arms(
    runtime: Runtime,
    path: Path,
    judged_path: Path,
    request: ArmsRequest,
    answering: tuple[Llm, ModelInfo],
    judge: tuple[Llm, ModelInfo],
    encoding: ProgressCallback | None = None,
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
    own = arms_path(judged_path)
    records = Records.read(own, COMMAND, LINE_FIELD)
    for number, entry in enumerate(records.entries if records else (), start=2):
        if not _is_whole(entry):
            raise UsageError("not_own_file", path=str(own), line=number, command=COMMAND)
    judged = judging.read(judged_path)
    prompt = runtime.answer_prompt()
    models = EvalModels.of(runtime, ArmChoice(rerank=RERANK in request.names))
    has_contexts = any(runtime.library.contexts.of_video(id) for id in windows)
    sets, left_out = _retrievers(request, models, has_contexts=has_contexts)
    with ExitStack() as opened:
        neural = any(name not in LEXICAL for names in sets.values() for name in names)
        views = Views(runtime, models, opened, neural, encoding)
        listed = _opened_arms(views, sets, models, runtime.settings.search.fusion)
        records = records or Records.begin(own, COMMAND, {})
        arms_run = _ArmsRun(runtime, gold, request, listed, records, answering, judge, judged_path, models, prompt)
        report = ArmsReport(len(gold.questions), {}, answering[1].name, left_out=left_out, missing=gold.missing)
        yield arms_run.cost(judged, sum(map(len, windows.values())))
        yield from arms_run.run(report)
    yield report


def arms_path(judged_path: Path) -> Path:
    """Return the file of scenes and answers that belongs to a file of judgements."""
    return judged_path.with_name(f"{judged_path.name.removesuffix('.jsonl').removesuffix('.judged')}.arms.jsonl")


def _retrievers(
    request: ArmsRequest, models: EvalModels, *, has_contexts: bool
) -> tuple[dict[str, Retrievers], dict[str, str]]:
    """Return the retrievers of each arm, and the arms that are left out, with the reasons.

    Raises:
        UsageError: `arm_not_ready` if an arm is not to be left out, or if no other is there.
    """
    every = models.retrievers(ArmChoice())
    dense = ("dense",)
    first = request.retrievers or (dense if dense in every else LEXICAL)
    if request.retrievers:
        models.retrievers(ArmChoice((request.retrievers,)))
    fullest = every[-1]
    reasons: dict[str, str] = {}
    if not has_contexts:
        reasons[CONTEXTS] = _("the library has no contexts: subtitle-rag contexts write")
    if len(fullest) < 2:
        reasons[HYBRID] = models.absent.get("encoder", "")
    if models.reranker is None:
        reasons[RERANK] = models.absent.get("reranker", "")
    left_out = {name: reasons[name].rstrip(".") for name in request.names if name in reasons}
    sets = {name: first if name in (WITHOUT, CONTEXTS) else fullest for name in request.names if name not in left_out}
    for name, reason in left_out.items():
        if not request.skip_missing or not sets:
            raise UsageError("arm_not_ready", name=name, reason=reason)
    return sets, left_out


def _opened_arms(views: Views, sets: Mapping[str, Retrievers], models: EvalModels, fusion: str) -> list[_NamedArm]:
    without = views.without_contexts() if WITHOUT in sets else None
    as_it_is = views.as_it_is() if {*sets} - {WITHOUT} else None
    signatures: dict[str, str] = {}
    listed = []
    for name, retrievers in sets.items():
        view = without if name == WITHOUT else as_it_is
        assert view is not None
        if view.level not in signatures:
            signatures[view.level] = _fingerprint(view)
        arm = Arm(view, retrievers, models.reranker if name == RERANK else None)
        parts = [
            signatures[view.level],
            list(retrievers),
            models.encoder.id if models.encoder and retrievers != LEXICAL else "",
            arm.reranker.id if arm.reranker else "",
            arm.depth,
            fusion,
        ]
        listed.append(_NamedArm(name, arm, _ArmSearch(arm), _hash(parts)))
    return listed


def _fingerprint(view: View) -> str:
    """Return a hash of all that a search of this library depends on."""
    digest = hashlib.sha256()
    for state in view.library.videos():
        video, contexts = state.video, view.library.contexts.of_video(state.video.id)
        digest.update(json.dumps([video.id, video.title, [chapter.title for chapter in video.chapters]]).encode())
        for window in view.library.windows_of(video.id):
            context = contexts[window.id].text if window.id in contexts else ""
            digest.update(json.dumps([window.id, window.text, context]).encode())
    return digest.hexdigest()


def _hash(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]


def _is_whole(entry: Entry) -> bool:
    """Return whether a line has all that a run reads of it."""
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
    runtime: Runtime
    gold: GoldSet
    request: ArmsRequest
    arms: list[_NamedArm]
    records: Records
    answering: tuple[Llm, ModelInfo]
    judge: tuple[Llm, ModelInfo]
    judged_path: Path
    models: EvalModels
    prompt: AnswerPrompt
    _answers: dict[str, Entry] = field(default_factory=dict)
    """Lines by the hash of all that an answer depends on: the same scenes need no second answer."""

    def __post_init__(self) -> None:
        by_key = {}
        for entry in self.records.entries:
            if "request" not in entry:
                self._answers[entry["asked"]] = entry
                by_key[entry["arm"], entry["id"], entry["search"]] = entry
        for each in self.arms:
            for question in self.gold.questions:
                key = each.name, question.id, self._search_key(each, question)
                if key in by_key:
                    each.entries[question.id] = by_key[key]

    def _search_key(self, each: _NamedArm, question: Question) -> str:
        return _hash(
            [each.signature, question.query, self.request.scenes, self.answering[1].digest, self.prompt.version]
        )

    # The cost

    def cost(self, judged: Mapping[tuple[str, ...], Entry], windows: int) -> ArmsCost:
        """Return the cost of what the files lack, at most."""
        a_scene = self._scene_tokens()
        answers = calls = tokens = pairs = 0
        for each in self.arms:
            for question in self.gold.questions:
                entry = each.entries.get(question.id)
                if entry is None:
                    answers += 1
                    tokens += self.request.scenes * a_scene
                    pairs += min(each.arm.depth, windows)
                case = self._case(question, entry) if entry else None
                for measure in MEASURES:
                    if case and (measures.left_out(measure, case) or self._is_judged(measure, case, judged)):
                        continue
                    if not question.answer and measure.startswith("context_"):
                        continue
                    calls += self.request.scenes if measure == "context_precision" else 1
                    tokens += a_scene if measure == "answer_relevancy" else self.request.scenes * a_scene
        return ArmsCost(answers, calls, tokens, pairs, self._seconds(answers, calls, pairs, judged))

    def _is_judged(self, measure: str, case: Case, judged: Mapping[tuple[str, ...], Entry]) -> bool:
        entry = judged.get(measures.judgement_key(judging.frame(measure, case, self.judge[1], self.models.encoder)))
        return entry is not None and judging.is_final(entry)

    def _scene_tokens(self) -> int:
        """Estimate the tokens of a scene by the first windows of the library."""
        library = self.runtime.library
        ids = [state.video.id for state in library.videos() if state.windows][:8]
        texts = [window.text for id in ids for window in library.windows_of(id)]
        return sum(map(estimate, texts)) // max(1, len(texts))

    def _seconds(self, answers: int, calls: int, pairs: int, judged: Mapping[tuple[str, ...], Entry]) -> float | None:
        if not (answers or calls or pairs):
            return None
        seconds = 0.0
        for count, entries in ((answers, self._answers.values()), (calls, judged.values())):
            cost = Cost.of_json(*entries)
            if count and not cost.calls:
                return None
            seconds += count * cost.ms / 1000 / max(1, cost.calls)
        reranker = self.models.reranker
        if pairs and reranker is not None and reranker.depth:
            seconds += pairs * PATIENCE_S / reranker.depth
        return seconds

    # The run

    def run(self, report: ArmsReport) -> Iterator[AnswerStored | JudgementDone]:
        """Fill the report."""
        total = len(self.arms) * len(self.gold.questions)
        done = failed = 0
        for each in self.arms:
            answerer = self._answerer(each)
            for question in self.gold.questions:
                done += 1
                if question.id not in each.entries:
                    error = self._answer(each, question, answerer, report)
                    failed = failed + 1 if error is not None else 0
                    if error is not None and (error.code in ENDING or failed >= PATIENCE):
                        report.blocked = error
                        return
                yield AnswerStored(done, total)
        yield from self._judge(report)

    def _answerer(self, each: _NamedArm) -> Answerer:
        library, words = each.arm.view.library, self.runtime.words
        gatherer = Gatherer(library, each.search, words, self.request.scenes, self.prompt)
        return Answerer(gatherer, [self.answering[0]], self.answering[1].name)

    def _answer(self, each: _NamedArm, question: Question, answerer: Answerer, report: ArmsReport) -> AppError | None:
        """Search and answer a question, and store both; return the failure of the model."""
        ranking: list[str] = []
        texts: list[str] = []
        query: Query | None = None
        try:
            query = parse_query(question.query)
            result, ranking = each.search.ranked(query, self.request.scenes)
            texts = list(map(judging.prompt_text, result.scenes))
        except UsageError as error:
            if error.code in NOT_READY:
                raise
            query = None  # the search refuses it: nothing is found
        asked = _hash([question.query, texts, self.answering[1].digest, self.prompt.version])
        before = self._answers.get(asked)
        cost = Cost()
        if before is not None:
            text, cost = str(before["answer"]), Cost.of_json(before)
        elif query is None or not texts:
            text = ""
        else:
            *_events, answer = answerer.conversation(AnswerOptions(self.request.scenes)).ask(query)
            assert isinstance(answer, Answer)
            if answer.error is not None:
                return answer.error
            text = answer.text
            cost = Cost(1, 0, answer.prompt_tokens or 0, answer.tokens or 0, round(answer.took_ms.get("answer", 0)))
            report.cost.add(cost)
        info = self.answering[1]
        entry: Entry = {
            "arm": each.name,
            "id": question.id,
            "search": self._search_key(each, question),
            "asked": asked,
            "ranking": ranking,
            "scenes": texts,
            "answer": text,
            "answered_by": {"model": info.name, "digest": info.digest, "prompt": self.prompt.version},
            **cost.to_json(),
        }
        self.records.append(entry)
        self._answers[asked] = entry
        each.entries[question.id] = entry
        return None

    def _case(self, question: Question, entry: Entry) -> Case:
        return Case(
            question.id, question.kind, question.query, question.answer, entry["answer"], tuple(entry["scenes"])
        )

    def _judge(self, report: ArmsReport) -> Iterator[JudgementDone]:
        answered = [
            [
                self._case(question, each.entries[question.id])
                for question in self.gold.questions
                if question.id in each.entries
            ]
            for each in self.arms
        ]
        # one size for all: another one would make the server load the model again
        num_ctx = context_size(max((measures.tokens(case) for cases in answered for case in cases), default=0))
        replies = ReplyStore(self.records, LINE_FIELD)
        previous: Mapping[str, Mapping[str, float]] = {}
        done, total = 0, sum(map(len, answered)) * len(MEASURES)
        for each, cases in zip(self.arms, answered, strict=True):
            result: JudgeReport | None = None
            for event in judging.judge(
                cases, self.judged_path, *self.judge, self.models.encoder, num_ctx=num_ctx, replies=replies
            ):
                if isinstance(event, JudgeReport):
                    result = event
                else:
                    yield replace(event, done=done + event.done, total=total)
            assert result is not None  # the last event
            done += len(cases) * len(MEASURES)
            report.judge = result.judge
            report.cost.add(result.cost)
            values = {name: some.by_id for name, some in result.measures.items()} | self._failures(each)
            report.rows.append(_figures(each, result, values, previous))
            previous = values
            if result.blocked is not None:
                report.blocked = result.blocked
                return

    def _failures(self, each: _NamedArm) -> dict[str, dict[str, float]]:
        """Return by depth and question the share of its ranges that the best windows do not show."""
        gold = {question.id: windows for question, windows in zip(self.gold.questions, self.gold.windows, strict=True)}
        rankings = {id: entry["ranking"] for id, entry in each.entries.items()}
        return {
            f"failure@{depth}": {id: 1.0 - metrics.recall(gold[id], ids[:depth]) for id, ids in rankings.items()}
            for depth in DEPTHS
        }


def _figures(
    each: _NamedArm,
    result: JudgeReport,
    values: Mapping[str, Mapping[str, float]],
    previous: Mapping[str, Mapping[str, float]],
) -> ArmFigures:
    """Return an arm's figures; `values` and those of the arm before it are by measure or depth, and question."""
    cost = Cost.of_json(*each.entries.values())
    cost.add(result.total)
    gaps = {name: metrics.mean_gap(list(some.values())) for name, some in values.items()}
    gains = {
        name: metrics.mean_gap([values[name][id] - before[id] for id in values[name] if id in before])
        for name, before in previous.items()
    }
    return ArmFigures(
        name=each.name,
        retrievers=each.arm.retrievers,
        setting=each.arm.view.setting,
        rerank_depth=each.arm.depth,
        measures={name: gap for name, gap in gaps.items() if name in MEASURES},
        failures={name: gap for name, gap in gaps.items() if name not in MEASURES},
        judged={name: some.to_json() for name, some in result.measures.items()},
        cost=cost,
        gains={name: gap for name, gap in gains.items() if gap is not None},
    )


def known_retrievers(text: str) -> Retrievers:
    """Read a text like `bm25,dense`, in the order of `PARTS`; raises UsageError `unknown_retriever`, `late_alone`."""
    choice = ArmChoice.parse("+".join(name.strip() for name in text.split(","))).retrievers
    assert choice is not None
    return tuple(sorted(choice[0], key=SEARCH_PARTS.index))
