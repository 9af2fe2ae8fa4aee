"""`eval models`: contexts of the same windows by several models, each in a library of its own beside the user's.

The user's library is only read. A library holds the contexts of one model, and a journal beside it every answer. Both
are kept: the next run, also after `kill -9`, asks only for what is missing.
"""

import json
import random
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from subtitle_rag.contexts import (
    BUILT_IN,
    SAME,
    UNGROUNDED,
    VERSION,
    ContextPrompt,
    ContextPrompts,
    LargePrompts,
    Planner,
    Writer,
    clean_context,
    context_key,
    context_prompt,
    find_foreign_script,
    known_text,
)
from subtitle_rag.domain import AppError, ContextEvent, ContextReport, OverviewWritten, Track, Video, Window
from subtitle_rag.evaluation.records import Entry, Records
from subtitle_rag.library import Context, Library, Recipe, WindowSelection
from subtitle_rag.llm import Llm, ModelInfo, hosts_with

FOLDER = "comparisons"
COMMAND = "subtitle-rag eval models"
LINE_FIELD = "try"
"""A field of every line of a journal but the first; 0 for the summary of a section."""
EXAMPLES = 3
CONTEXT_TOKENS = 75
"""Tokens of a context, for estimates: the prompt asks for 50 to 100."""
ONE_PROMPT: Mapping[str, ContextPrompt] = {"": BUILT_IN}


class DrawnVideo(NamedTuple):
    """A video of the comparison with its windows."""

    video: Video
    windows: tuple[Window, ...]


def draw(library: Library, count: int, seed: int, preferred: Collection[str] = ()) -> list[DrawnVideo]:
    """Draw videos by a seed, first of the `preferred` ids; a larger count adds to a smaller one's."""
    videos = sorted((state.video for state in library.videos() if state.windows), key=lambda video: video.id)
    shuffled = random.Random(seed).sample(videos, len(videos))
    shuffled.sort(key=lambda video: video.id not in preferred)
    return [DrawnVideo(video, tuple(library.windows_of(video.id))) for video in shuffled[:count]]


class _NoIndex:
    """Stands for the index of a library that is not searched."""

    def add_contexts(self, late: Mapping[str, Collection[str]]) -> None:
        pass


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The work that a model has left. The tokens are estimates."""

    model: str
    windows: int
    sections: int
    """Requests for overviews of long videos."""
    prompt_tokens: int
    tokens: int
    seconds: float | None
    """None if neither this model nor the library's has been timed."""

    @property
    def calls(self) -> int:
        return self.windows + self.sections

    def to_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }


