"""Check of a model's answers about a video: their usable text, and their faults in words for the model."""

import re
import threading
from collections.abc import Callable, Mapping, Sequence

from subtitle_rag.base.domain.values import Video, Window, nfc
from subtitle_rag.contexts.claims import Said, claim_text
from subtitle_rag.contexts.cleaning import MAX_CONTEXT, clean_context
from subtitle_rag.contexts.context_prompt import MAX_SUMMARY, SUMMARY_SENTENCES
from subtitle_rag.contexts.context_text import COPY, ELSEWHERE, GENERAL, OPPOSITE, SAME, UNRELATED
from subtitle_rag.contexts.copied_text import SourceTexts
from subtitle_rag.contexts.grounding import doubts
from subtitle_rag.contexts.sentence_filters import (
    SCRIPT_REMINDER,
    content_stems,
    find_foreign_script,
    split_sentences,
    without_foreign_script,
)
from subtitle_rag.contexts.window_fit import WindowFit
from subtitle_rag.korean.morphemes import SentenceAnalyzer
from subtitle_rag.library.store import Library
from subtitle_rag.models.ollama.responses import LENGTH, LOOP, USELESS, Reply

REPETITION_REMINDER = "다른 구간과 같은 설명입니다. 이 구간에만 있는 내용을 쓰세요."
SUMMARY_REPETITION_REMINDER = "다른 영상과 같은 요약입니다. 이 영상에만 있는 내용을 쓰세요."
UNGROUNDED_REMINDER = "영상에 없는 말은 빼고 쓰세요: {words}."
UNRELATED_REMINDER = "이 영상에서 실제로 말하는 내용을 쓰세요."
COPY_REMINDER = "자막이나 지시문을 옮겨 적지 말고 자기 말로 쓰세요."
ELSEWHERE_REMINDER = "다른 구간의 내용입니다. 이 구간에서 말하는 내용을 쓰세요."
GENERAL_REMINDER = "어느 구간에나 맞는 말입니다. 이 구간에만 있는 이름과 내용을 쓰세요."
OPPOSITE_REMINDER = "자막과 반대되는 말은 고쳐 쓰세요: {words}."
REFUSED = frozenset({"number", "name"})
"""Kinds of doubts about things that are certainly nowhere in the video."""
REMINDER_WORDS = 40
"""Maximum characters of the words that this reminder quotes."""

PLATFORM = "유튜브 YouTube"
"""The site of the videos: a context may name it even if nobody does."""
_VALUE_START = re.compile(r"^\s*\{\s*\"\w+\"\s*:\s*\"?")
"""Text before the value in an answer under a schema."""

_REMINDERS = {SAME: REPETITION_REMINDER, ELSEWHERE: ELSEWHERE_REMINDER, GENERAL: GENERAL_REMINDER}
"""Reminders for the model by kind of fault."""

Doubts = tuple[tuple[str, str], ...]
"""Pairs of kind and text."""


class ContextWords:
    """Word sets of contexts, by window. Thread-safe."""

    def __init__(self, read: Callable[[], Mapping[str, str]]) -> None:
        """Prepare the sets; `read` returns the contexts by window, at the first use."""
        self._read = read
        self._lock = threading.Lock()
        self._words: dict[str, frozenset[str]] | None = None

    def put(self, window_id: str, text: str) -> None:
        """Replace a window's context; empty if it has none."""
        with self._lock:
            self._by_window()[window_id] = _word_set(text)

    def are_of_another(self, window_id: str, text: str) -> bool:
        """Whether another window's context has the same words, in any order and number."""
        words = _word_set(text)
        with self._lock:
            return bool(words) and any(words == each for id, each in self._by_window().items() if id != window_id)

    def _by_window(self) -> dict[str, frozenset[str]]:
        if self._words is None:
            self._words = {window_id: _word_set(text) for window_id, text in self._read().items()}
        return self._words


def _word_set(text: str) -> frozenset[str]:
    """Return the words of a text without case and punctuation."""
    return frozenset(re.findall(r"\w+", nfc(text).casefold()))


