"""Removal of sentences that a model copied from its prompt, or that are not about its video."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.contexts.sentence_filters import content_stems, letters, split_sentences

_HANGUL = re.compile("[가-힣]")
MIN_LETTERS = 10
"""Consecutive letters in a source that are no coincidence: about three words."""
MAX_LETTERS = 20
"""Consecutive letters, about seven words, that make a sentence a copy."""
MAX_SHARE = 0.6
"""Share of copied letters that makes a sentence a copy; a person's sentences have .54 at most."""


TASK_WORDS = 3
"""Words of the rules that make a sentence one about the task."""
BEGINNING = 60
"""Letters at the start of an answer, about three caption lines, in which to detect a mere copy."""
BEGINNING_SHARE = 0.75
"""Share of copied letters there that ends an answer; 205 contexts by a person have .32 at most."""


SAID_SHARE = 1 / 3
"""Minimum share of an overview's words in the video."""

SAID_WORDS = 3
"""The same as a number of words."""


@dataclass(frozen=True, slots=True)
class WordsOf:
    """The words of some texts."""

    spelled: str = ""
    """The texts' letters, in which to look up a stem of several letters."""
    stems: frozenset[str] = frozenset()
    """Their stems, in which to look up a stem of one letter, since it occurs in many other words."""

    @classmethod
    def of(cls, *texts: str) -> "WordsOf":
        text = nfc("\n".join(texts))
        return cls(letters(text), frozenset(content_stems(text)))

    def has(self, stem: str) -> bool:
        return stem in (self.spelled if len(stem) > 1 else self.stems)


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """Texts in a prompt: captions of all windows, its own rules, and the video's names."""

    texts: tuple[str, ...]
    """Letters and digits of captions and rules."""
    heads: tuple[str, ...] = ()
    """Letters and digits of title, chapters and description, which a good context may name among others."""
    rule_stems: frozenset[str] = frozenset()
    """Words of the rules (`content_stems`)."""
    video_words: WordsOf = field(default_factory=WordsOf)
    """Everything that the video says and is called; empty if a Korean context can share few words with it."""
    labels: WordsOf = field(default_factory=WordsOf)
    """Names of the video in every window's prompt: title and channel."""
    head_words: WordsOf = field(default_factory=WordsOf)
    """Title, channel, chapters and description."""

    @classmethod
    def of(
        cls,
        captions: Iterable[str],
        heads: Iterable[str] = (),
        rules: Iterable[str] = (),
        names: Iterable[str] = (),
        labels: Iterable[str] = (),
    ) -> "SourceTexts":
        """Prepare texts for lookup, regardless of spaces, punctuation and case.

        Args:
            captions: the windows' texts.
            heads: title, chapters and description.
            rules: the prompt's own words.
            names: names known besides the heads.
            labels: title and channel.
        """
        captions, heads, rules, labels = tuple(captions), tuple(heads), tuple(rules), tuple(labels)
        spelled = _spelled([*captions, *rules])
        video_words = WordsOf.of(*captions, *heads, *names)
        is_korean = 2 * len(_HANGUL.findall(video_words.spelled)) > len(video_words.spelled)
        return cls(
            spelled,
            _spelled(heads),
            frozenset(content_stems(nfc(" ".join(rules)))),
            video_words if is_korean else WordsOf(),
            WordsOf.of(*labels),
            WordsOf.of(*heads, *labels),
        )

    def without_copies(self, text: str) -> str:
        """Return a line without copied sentences.

        A sentence copies captions or rules by `MAX_LETTERS` and `MAX_SHARE`, or if it is there as a whole, however
        short: pieces of a longer copy ("이해하셨죠?") distinguish no window. It copies a head if it has fewer than
        `MIN_LETTERS` of its own, or no other word of the captions. A sentence with only words of title and channel is a
        copy too, and so is one with only words of title, chapters and description, some of them consecutive. Empty
        words never count.
        """
        return "".join(sentence for sentence in split_sentences(text) if not self._has_copy(sentence)).strip()

    def without_unrelated(self, text: str) -> str:
        """Return a line without the sentences that share no word with the video, its title or its names.

        Words of the rules do not count: small models talk about the task, or anything. With `TASK_WORDS` of them, one
        other word is too few: each of 275 sentences by a person has at least two. Nothing is removed if the captions
        are in another language.
        """
        if not self.video_words.spelled:
            return text
        return "".join(sentence for sentence in split_sentences(text) if self._is_related(sentence)).strip()

    def tells_of_video(self, text: str) -> bool:
        """Whether a summary is about the video, which must have `SAID_SHARE` of its words and `SAID_WORDS`.

        One word per sentence would be too little: an invented summary shares words such as 시간 and 친구 with any
        video. Words of the rules do not count. A summary of captions in another language passes.
        """
        stems = content_stems(nfc(text)) - self.rule_stems
        shared_words = sum(map(self.video_words.has, stems))
        return not self.video_words.spelled or shared_words >= max(SAID_WORDS, SAID_SHARE * len(stems))

    def has_long_copy(self, text: str) -> bool:
        """Whether a text has `MAX_LETTERS` of captions or rules in a row."""
        return _copied(letters(nfc(text)), self.texts)[1] >= MAX_LETTERS

    def begins_as_copy(self, text: str) -> bool | None:
        """Whether a growing text begins with a long copy of captions or rules; None while it is too short."""
        spelled = letters(nfc(text))[:BEGINNING]
        if len(spelled) < BEGINNING:
            return None
        copied, _longest = _copied(spelled, self.texts)
        return copied >= BEGINNING_SHARE * BEGINNING

    def _is_related(self, sentence: str) -> bool:
        stems = content_stems(nfc(sentence))
        of_task = stems & self.rule_stems
        shared_words = sum(map(self.video_words.has, stems - of_task))
        return shared_words >= (1 if len(of_task) < TASK_WORDS else 2)

    def _says_more(self, sentence: str) -> bool:
        """Whether a sentence has a word of the captions that title, chapters and description lack."""
        stems = content_stems(nfc(sentence)) - self.rule_stems
        return any(stem in self.video_words.spelled and not any(stem in head for head in self.heads) for stem in stems)

    def _has_copy(self, sentence: str) -> bool:
        spelled = letters(nfc(sentence))
        copied, longest = _copied(spelled, self.texts)
        head_letters, _run = _copied(spelled, self.heads)
        head_letters = max(
            [head_letters, *(len(head) for head in self.heads if len(head) < MIN_LETTERS and head in spelled)]
        )
        is_name = head_letters > 0 and len(spelled) - head_letters < MIN_LETTERS
        is_name |= 2 * head_letters > len(spelled) and not self._says_more(sentence)
        stems = content_stems(nfc(sentence)) - self.rule_stems
        is_name |= bool(stems) and all(map((self.head_words if head_letters else self.labels).has, stems))
        is_whole = bool(spelled) and any(spelled in text for text in self.texts)
        return is_name or is_whole or longest >= MAX_LETTERS or bool(spelled and copied >= MAX_SHARE * len(spelled))


def _spelled(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(None, (letters(nfc(text)) for text in texts)))


def _copied(spelled: str, sources: Iterable[str]) -> tuple[int, int]:
    """Return the letters in a source in runs of `MIN_LETTERS` or more, and the length of the longest run."""
    longest = copied = end = 0
    for start in range(len(spelled) - MIN_LETTERS + 1):
        if start + MIN_LETTERS <= end:
            continue  # inside the last run
        run = max((_run_length(spelled, start, source) for source in sources), default=0)
        if run:
            longest = max(longest, run)
            copied += start + run - max(start, end)
            end = start + run
    return copied, longest


def _run_length(spelled: str, start: int, source: str) -> int:
    """Return the consecutive letters from `start` on in `source`; 0 if fewer than `MIN_LETTERS`."""
    end = start + MIN_LETTERS
    if spelled[start:end] not in source:
        return 0
    while end < len(spelled) and spelled[start : end + 1] in source:
        end += 1
    return end - start