class ModelContexts:
    """The contexts of one model in a library of its own, and the journal of its answers. Close it after use."""

    def __init__(
        self, folder: Path, hosts: Sequence[Llm], info: ModelInfo, prompt: ContextPrompt = BUILT_IN, label: str = ""
    ) -> None:
        """`label` names the prompt beside the model.

        Raises:
            UsageError: `not_own_file`, for a journal that this command did not write.
        """
        self.info, self.prompt = info, prompt
        self.name = f"{info.name}, {label}" if label else info.name
        suffix = prompt.version.removeprefix(VERSION)
        name = f"{re.sub(r'[^0-9A-Za-z가-힣._-]+', '-', info.name)}-{info.digest[:12]}{suffix}"
        folder.mkdir(parents=True, exist_ok=True)
        self.recipe = Recipe(info.digest, prompt.version)
        self._hosts = hosts
        path = folder / f"{name}.jsonl"
        head = {"model": info.name, "digest": info.digest, **({"prompt": prompt.version} if suffix else {})}
        self._journal = Records.read(path, COMMAND, LINE_FIELD) or Records.begin(path, COMMAND, head)
        self._lock = threading.Lock()
        self.library = Library(folder / f"{name}.db")

    def close(self) -> None:
        self.library.close()

    def copy(self, source: Library, drawn: Sequence[DrawnVideo]) -> None:
        """Take over videos, windows and glossaries that are new or have changed."""
        own = self.library
        for each in drawn:
            video, transcript = each.video, source.contexts.transcript(each.video.id)
            if own.contexts.transcript(video.id) != transcript or own.video(video.id) != video:
                sha256, _separator, rule = transcript.rpartition(":")
                own.put_video(video, Track("ko", "file", "vtt", b"", sha256, 0), each.windows, rule)
            glossary = source.contexts.glossary(video.channel_id)
            if own.contexts.glossary(video.channel_id) != glossary:
                own.contexts.put_glossary(video.channel_id, glossary)
        ratio = source.contexts.tokens_per_character(self.info.digest)
        if ratio and own.contexts.tokens_per_character(self.info.digest) is None:
            own.contexts.put_tokens_per_character(self.info.digest, ratio)

    def cost(self, drawn: Sequence[DrawnVideo], other_ms: float | None) -> CostEstimate:
        """Estimate the work that is left; `other_ms` is the time of a context where this model has not been timed."""
        work = self.library.contexts.work(self.recipe, videos=[each.video.id for each in drawn])
        large = LargePrompts.of(self._hosts[0], self.info)
        planner = Planner(self.library, self.recipe, self.prompt, self.info, large)
        sections = sum(map(planner.missing_sections, work))
        windows = sum(work.values())
        mean_ms = self.library.contexts.mean_ms(self.info.digest) or other_ms
        return CostEstimate(
            self.name,
            windows,
            sections,
            sum(map(planner.prompt_estimate, work)),
            (windows + sections) * CONTEXT_TOKENS,
            (windows + sections) * mean_ms / 1000 if mean_ms is not None else None,
        )

    def write(self, drawn: Sequence[DrawnVideo]) -> Iterator[ContextEvent]:
        """Write the missing contexts. The last event is the `ContextReport`; raises as `Writer.run` does."""
        prompts = ContextPrompts(self.prompt)
        writer = Writer(
            self.library,
            _NoIndex(),
            self._hosts,
            self.info.name,
            answered=lambda context: self._append(_entry(context)),
            prompts=prompts,
        )
        for event in writer.run(WindowSelection(videos=tuple(each.video.id for each in drawn))):
            if isinstance(event, OverviewWritten):
                self._append({LINE_FIELD: 0, "video": event.video, **_costs(event)})
            yield event

    def answers(self, drawn: Sequence[DrawnVideo]) -> list[Entry]:
        """Return the last line about each answer to the windows as their captions and the prompt are."""
        keys = {
            context_key(self.recipe, window.id, context_prompt.transcript_hash(each.windows))
            for each in drawn
            for window in each.windows
        }
        entries = (entry for entry in self._journal.entries if entry.get("key") in keys)
        return list({(entry["key"], entry[LINE_FIELD]): entry for entry in entries}.values())

    def overview_answers(self, drawn: Sequence[DrawnVideo]) -> list[Entry]:
        """Return the lines about summaries of sections."""
        ids = {each.video.id for each in drawn}
        return [entry for entry in self._journal.entries if entry[LINE_FIELD] == 0 and entry["video"] in ids]

    def _append(self, entry: Entry) -> None:
        with self._lock:
            self._journal.append(entry)


def _entry(context: Context) -> Entry:
    """Return the line of a journal about the answer that a context was made of."""
    doubts = [list(doubt) for doubt in context.doubts]
    entry: Entry = {LINE_FIELD: context.tries, "key": context.key, "window": context.window_id, "raw": context.raw}
    return {**entry, "doubts": doubts, **_costs(context)}


def _costs(value: Context | OverviewWritten) -> Entry:
    return {"prompt_tokens": value.prompt_tokens, "tokens": value.tokens, "ms": value.ms}


def context_texts(library: Library, drawn: Sequence[DrawnVideo]) -> dict[str, str]:
    """Return the contexts of a library that search uses, by window."""
    return {id: context.text for each in drawn for id, context in library.contexts.of_video(each.video.id).items()}


