"""One question to many videos: an answer for each video or month from its best scenes, and one from all of these.

The plan is fixed before the first request: one search, a request for each group, and one that joins their answers.
Scenes are numbered through, so that a citation means the same in every part. What has come when a question is stopped,
or when the model fails, stays.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.answer_prompt import Language
from subtitle_rag.answers.context_builder import LABELS, TITLE, RankedContextBuilder, short_title
from subtitle_rag.answers.evidence_chat import EvidenceChat, Stopwatch
from subtitle_rag.answers.gathering import AnswerOptions, EvidenceText, Gatherer, Over, scene_evidence
from subtitle_rag.answers.token_budget import ReadyHost, TokenBudget
from subtitle_rag.contexts import neutral_text, shortened
from subtitle_rag.domain import (
    Answer,
    AnswerEvent,
    AnswerPiece,
    AnswerRequest,
    AppError,
    Evidence,
    EvidenceSource,
    Video,
)
from subtitle_rag.retrieval.search.query import Query
from subtitle_rag.retrieval.search.scenes import Scene

FOUND = 150
"""Scenes of the search that the groups are made of."""
SCENES_OF_GROUP = 4
MOST_GROUPS = 20
"""Groups with the best scenes that are asked; others are counted."""
LEAST_SCORE = 0.2
"""Least share of the best scene's score: groups with less share no more than a common word with the question."""
_EACH = re.compile(
    r"\s*[,·]?\s*(?:영상|동영상|달|월|편)(?:마다|별로)|\b(?:for|in|of) each (?:video|month)\b", re.IGNORECASE
)
"""How to answer, not what to search for."""
_TOGETHER = {"ko": "모아서", "en": "Together"}
_UNDATED = {"ko": "날짜를 모르는 영상", "en": "Without a date"}


@dataclass(frozen=True, slots=True)
class SceneGroup:
    """The scenes of a video or a month, the best first, numbered from `first`."""

    title: str
    scenes: tuple[Scene, ...]
    first: int

    def gather(self, language: Language, budget: TokenBudget | None) -> EvidenceText:
        """Return the scenes as evidence, as many as fit."""
        builder = RankedContextBuilder(labels=LABELS[language], include_source=True, first=self.first)
        return scene_evidence(self.scenes, builder, language, budget, first=self.first)


def grouped(
    scenes: Sequence[Scene], over: Over, language: Language, limit: int = SCENES_OF_GROUP
) -> tuple[list[SceneGroup], int]:
    """Return the groups with the best scenes in the order of time, and the number of groups that are left out."""
    by_key: dict[str, list[Scene]] = {}
    for scene in (scene for scene in scenes if scene.score >= LEAST_SCORE * scenes[0].score):
        by_key.setdefault(_key(scene, over), []).append(scene)
    best = list(by_key.items())[:MOST_GROUPS]
    best.sort(key=lambda item: _order(item[1][0].video))
    titles = _titles([some[0] for _key_of_group, some in best], over, language)
    groups, first = [], 1
    for title, (_key_of_group, some) in zip(titles, best, strict=True):
        best_scenes = tuple(some[:limit])
        groups.append(SceneGroup(title, best_scenes, first))
        first += len(best_scenes)
    return groups, len(by_key) - len(best)


def _order(video: Video) -> tuple[str, ...]:
    return str(video.published or "~"), video.title, video.channel, video.id


def _key(scene: Scene, over: Over) -> str:
    day = scene.video.published
    if over == "videos":
        return scene.video.id
    return f"{day:%Y-%m}" if day else ""


def _titles(scenes: Sequence[Scene], over: Over, language: Language) -> list[str]:
    """Return the title of each group by one of its scenes: its month, or the video's title with as much as tells it
    from the others: its day, else its channel too, else its id."""
    if over == "months":
        return [_key(scene, over) or _UNDATED[language] for scene in scenes]
    parts = [
        (short_title(video.title), str(video.published or ""), short_title(video.channel), video.id)
        for video in (scene.video for scene in scenes)
    ]
    titles = []
    for of_video in parts:
        size = next(size for size in (2, 3, 4) if sum(each[:size] == of_video[:size] for each in parts) == 1)
        titles.append(", ".join(filter(None, of_video[:size])))
    return titles


