"""One question to many videos: an answer for each video or month from its best scenes, and one from all of these.

The plan is fixed before the first request: one search, a request for each group, and one that joins their answers.
Scenes are numbered through, so that a citation means the same in every part. What has come when a question is stopped,
or when the model fails, stays.
"""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.answer import Answerer
from subtitle_rag.answers.answer_prompt import AnswerPrompt, Language
from subtitle_rag.answers.context_builder import LABELS, TITLE, RankedContextBuilder, short_title
from subtitle_rag.answers.gathering import AnswerOptions, EvidenceText, scene_evidence
from subtitle_rag.answers.token_budget import ReadyHost, TokenBudget
from subtitle_rag.contexts import neutral_text, shortened
from subtitle_rag.domain import (
    Answer,
    AnswerEvent,
    AnswerPiece,
    AnswerRequest,
    AppError,
    Citation,
    Evidence,
    EvidenceSource,
    UnfoundedClaim,
    Video,
)
from subtitle_rag.retrieval.search.query import Query
from subtitle_rag.retrieval.search.scenes import Scene

Over = Literal["videos", "months"]
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
    """The scenes of a video or a month, the best first, numbered from `first`. It gathers the evidence of its part."""

    title: str
    scenes: tuple[Scene, ...]
    first: int
    prompt: AnswerPrompt

    def gather(self, query: Query, budget: TokenBudget | None, options: AnswerOptions) -> EvidenceText:  # noqa: ARG002
        """See `Gatherer.gather`; searches nothing."""
        language = answer_prompt.language(query.text)
        builder = RankedContextBuilder(labels=LABELS[language], include_source=True, first=self.first)
        gathered = scene_evidence(self.scenes, builder, language, budget, first=self.first)
        return replace(gathered, prompt=self.prompt)


@dataclass(frozen=True, slots=True)
class GroupAnswers:
    """The answers of the groups as evidence of the joint one."""

    texts: Sequence[tuple[str, str]]
    """Each group's title and answer."""
    sources: tuple[EvidenceSource, ...]
    prompt: AnswerPrompt

    def gather(self, query: Query, budget: TokenBudget | None, options: AnswerOptions) -> EvidenceText:  # noqa: ARG002
        """See `Gatherer.gather`. Answers that are too long together lose their middles."""
        language = answer_prompt.language(query.text)
        evidence = Evidence("groups", self.sources)
        full = self._joined(self.texts)
        if budget is None:
            return EvidenceText(evidence, full, language, 0, self.prompt)

        def available(num_ctx: int) -> int:
            return budget.scene_tokens(num_ctx, language, "groups")

        num_ctx = budget.num_ctx(full, available) or budget.largest
        if budget.cost(full) <= available(num_ctx):
            return EvidenceText(evidence, full, language, num_ctx, self.prompt)
        each = available(num_ctx) // len(self.texts) - budget.cost("\n") * TITLE
        cut = [(title, shortened(text, max(1, each), budget.tokens_per_char)) for title, text in self.texts]
        return EvidenceText(replace(evidence, shortened=True), self._joined(cut), language, num_ctx, self.prompt)

    def _joined(self, texts: Sequence[tuple[str, str]]) -> str:
        return "\n\n".join("\n".join([f"({title})", *map(neutral_text, text.splitlines())]) for title, text in texts)


