"""`eval models`: contexts of the same windows by several models, each in its own library next to the user's.

The user's library is only read. Each new library has one model's contexts, and a journal next to it every answer. Both
are kept: the next run, even after `kill -9`, requests only what is missing.
"""

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.base.domain.events import ContextEvent, OverviewWritten
from subtitle_rag.base.domain.values import Track, Window
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.answer_check import known_text
from subtitle_rag.contexts.cleaning import clean_context
from subtitle_rag.contexts.context_text import SAME
from subtitle_rag.contexts.grounding import UNGROUNDED
from subtitle_rag.contexts.planning import Planner, context_key, prompt_sizes
from subtitle_rag.contexts.prompt_layout import VERSION, ContextPrompt
from subtitle_rag.contexts.sentence_filters import find_foreign_script
from subtitle_rag.contexts.writer import Writer
from subtitle_rag.evaluation.questions import Document
from subtitle_rag.evaluation.records import Entry, Records
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.context_store import Context, Recipe, WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.models.ollama.llm_client import Llm, hosts_with
from subtitle_rag.models.ollama.responses import ModelInfo

FOLDER = "comparisons"
OWN = "library"
"""Stands for the library's own contexts in place of a model's name."""
COMMAND = "subtitle-rag eval models"
LINE_FIELD = "try"
"""A field in every line of a journal but the first; 0 for the summary of a section."""
EXAMPLES = 3
CONTEXT_TOKENS = 75
"""Tokens of a context, for estimates: the prompt asks for 50 to 100."""


def draw(library: Library, count: int, seed: int, preferred: Collection[str]) -> list[Document]:
    """Choose videos by a seed, first among the `preferred` ids; a larger count extends a smaller one's choice."""
    videos = sorted((state.video for state in library.videos() if state.windows), key=lambda video: video.id)
    shuffled = random.Random(seed).sample(videos, len(videos))
    shuffled.sort(key=lambda video: video.id not in preferred)
    return [(video, library.windows_of(video.id)) for video in shuffled[:count]]


class _NoIndex:
    """Placeholder for the index of a library that is not searched."""

    def add_contexts(self, late: Mapping[str, Collection[str]]) -> None:
        pass


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The remaining work of a model; the fields are its JSON keys. Tokens are estimates."""

    calls: int
    """Requests for windows, and for overviews of long videos."""
    prompt_tokens: int
    tokens: int
    seconds: float | None
    """None if neither this model nor the library's has been timed."""


class ModelContexts:
    """One model's contexts for some videos in a separate library, with the journal of its answers. Close after use."""

    def __init__(
        self,
        folder: Path,
        hosts: Sequence[Llm],
        info: ModelInfo,
        prompt: ContextPrompt,
        label: str,
        documents: Sequence[Document],
    ) -> None:
        """Open or create the library and the journal.

        Args:
            folder: where to put both.
            hosts: the hosts with the model.
            info: the model.
            prompt: the prompt.
            label: name of the prompt next to the model's.
            documents: the videos with their windows.

        Raises:
            UsageError: `not_own_file`, for a journal that this command did not write.
        """
        self.info, self.prompt = info, prompt
        self.name = f"{info.name}, {label}" if label else info.name
        suffix = prompt.version.removeprefix(VERSION)
        name = f"{re.sub(r'[^0-9A-Za-z가-힣._-]+', '-', info.name)}-{info.digest[:12]}{suffix}"
        folder.mkdir(parents=True, exist_ok=True)
        self.recipe = Recipe(info.digest, prompt.version)
        self._hosts, self._documents = hosts, documents
        path = folder / f"{name}.jsonl"
        head = {"model": info.name, "digest": info.digest, **({"prompt": prompt.version} if suffix else {})}
        self._journal = Records.read(path, COMMAND, LINE_FIELD)
        self._journal.begin(head)
        self._lock = threading.Lock()
        self.library = Library(folder / f"{name}.db")

    def close(self) -> None:
        self.library.close()

    def copy(self, source: Library) -> None:
        """Copy new or changed videos, windows and glossaries."""
        target = self.library
        for video, windows in self._documents:
            transcript = source.contexts.transcript(video.id)
            if target.contexts.transcript(video.id) != transcript or target.video(video.id) != video:
                sha256, _separator, rule = transcript.rpartition(":")
                target.put_video(video, Track("ko", "file", "vtt", b"", sha256, 0), windows, rule)
            glossary = source.contexts.glossary(video.channel_id)
            if target.contexts.glossary(video.channel_id) != glossary:
                target.contexts.put_glossary(video.channel_id, glossary)
        ratio = source.contexts.tokens_per_character(self.info.digest)
        if ratio and target.contexts.tokens_per_character(self.info.digest) is None:
            target.contexts.put_tokens_per_character(self.info.digest, ratio)

    def cost(self, other_ms: float | None) -> CostEstimate:
        """Estimate the remaining work; `other_ms` is the time of a context if this model has not been timed."""
        documents = WindowSelection(videos=tuple(video.id for video, _windows in self._documents))
        work = self.library.contexts.work(self.recipe, documents)
        sizes = prompt_sizes(self._hosts[0], self.info)
        planner = Planner(self.library, self.recipe, self.prompt, self.info, sizes)
        calls = sum(work.values()) + sum(map(planner.missing_sections, work))
        mean_ms = self.library.contexts.mean_ms(self.info.digest) or other_ms
        return CostEstimate(
            calls,
            sum(map(planner.prompt_estimate, work)),
            calls * CONTEXT_TOKENS,
            calls * mean_ms / 1000 if mean_ms is not None else None,
        )

    def write(self) -> Iterator[ContextEvent]:
        """Write the missing contexts. The last event is the `ContextReport`. Raises like `Writer.run`."""
        writer = Writer(
            self.library,
            _NoIndex(),
            self._hosts,
            self.info.name,
            analyzer=Analyzer(),
            answered=lambda context: self._append(_entry(context)),
            prompt=self.prompt,
        )
        for event in writer.run(WindowSelection(videos=tuple(video.id for video, _windows in self._documents))):
            if isinstance(event, OverviewWritten):
                self._append({LINE_FIELD: 0, "video": event.video, **_costs(event)})
            yield event

    def figures(self) -> "ContextFigures":
        """Return the figures of the windows, by the last line about each answer.

        Answers to other captions or by another prompt do not count.
        """
        keys = {
            context_key(self.recipe, window.id, context_prompt.transcript_hash(windows))
            for _video, windows in self._documents
            for window in windows
        }
        entries = self._journal.entries
        answers = {(entry["key"], entry[LINE_FIELD]): entry for entry in entries if entry.get("key") in keys}
        ids = {video.id for video, _windows in self._documents}
        overviews = [entry for entry in entries if entry[LINE_FIELD] == 0 and entry["video"] in ids]
        return figures(self.library, self._documents, list(answers.values()), overviews)

    def _append(self, entry: Entry) -> None:
        with self._lock:
            self._journal.append(entry)