@dataclass(frozen=True, slots=True)
class ContextFigures:
    """What became of the windows of a comparison, and the faults of the answers about them."""

    windows: int
    written: int
    left_out: int
    empty: int
    """Windows of whose answers nothing could be used."""
    due: int
    """Windows that have not been asked about."""
    answers: int
    second_tries: int
    ungrounded: int
    """Answers with a name or number that stands nowhere in the video."""
    ungrounded_words: tuple[str, ...]
    repeated: int
    """Answers that say the same as another window's."""
    looped: int
    """Answers without an end, which were stopped; the server did not count the tokens that it read for them."""
    retold: int
    """Answers that retell the window or the context before."""
    foreign: int
    """Answers with Chinese or Japanese script that the video does not have."""
    unusable: int
    """Answers of which the cleaning left nothing."""
    removed: float | None
    """Share of the characters that the cleaning removed from the others; None without any."""
    prompt_tokens: int
    tokens: int
    seconds: float
    overviews: int = 0
    """Requests for overviews of long videos; tokens and seconds include them."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ungrounded_words": list(self.ungrounded_words)}


def figures(
    library: Library, drawn: Sequence[DrawnVideo], answers: Sequence[Entry], overviews: Sequence[Entry] = ()
) -> ContextFigures:
    """Count the contexts of `library` about these windows, and the faults of the answers, as journals have them."""
    windows = {window.id: window for each in drawn for window in each.windows}
    written = context_texts(library, drawn).keys()
    left_out = {id for each in drawn for id in library.contexts.left_out(each.video.id)} - written
    answered = {answer["window"] for answer in answers}
    texts = [clean_context(answer["raw"], window=windows[answer["window"]].text) for answer in answers]
    usable = [(_answer_text(answer["raw"]), text) for answer, text in zip(answers, texts, strict=True) if text]
    kinds = [{kind for kind, _text in answer["doubts"]} for answer in answers]
    words = [text for answer in answers for kind, text in answer["doubts"] if kind in UNGROUNDED]
    cost = [*answers, *overviews]
    return ContextFigures(
        windows=len(windows),
        written=len(written),
        left_out=len(left_out),
        empty=len(answered - written - left_out),
        due=len(windows.keys() - answered - written - left_out),
        answers=len(answers),
        second_tries=sum(answer[LINE_FIELD] > 1 for answer in answers),
        ungrounded=_count_doubted(kinds, UNGROUNDED),
        ungrounded_words=tuple(dict.fromkeys(words)),
        repeated=_count_doubted(kinds, {SAME}),
        looped=sum(answer["prompt_tokens"] == 0 for answer in answers),
        retold=_count_doubted(kinds, {"echo", "repeat"}),
        foreign=_count_foreign(library, drawn, answers),
        unusable=sum(not text for text in texts),
        removed=_removed_share(usable),
        prompt_tokens=sum(each["prompt_tokens"] for each in cost),
        tokens=sum(each["tokens"] for each in cost),
        seconds=sum(each["ms"] for each in cost) / 1000,
        overviews=len(overviews),
    )


def _count_doubted(kinds: Iterable[Collection[str]], doubts: Collection[str]) -> int:
    """Count the answers with one of these kinds of doubts."""
    return sum(any(kind in doubts for kind in some) for some in kinds)


def _count_foreign(library: Library, drawn: Sequence[DrawnVideo], answers: Sequence[Entry]) -> int:
    """Count the answers with letters that neither Korean nor the video has."""
    known = {each.video.id: known_text(library, each.video, each.windows) for each in drawn}
    videos = {window.id: each.video.id for each in drawn for window in each.windows}
    return sum(bool(find_foreign_script(each["raw"], known[videos[each["window"]]])) for each in answers)


def _removed_share(cleaned: Sequence[tuple[str, str]]) -> float | None:
    """Return the share of the characters that the cleaning removed from answers; None without any."""
    characters = sum(len(raw) for raw, _text in cleaned)
    return sum(max(0, len(raw) - len(text)) for raw, text in cleaned) / characters if characters else None


def _answer_text(raw: str) -> str:
    """Return the strings of an answer in JSON, else the answer."""
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return "\n".join(value for value in values.values() if isinstance(value, str)) if isinstance(values, dict) else raw


def own_figures(library: Library, drawn: Sequence[DrawnVideo]) -> ContextFigures:
    """Return the figures of the library's own contexts; of each window the last answer is stored."""
    stored: dict[str, Context] = {}
    for each in drawn:
        stored |= library.contexts.left_out(each.video.id) | library.contexts.of_video(each.video.id)
    return figures(library, drawn, list(map(_entry, stored.values())))