def grouped(
    scenes: Sequence[Scene], over: Over, language: Language, prompt: AnswerPrompt, limit: int = SCENES_OF_GROUP
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
        chosen = tuple(some[:limit])
        groups.append(SceneGroup(title, chosen, first, prompt))
        first += len(chosen)
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


class GroupedConversation:
    """Questions that are answered group by group, each by a search of its own."""

    def __init__(self, answerer: Answerer, options: AnswerOptions, over: Over) -> None:
        self._answerer = answerer
        self._options = options
        self._over: Over = over
        self._latest: Query | None = None

    def ask_again(self, stop: threading.Event | None = None) -> Iterator[AnswerEvent]:
        """Ask the last question once more, with another seed. Raises what `ask` raises."""
        assert self._latest is not None
        return self.ask(self._latest, stop, seed=answer_prompt.SECOND_SEED)

    def ask(
        self, query: Query, stop: threading.Event | None = None, *, seed: int = answer_prompt.SEED
    ) -> Iterator[AnswerEvent]:
        """Answer a question. First comes the evidence with the plan, last the `Answer`, failures included.

        Raises:
            UsageError: `unknown_video`, `unknown_channel`.
            AppError: from the library and the index.
        """
        self._latest = query
        if (counted := self._answerer.count(query, self._options)) is not None:
            yield from (counted.evidence, AnswerPiece(counted.text), counted)
            return
        stop = stop or threading.Event()
        run = _GroupedAnswer(query, self._answerer)
        gatherer, ready = self._answerer.gatherer, self._answerer.ready_host()
        language = answer_prompt.language(query.text)
        subject = replace(query, text=_EACH.sub("", query.text).strip() or query.text)
        scenes = gatherer.search(subject, FOUND, self._options).scenes
        if self._over == "months" and scenes and not any(scene.video.published for scene in scenes):
            yield from self._ask_as_usual(query, stop, seed)
            return
        limit = self._options.limit or SCENES_OF_GROUP
        groups, more = grouped(scenes, self._over, language, gatherer.prompt, limit)
        run.evidence = replace(self._plan(query, groups, ready), more_groups=more)
        run.note("scenes")
        yield run.evidence
        if not groups:
            yield run.ended("no_scenes")
            return
        if isinstance(ready, AppError):
            yield run.ended("no_model", ready)
            return
        for group in groups:
            if stop.is_set() or run.failure is not None:
                break
            yield from run.part(group.title, self._answerer.reading(group), self._options, stop, seed)
        if len(run.texts) > 1 and not stop.is_set() and run.failure is None:
            answers = GroupAnswers(run.texts, run.evidence.sources, gatherer.prompt)
            yield from run.part(_TOGETHER[language], self._answerer.reading(answers), self._options, stop, seed)
        yield self._answerer.keep(self._end(run, stop), gatherer.prompt.version)

    def _plan(self, query: Query, groups: Sequence[SceneGroup], ready: ReadyHost | AppError) -> Evidence:
        """Return the evidence of all groups, with the requests and the time that asking about each will take."""
        budget = None if isinstance(ready, AppError) else ready.budget(self._answerer.gatherer.prompt)
        gathered = [group.gather(query, budget, self._options) for group in groups]
        speed = None if isinstance(ready, AppError) else ready.speed.value
        tokens = sum(budget.cost(each.system) for each in gathered) if budget else 0
        return Evidence(
            "groups",
            tuple(source for each in gathered for source in each.evidence.sources),
            groups=len(groups),
            requests=len(groups) + (len(groups) > 1),
            tokens=tokens,
            reading_s=tokens / speed if speed else 0.0,
        )

    @staticmethod
    def _end(run: "_GroupedAnswer", stop: threading.Event) -> Answer:
        if stop.is_set():
            return run.ended("stopped")
        return run.ended("whole") if run.failure is None else run.ended("failed", run.failure)

    def _ask_as_usual(self, query: Query, stop: threading.Event, seed: int) -> Iterator[AnswerEvent]:
        """Answer from the best scenes of all videos, as none has a date."""
        for event in self._answerer.conversation(self._options).ask(query, stop, seed=seed):
            match event:
                case Evidence():
                    yield replace(event, undated=True)
                case Answer():
                    yield replace(event, evidence=replace(event.evidence, undated=True))
                case _:
                    yield event


class _GroupedAnswer:
    """The answer so far: its parts under their headings, with the spans of citations in the whole text."""

    def __init__(self, query: Query, answerer: Answerer) -> None:
        self.evidence = Evidence("groups", ())
        self.texts: list[tuple[str, str]] = []
        """Title and answer of the groups whose scenes hold one."""
        self.failure: AppError | None = None
        self._query = query
        self._model = answerer.model
        self._text = ""
        self._citations: list[Citation] = []
        self._uncited: list[tuple[int, int]] = []
        self._unfounded: list[UnfoundedClaim] = []
        self._parts: list[Answer] = []
        self._number = 0
        """Number of the request that is being answered."""
        self._started = time.perf_counter()
        self._took_ms: dict[str, float] = {}

    def note(self, part: str) -> None:
        self._took_ms.setdefault(part, round((time.perf_counter() - self._started) * 1000, 1))

    def part(
        self, title: str, answerer: Answerer, options: AnswerOptions, stop: threading.Event, seed: int
    ) -> Iterator[AnswerRequest | AnswerPiece]:
        """Yield what is asked for one part, and its pieces, the heading before its first word."""
        heading = self._heading(title)
        part: Answer | None = None
        self._number += 1
        for event in answerer.conversation(options).ask(self._query, stop, seed=seed):
            if isinstance(event, AnswerPiece):
                self.note("first")
                yield AnswerPiece(heading + event.text)
                heading = ""
            elif isinstance(event, AnswerRequest):
                yield replace(event, number=self._number, requests=self.evidence.requests)
            elif isinstance(event, Answer):
                part = event
        assert part is not None
        if part.text:
            self._add(title, part)
        if part.ending == "failed":
            self.failure = part.error

    def _add(self, title: str, part: Answer) -> None:
        self._text += self._heading(title)
        at = len(self._text)
        self._text += part.text
        self._citations += [
            replace(each, span=_moved(each.span, at), claim=_moved(each.claim, at)) for each in part.citations
        ]
        self._uncited += [_moved(span, at) for span in part.uncited]
        self._unfounded += [replace(each, claim=_moved(each.claim, at)) for each in part.unfounded]
        self._parts.append(part)
        if not part.declined:
            self.texts.append((title, part.text))

    def _heading(self, title: str) -> str:
        return ("\n\n" if self._text else "") + f"■ {title}\n"

    def ended(
        self, ending: Literal["whole", "stopped", "failed", "no_model", "no_scenes"], error: AppError | None = None
    ) -> Answer:
        """Return the whole answer."""
        self.note("answer")
        cached = [part.cached_tokens for part in self._parts if part.cached_tokens is not None]
        return Answer(
            self._query.raw,
            self._text,
            self._model if self._parts else "",
            self.evidence,
            tuple(self._citations),
            tuple(self._uncited),
            tuple(self._unfounded),
            dropped=tuple(number for part in self._parts for number in part.dropped),
            repeated=sum(part.repeated for part in self._parts),
            recited=sum(part.recited for part in self._parts),
            declined=bool(self._parts) and not self.texts,
            ending=ending,
            error=error,
            prompt_tokens=sum(part.prompt_tokens for part in self._parts),
            cached_tokens=sum(cached) if cached else None,
            tokens=sum(part.tokens for part in self._parts),
            num_ctx=max((part.num_ctx for part in self._parts), default=0),
            took_ms=self._took_ms,
        )


def _moved(span: tuple[int, int], by: int) -> tuple[int, int]:
    return span[0] + by, span[1] + by