def ask_groups(
    gatherer: Gatherer,
    ready_host: Callable[[], ReadyHost | AppError],
    query: Query,
    options: AnswerOptions,
    stop: threading.Event,
    seed: int,
) -> Iterator[AnswerEvent]:
    """Answer a question group by group. First comes the evidence with the plan, last the `Answer`, failures included.

    `ready_host` finds the model, for each group again. Raises what `Gatherer.gather` raises.
    """
    run = _GroupedRun(query, gatherer, ready_host, stop, seed)
    over: Over = options.over or "videos"
    subject = replace(query, text=_EACH.sub("", query.text).strip() or query.text)
    scenes = gatherer.search(subject, FOUND, options).scenes
    if over == "months" and scenes and not any(scene.video.published for scene in scenes):
        yield from _without_dates(run, options)
        return
    ready = ready_host()
    groups, more = grouped(scenes, over, run.language, options.limit or SCENES_OF_GROUP)
    run.evidence = replace(_plan(groups, run.language, ready, gatherer), more_groups=more)
    run.watch.note("scenes")
    yield run.evidence
    if not groups:
        yield run.end("no_scenes")
    elif isinstance(ready, AppError):
        yield run.end("no_model", ready)
    else:
        yield from run.ask_each(groups)


def _without_dates(run: "_GroupedRun", options: AnswerOptions) -> Iterator[AnswerEvent]:
    """Answer from the best scenes of all videos, as none has a date."""
    for event in run.ask(partial(run.gatherer.gather, run.query, options=options)):
        match event:
            case Evidence():
                yield replace(event, undated=True)
            case Answer():
                yield replace(event, evidence=replace(event.evidence, undated=True))
            case _:
                yield event


def _plan(
    groups: Sequence[SceneGroup], language: Language, ready: ReadyHost | AppError, gatherer: Gatherer
) -> Evidence:
    """Return the evidence of all groups, with the requests and the time that asking about each will take."""
    budget = None if isinstance(ready, AppError) else ready.budget(gatherer.prompt)
    evidence_texts = [group.gather(language, budget) for group in groups]
    speed = None if isinstance(ready, AppError) else ready.rates.tokens_per_second
    tokens = sum(budget.cost(each.system(gatherer.prompt)) for each in evidence_texts) if budget else 0
    return Evidence(
        "groups",
        tuple(source for each in evidence_texts for source in each.evidence.sources),
        groups=len(groups),
        requests=len(groups) + (len(groups) > 1),
        tokens=tokens,
        reading_s=tokens / speed if speed else 0.0,
    )