@dataclass(frozen=True, slots=True)
class Example:
    """A window with its context by each model; empty where it has none."""

    video: Video
    window: Window
    contexts: Mapping[str, str]
    """By model; the library's own under an empty name."""

    def to_json(self) -> dict[str, Any]:
        return {
            "video": self.video.id,
            "title": self.video.title,
            "start": self.window.start_ms / 1000,
            "end": self.window.end_ms / 1000,
            "text": self.window.text,
            "contexts": {name or "library": text for name, text in self.contexts.items()},
        }


def examples(drawn: Sequence[DrawnVideo], texts: Mapping[str, Mapping[str, str]], seed: int) -> list[Example]:
    """Draw windows by a seed, those first that have the most contexts, of another video each where there are enough."""
    pairs = [(each.video, window) for each in drawn for window in each.windows]
    random.Random(seed).shuffle(pairs)
    pairs.sort(key=lambda pair: -sum(pair[1].id in some for some in texts.values()))
    seen: dict[str, int] = {}
    ranked = []
    for at, (video, window) in enumerate(pairs):
        seen[video.id] = seen.get(video.id, 0) + 1
        missing = sum(window.id not in some for some in texts.values())
        ranked.append((missing, seen[video.id], at))
    chosen = [pairs[at] for _missing, _turn, at in sorted(ranked)[:EXAMPLES]]
    return [
        Example(video, window, {name: some.get(window.id, "") for name, some in texts.items()})
        for video, window in chosen
    ]


@dataclass(slots=True)
class ModelComparison:
    """A run over several models."""

    library: Library
    drawn: Sequence[DrawnVideo]
    models: list[ModelContexts] = field(default_factory=list)
    errors: list[AppError] = field(default_factory=list)
    """Reasons why a model's contexts are not complete."""

    def open(
        self,
        hosts: Sequence[Llm],
        names: Sequence[str],
        folder: Path,
        prompts: Mapping[str, ContextPrompt] = ONE_PROMPT,
    ) -> None:
        """Check that every model is there, then open what it has written before by each of the prompts (by label).

        Raises:
            LlmError: for the first model that no host has; no file was made then.
            UsageError: `not_own_file`.
        """
        ready = [hosts_with(hosts, name) for name in names]
        infos = {pairs[0][1].digest: pairs for pairs in ready}
        for pairs in infos.values():
            own_hosts = [host for host, _info in pairs]
            seen = set[str]()
            for label, prompt in prompts.items():
                if prompt.version in seen:
                    continue
                seen.add(prompt.version)
                model = ModelContexts(folder, own_hosts, pairs[0][1], prompt, label)
                self.models.append(model)
                model.copy(self.library, self.drawn)

    def close(self) -> None:
        for model in self.models:
            model.close()

    def costs(self, other_ms: float | None) -> list[CostEstimate]:
        return [model.cost(self.drawn, other_ms) for model in self.models]

    def write(self) -> Iterator[tuple[ModelContexts, ContextEvent]]:
        """Write all missing contexts, one model after the other; what ends a model early is in `errors`."""
        for model in self.models:
            for event in model.write(self.drawn):
                yield model, event
                if isinstance(event, ContextReport) and event.blocked is not None:
                    self.errors.append(event.blocked)