def _entry(context: Context) -> Entry:
    """Return the journal line of the answer that led to a context."""
    doubts = [list(doubt) for doubt in context.doubts]
    entry: Entry = {LINE_FIELD: context.tries, "key": context.key, "window": context.window_id, "raw": context.raw}
    return {**entry, "doubts": doubts, **_costs(context)}


def _costs(value: Context | OverviewWritten) -> Entry:
    return {"prompt_tokens": value.prompt_tokens, "tokens": value.tokens, "ms": value.ms}


def context_texts(library: Library, documents: Sequence[Document]) -> dict[str, str]:
    """Return the searched contexts of a library, by window."""
    return {
        id: context.text for video, _windows in documents for id, context in library.contexts.of_video(video.id).items()
    }


@dataclass(frozen=True, slots=True)
class ContextFigures:
    """Counts of the windows in a comparison, and of faults in the answers; the fields are the JSON keys."""

    windows: int
    written: int
    left_out: int
    empty: int
    """Windows without a usable answer."""
    due: int
    """Windows not yet requested."""
    answers: int
    second_tries: int
    ungrounded: int
    """Answers with a name or number that is nowhere in the video."""
    ungrounded_words: list[str]
    repeated: int
    """Answers with the same words as another window's."""
    looped: int
    """Endless answers, which were stopped; the server did not count their tokens."""
    retold: int
    """Answers that retell the window or the previous context."""
    foreign: int
    """Answers with Chinese or Japanese script that is not in the video."""
    unusable: int
    """Answers that cleaning left empty."""
    removed: float | None
    """Share of the characters removed by cleaning from the other answers; None if there are none."""
    prompt_tokens: int
    tokens: int
    seconds: float
    overviews: int
    """Requests for overviews of long videos; tokens and seconds include them."""