@dataclass(slots=True)
class _GroupedRun:
    """One question to groups: the answers so far, which are the parts of the whole one."""

    query: Query
    gatherer: Gatherer
    ready_host: Callable[[], ReadyHost | AppError]
    stop: threading.Event
    seed: int
    language: Language = field(init=False)
    evidence: Evidence = field(default_factory=lambda: Evidence("groups", ()))
    parts: list[tuple[str, Answer]] = field(default_factory=list)
    """The title and the answer of each group, without empty ones."""
    failure: AppError | None = None
    watch: Stopwatch = field(default_factory=Stopwatch)

    def __post_init__(self) -> None:
        self.language = answer_prompt.language(self.query.text)

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Title and answer of the groups whose scenes hold one."""
        return [(title, part.text) for title, part in self.parts if not part.declined]

    def ask(self, gather: Callable[[TokenBudget | None], EvidenceText]) -> Iterator[AnswerEvent]:
        """Ask the question about some evidence, without the answers before."""
        chat = EvidenceChat(self.gatherer.analyzer, self.gatherer.prompt)
        return chat.ask(self.query, self.ready_host(), gather, self.stop, self.seed)

    def ask_each(self, groups: Sequence[SceneGroup]) -> Iterator[AnswerEvent]:
        """Ask about each group, then about their answers; stop early when told to, or when the model fails."""
        for number, group in enumerate(groups, start=1):
            if not self._is_over:
                yield from self._ask_part(number, group.title, partial(group.gather, self.language))
        if len(self.answers) > 1 and not self._is_over:
            gather = partial(_joint_evidence, self.answers, self.evidence.sources, self.language)
            yield from self._ask_part(len(groups) + 1, _TOGETHER[self.language], gather)
        if self.stop.is_set():
            yield self.end("stopped")
        else:
            yield self.end("failed" if self.failure else "whole", self.failure)

    @property
    def _is_over(self) -> bool:
        return self.stop.is_set() or self.failure is not None

    def _ask_part(
        self, number: int, title: str, gather: Callable[[TokenBudget | None], EvidenceText]
    ) -> Iterator[AnswerRequest | AnswerPiece]:
        """Yield what is asked for one part, and its pieces, the heading before its first word."""
        heading = _heading(title, is_first=not self.parts)
        for event in self.ask(gather):
            if isinstance(event, AnswerPiece):
                if "first" not in self.watch.took_ms:
                    self.watch.note("first")
                yield AnswerPiece(heading + event.text)
                heading = ""
            elif isinstance(event, AnswerRequest):
                yield replace(event, number=number, requests=self.evidence.requests)
            elif isinstance(event, Answer):
                if event.text:
                    self.parts.append((title, event))
                self.failure = event.error if event.ending == "failed" else None

    def end(
        self, ending: Literal["whole", "stopped", "failed", "no_model", "no_scenes"], error: AppError | None = None
    ) -> Answer:
        """Return the parts as one answer, each under its title, with the spans of citations in the whole text."""
        self.watch.note("answer")
        parts = [part for _title, part in self.parts]
        text, moved = _joined(self.parts)
        cached = [part.cached_tokens for part in parts if part.cached_tokens is not None]
        return Answer(
            self.query.raw,
            text,
            parts[0].model if parts else "",
            self.evidence,
            tuple(citation for part in moved for citation in part.citations),
            tuple(span for part in moved for span in part.uncited),
            tuple(claim for part in moved for claim in part.unfounded),
            dropped=tuple(number for part in parts for number in part.dropped),
            repeated=sum(part.repeated for part in parts),
            recited=sum(part.recited for part in parts),
            declined=bool(parts) and not self.answers,
            ending=ending,
            error=error,
            prompt_tokens=sum(part.prompt_tokens for part in parts),
            cached_tokens=sum(cached) if cached else None,
            tokens=sum(part.tokens for part in parts),
            num_ctx=max((part.num_ctx for part in parts), default=0),
            took_ms=self.watch.took_ms,
        )


def _joined(parts: Sequence[tuple[str, Answer]]) -> tuple[str, list[Answer]]:
    """Return one text of all parts under their titles, and the parts with their spans in it."""
    text, moved = "", []
    for title, part in parts:
        text += _heading(title, is_first=not text)
        moved.append(_moved(part, len(text)))
        text += part.text
    return text, moved


def _joint_evidence(
    answers: Sequence[tuple[str, str]],
    sources: tuple[EvidenceSource, ...],
    language: Language,
    budget: TokenBudget | None,
) -> EvidenceText:
    """Return the groups' answers as evidence of the joint one. Those too long together lose their middles."""
    evidence = Evidence("groups", sources)
    full = _titled(answers)
    if budget is None:
        return EvidenceText(evidence, full, language, 0)
    num_ctx, tokens = budget.fit(full, language, "groups")
    if budget.cost(full) <= tokens:
        return EvidenceText(evidence, full, language, num_ctx)
    each = tokens // len(answers) - budget.cost("\n") * TITLE
    cut = [(title, shortened(text, max(1, each), budget.tokens_per_char)) for title, text in answers]
    return EvidenceText(replace(evidence, shortened=True), _titled(cut), language, num_ctx)


def _titled(texts: Sequence[tuple[str, str]]) -> str:
    return "\n\n".join("\n".join([f"({title})", *map(neutral_text, text.splitlines())]) for title, text in texts)


def _heading(title: str, *, is_first: bool) -> str:
    return ("" if is_first else "\n\n") + f"■ {title}\n"


def _moved(part: Answer, by: int) -> Answer:
    """Return a part with its spans `by` characters later."""

    def span(old: tuple[int, int]) -> tuple[int, int]:
        return old[0] + by, old[1] + by

    return replace(
        part,
        citations=tuple(replace(each, span=span(each.span), claim=span(each.claim)) for each in part.citations),
        uncited=tuple(map(span, part.uncited)),
        unfounded=tuple(replace(each, claim=span(each.claim)) for each in part.unfounded),
    )