class AnswerCheck:
    """Checks the answers about one video."""

    def __init__(
        self,
        library: Library,
        video: Video,
        windows: Sequence[Window],
        words: ContextWords,
        summary_words: ContextWords,
        analyzer: SentenceAnalyzer,
        prompt_texts: Sequence[str] = (),
    ) -> None:
        """Prepare the check of one video's answers.

        Args:
            library: for the glossary and other known texts.
            video: the video.
            windows: its windows.
            words: words of all contexts, by window.
            summary_words: words of all summaries, by video.
            analyzer: for the morphemes.
            prompt_texts: the prompt's own words: rules, instructions, reminders.
        """
        self._video_id = video.id
        self._words = words
        self._summary_words = summary_words
        self._head = _head(video)
        self._glossary = library.contexts.glossary(video.channel_id)
        self._transcript = " ".join(window.text for window in windows)
        self._analyzer = analyzer
        self._windows = windows
        self._numbers = {window.id: number for number, window in enumerate(windows)}
        self._fit = WindowFit([window.text for window in windows], content_stems(nfc(" ".join(prompt_texts))))
        self._said = Said(
            claim_text(self._transcript),
            (),
            (self._head, *self._glossary, library.details(video.id).description, PLATFORM),
        )
        self._known = _joined(self._head, self._glossary, self._transcript)
        labels = (video.title, video.channel)
        self._sources = SourceTexts.of(
            (self._transcript, *(window.text for window in windows)),
            (video.title, library.details(video.id).description, *(chapter.title for chapter in video.chapters)),
            prompt_texts,
            (video.channel, *self._glossary),
            labels,
        )

    def context(self, window: Window, reply: Reply, previous: str, *, last: bool) -> tuple[str, str, Doubts]:
        """Return an answer's usable text, its fault in words for the model, and the doubts about it.

        The text is empty if there is a fault. `previous` is the previous window's context.
        """
        if reply.done_reason == USELESS:
            return "", COPY_REMINDER, ((COPY, reply.text),)
        answer, fault = self._clean(reply, last=last, window=window.text)
        own_text = self._sources.without_copies(answer)
        if not own_text:
            return ("", COPY_REMINDER, ((COPY, answer),)) if answer else ("", fault, ())
        text = self._sources.without_unrelated(own_text)
        doubt_pairs = self._find_doubts(text or own_text, window=window.text, previous=previous)
        doubt_pairs += self._false_claims(text, window) if text else ()
        if not text and not _fault_reminder(doubt_pairs):
            return "", UNRELATED_REMINDER, ((UNRELATED, answer),)
        if self._words.are_of_another(window.id, text):
            doubt_pairs += ((SAME, text),)
        reminder = _fault_reminder(doubt_pairs)
        return ("", reminder, doubt_pairs) if reminder else (text, fault, doubt_pairs)

    def copy_watch(self) -> Callable[[str], bool]:
        """Return a function that tells whether a growing answer only copies its prompt, so that it can be ended."""
        is_copy: bool | None = None

        def watch(text: str) -> bool:
            nonlocal is_copy
            if is_copy is None:
                is_copy = self._sources.begins_as_copy(_VALUE_START.sub("", text))
            return bool(is_copy)

        return watch

    def summary(self, reply: Reply, *, last: bool) -> tuple[str, str]:
        """Return an answer's usable text, empty if there is a fault, and the fault in words for the model."""
        if reply.done_reason == USELESS:
            return "", COPY_REMINDER
        answer, fault = self._clean(reply, last=last, limit=MAX_SUMMARY)
        own_text = self._sources.without_copies(answer)
        text = "".join(split_sentences(own_text)[:SUMMARY_SENTENCES]).strip()
        if self._summary_words.are_of_another(self._video_id, text):
            return "", SUMMARY_REPETITION_REMINDER
        reminder = _fault_reminder((*self._find_doubts(text), *self._false_claims(text)))
        if answer and not reminder and not self._is_about_video(own_text):
            reminder = UNRELATED_REMINDER if own_text else COPY_REMINDER
        return ("", reminder) if reminder else (text, fault)

    def section(self, reply: Reply, *, last: bool) -> str:
        """Return the usable text of an answer about a section of a long video; "" if there is a fault.

        Prompts show it as the video's overview, so its inventions would get into all contexts.
        """
        answer, _fault = self._clean(reply, last=last)
        text = self._sources.without_unrelated(self._sources.without_copies(answer))
        is_usable = self._is_about_video(text) and not _fault_reminder(
            (*self._find_doubts(text), *self._false_claims(text))
        )
        return text if is_usable else ""

    def _is_about_video(self, text: str) -> bool:
        """Whether a summary has a sentence about the video, and enough of its words."""
        return bool(self._sources.without_unrelated(text)) and self._sources.tells_of_video(text)

    def _clean(self, reply: Reply, *, last: bool, window: str = "", limit: int = MAX_CONTEXT) -> tuple[str, str]:
        """Return an answer without wrapping and other scripts, and its slip into another script in words."""
        is_cut = reply.done_reason == LENGTH
        text = clean_context(reply.text, window=window, limit=limit, is_cut=is_cut)
        if reply.done_reason == LOOP and not last:
            text = ""
        fault = SCRIPT_REMINDER if find_foreign_script(reply.text, self._known) else ""
        if find_foreign_script(text, self._known):
            text = without_foreign_script(text, self._known) if last else ""
        return text, fault

    def _find_doubts(self, text: str, *, window: str = "", previous: str = "") -> Doubts:
        """List the doubts about a text on this video, or on `window` of it."""
        doubt_pairs = doubts(
            text,
            transcript=self._transcript,
            title=self._head,
            glossary=self._glossary,
            window=window,
            previous=previous,
        )
        return tuple((doubt.kind, doubt.text) for doubt in doubt_pairs)

    def _false_claims(self, text: str, window: Window | None = None) -> Doubts:
        """Return the doubts about certainly invented names, and about a context of another window or of none.

        Captions in another language prove nothing.
        """
        if not self._sources.video_words.spelled:
            return ()
        spoken = claim_text(text)
        (tags,) = self._analyzer.tagged([spoken])
        claims = tuple(("name", name) for name in self._said.strange_names(tags))
        at = self._numbers.get(window.id) if window else None
        if at is None:
            return claims
        around = claim_text(" ".join(each.text for each in self._windows[max(0, at - 1) : at + 2]))
        (around_tags,) = self._analyzer.tagged([around])
        said = Said(around, around_tags)
        claims += tuple((OPPOSITE, word) for word in said.turned(spoken, tags))
        if self._fit.is_of_another(at, spoken, tags):
            return (*claims, (ELSEWHERE, text))
        return (*claims, (GENERAL, text)) if self._fit.says_nothing(at, spoken, tags) else claims


def _fault_reminder(doubt_pairs: Doubts) -> str:
    """Return the reminder for a context that must not be searched; "" if it may be."""
    kinds = {kind for kind, _text in doubt_pairs}
    for kind, reminder in _REMINDERS.items():
        if kind in kinds:
            return reminder
    for reminder, of_reminder in ((UNGROUNDED_REMINDER, REFUSED), (OPPOSITE_REMINDER, {OPPOSITE})):
        if words := ", ".join(text for kind, text in doubt_pairs if kind in of_reminder):
            return reminder.format(words=words[:REMINDER_WORDS])
    return ""


def known_text(library: Library, video: Video, windows: Sequence[Window]) -> str:
    """Join title, chapters, glossary and captions of a video."""
    transcript = " ".join(window.text for window in windows)
    return _joined(_head(video), library.contexts.glossary(video.channel_id), transcript)


def _joined(head: str, glossary: Sequence[str], transcript: str) -> str:
    return " ".join([head, *glossary, transcript])


def _head(video: Video) -> str:
    """Return the head of a video's prompt as one line."""
    chapters = (chapter.title for chapter in video.chapters)
    return " ".join([video.title, video.channel, str(video.published or ""), *chapters])