def figures(
    library: Library, documents: Sequence[Document], answers: Sequence[Entry], overviews: Sequence[Entry] = ()
) -> ContextFigures:
    """Count the contexts of `library` for these windows, and the faults of the answers in the journals."""
    windows = {window.id: window for _video, some in documents for window in some}
    with_context = context_texts(library, documents).keys()
    left_out = {id for video, _windows in documents for id in library.contexts.left_out(video.id)} - with_context
    answered = {answer["window"] for answer in answers}
    texts = [clean_context(answer["raw"], window=windows[answer["window"]].text) for answer in answers]
    usable = [(_answer_text(answer["raw"]), text) for answer, text in zip(answers, texts, strict=True) if text]
    kinds = [{kind for kind, _text in answer["doubts"]} for answer in answers]
    words = [text for answer in answers for kind, text in answer["doubts"] if kind in UNGROUNDED]
    cost = [*answers, *overviews]
    return ContextFigures(
        windows=len(windows),
        written=len(with_context),
        left_out=len(left_out),
        empty=len(answered - with_context - left_out),
        due=len(windows.keys() - answered - with_context - left_out),
        answers=len(answers),
        second_tries=sum(answer[LINE_FIELD] > 1 for answer in answers),
        ungrounded=_count_doubted(kinds, UNGROUNDED),
        ungrounded_words=list(dict.fromkeys(words)),
        repeated=_count_doubted(kinds, {SAME}),
        looped=sum(answer["prompt_tokens"] == 0 for answer in answers),
        retold=_count_doubted(kinds, {"echo", "repeat"}),
        foreign=_count_foreign(library, documents, answers),
        unusable=sum(not text for text in texts),
        removed=_removed_share(usable),
        prompt_tokens=sum(each["prompt_tokens"] for each in cost),
        tokens=sum(each["tokens"] for each in cost),
        seconds=sum(each["ms"] for each in cost) / 1000,
        overviews=len(overviews),
    )


def _count_doubted(kinds: Sequence[set[str]], doubts: Set[str]) -> int:
    """Count the answers with one of these kinds of doubts."""
    return sum(not doubts.isdisjoint(some) for some in kinds)


def _count_foreign(library: Library, documents: Sequence[Document], answers: Sequence[Entry]) -> int:
    """Count the answers with letters that are neither Korean nor in the video."""
    texts: dict[str, str] = {}
    for video, windows in documents:
        texts |= dict.fromkeys((window.id for window in windows), known_text(library, video, windows))
    return sum(bool(find_foreign_script(each["raw"], texts[each["window"]])) for each in answers)


def _removed_share(cleaned: Sequence[tuple[str, str]]) -> float | None:
    """Return the share of the characters removed from answers by cleaning; None if there are none."""
    characters = sum(len(raw) for raw, _text in cleaned)
    return sum(max(0, len(raw) - len(text)) for raw, text in cleaned) / characters if characters else None


def _answer_text(raw: str) -> str:
    """Return the strings of a JSON answer, else the answer."""
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return "\n".join(value for value in values.values() if isinstance(value, str)) if isinstance(values, dict) else raw


def own_figures(library: Library, documents: Sequence[Document]) -> ContextFigures:
    """Return the figures of the library's own contexts, for which only the last answers are stored."""
    stored: dict[str, Context] = {}
    for video, _windows in documents:
        stored |= library.contexts.left_out(video.id) | library.contexts.of_video(video.id)
    return figures(library, documents, list(map(_entry, stored.values())))


@dataclass(frozen=True, slots=True)
class Example:
    """A window with its context by each model, "" if there is none; the fields are the JSON keys."""

    video: str
    title: str
    start: float
    end: float
    text: str
    contexts: Mapping[str, str]


def examples(documents: Sequence[Document], texts: Mapping[str, Mapping[str, str]], seed: int) -> list[Example]:
    """Choose windows by a seed: those with most contexts first, from different videos if possible."""

    def missing(window: Window) -> int:
        return sum(window.id not in some for some in texts.values())

    pairs = [(video, window) for video, windows in documents for window in windows]
    random.Random(seed).shuffle(pairs)
    pairs.sort(key=lambda pair: missing(pair[1]))
    turns = Counter[str]()
    ranked = []
    for at, (video, window) in enumerate(pairs):
        turns[video.id] += 1
        ranked.append((missing(window), turns[video.id], at))
    picks = [pairs[at] for _missing, _turn, at in sorted(ranked)[:EXAMPLES]]
    return [
        Example(
            video.id,
            video.title,
            window.start_ms / 1000,
            window.end_ms / 1000,
            window.text,
            {name: some.get(window.id, "") for name, some in texts.items()},
        )
        for video, window in picks
    ]


def open_models(
    hosts: Sequence[Llm],
    names: Sequence[str],
    prompts: Mapping[str, ContextPrompt],
    folder: Path,
    documents: Sequence[Document],
    opened: ExitStack,
) -> list[ModelContexts]:
    """Check that every model is there, then open its earlier contexts with each prompt.

    Args:
        hosts: the hosts.
        names: the models.
        prompts: the prompts by label.
        folder: folder of the comparison.
        documents: the videos with their windows.
        opened: closes the libraries.

    Raises:
        LlmError: for the first model that no host has, before any file is made.
        UsageError: `not_own_file`.
    """
    ready = [hosts_with(hosts, name) for name in names]
    labels: dict[str, str] = {}
    for label, prompt in prompts.items():
        labels.setdefault(prompt.version, label)
    return [
        opened.enter_context(
            closing(
                ModelContexts(folder, [host for host, _info in pairs], pairs[0][1], prompts[label], label, documents)
            )
        )
        for pairs in {pairs[0][1].digest: pairs for pairs in ready}.values()
        for label in labels.values()
    ]
