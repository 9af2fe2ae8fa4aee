"""Removal of sentences that a model copied out of its prompt, and of those that have nothing to do with its video."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from subtitle_rag.contexts.sentence_filters import content_stems, letters, split_sentences
from subtitle_rag.domain.values import nfc

_HANGUL = re.compile("[가-힣]")
MIN_LETTERS = 10
"""Letters in a row from which on the same ones in a source are no coincidence: about three words."""
MAX_LETTERS = 20
"""Letters in a row, about seven words, from which on a sentence is a copy. The longest run in 275 sentences that a
person wrote with the captions before them is 19 letters, a product's whole name."""
MAX_SHARE = 0.6
"""Share of a sentence's letters from which on it is a copy; of the same sentences the greatest is .54."""


TASK_WORDS = 3
"""Words of the rules in a sentence from which on it speaks of the task."""
BEGINNING = 60
"""Letters at the beginning of an answer, about three lines of captions, by which one that only copies is told."""
BEGINNING_SHARE = 0.75
"""Share of them that are copied, from which on the rest is not waited for; of 205 contexts that a person wrote the
greatest is .32."""


SAID_SHARE = 1 / 3
"""Share of an overview's words that its video says at least. Of 137 texts that a person wrote about ten videos the
least is .38, and .46 of two such texts together; beside other videos the median is .12, and .29 at 90 %."""

SAID_WORDS = 3
"""The same in words; the least of the same texts."""


@dataclass(frozen=True, slots=True)
class WordsOf:
    """The words of some texts."""

    spelled: str = ""
    """The texts' letters: a stem of several is in them."""
    stems: frozenset[str] = frozenset()
    """Their stems: one of a single letter would be in many other words."""

    @classmethod
    def of(cls, *texts: str) -> "WordsOf":
        text = nfc("\n".join(texts))
        return cls(letters(text), frozenset(content_stems(text)))

    def has(self, stem: str) -> bool:
        return stem in (self.spelled if len(stem) > 1 else self.stems)


@dataclass(frozen=True, slots=True)
class SourceTexts:
    """The texts that a prompt shows: captions of all windows and its own rules, and what names the video."""

    texts: tuple[str, ...]
    """Letters and digits of captions and rules alone."""
    heads: tuple[str, ...] = ()
    """Letters and digits of title, chapters and description, which a good context may name beside something else."""
    rule_stems: frozenset[str] = frozenset()
    """Words of the rules (`content_stems`)."""
    video_words: WordsOf = field(default_factory=WordsOf)
    """All that the video says and is called; empty where a Korean context has few words of it."""
    labels: WordsOf = field(default_factory=WordsOf)
    """What every window's prompt calls the video: title and channel."""
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
        """Prepare texts for lookup, whatever their spaces, punctuation and case; `names` are known beside the heads."""
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
        """Return a line without the sentences that are copies.

        One of captions or rules is told by `MAX_LETTERS` and `MAX_SHARE`, and however short by standing there whole:
        crumbs of a longer copy ("이해하셨죠?") tell no window from another. One of a head is told by fewer than
        `MIN_LETTERS` of its own, or by no word of the captions beside it. A sentence that has words of title and
        channel alone is one too, and so is one of title, chapters and description that has some of them in a row: empty
        words count nowhere.
        """
        return "".join(sentence for sentence in split_sentences(text) if not self._has_copy(sentence)).strip()

    def without_unrelated(self, text: str) -> str:
        """Return a line without the sentences of which no word of its own is in the video, its title or its names.

        Words of the rules do not count: small models talk of the task, or of anything. Beside `TASK_WORDS` of them one
        word is too few: each of 275 sentences that a person wrote has two such words at least. All stays where the
        captions are in another language.
        """
        if not self.video_words.spelled:
            return text
        return "".join(sentence for sentence in split_sentences(text) if self._is_related(sentence)).strip()

    def tells_of_video(self, text: str) -> bool:
        """Tell whether a summary is about the video: the video says `SAID_SHARE` of its words and `SAID_WORDS`.

        One word in each sentence is too little here: an invented summary shares words such as 시간 and 친구 with any
        video. Words of the rules do not count. A summary of captions in another language passes.
        """
        stems = content_stems(nfc(text)) - self.rule_stems
        shared_words = sum(map(self.video_words.has, stems))
        return not self.video_words.spelled or shared_words >= max(SAID_WORDS, SAID_SHARE * len(stems))

    def has_long_copy(self, text: str) -> bool:
        """Tell whether a text has `MAX_LETTERS` of captions or rules in a row."""
        return _copied(letters(nfc(text)), self.texts)[1] >= MAX_LETTERS

    def begins_as_copy(self, text: str) -> bool | None:
        """Tell whether a growing text begins with a long copy of captions or rules; None while it is too short."""
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
        """Tell whether a sentence has a word of the captions that its title, chapters and description lack."""
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
    """Count the letters that are in a source in runs of `MIN_LETTERS` or more, and those of the longest run."""
    longest = copied = end = 0
    for start in range(len(spelled) - MIN_LETTERS + 1):
        if start + MIN_LETTERS <= end:
            continue  # it lies inside of the last run
        run = max((_run_length(spelled, start, source) for source in sources), default=0)
        if run:
            longest = max(longest, run)
            copied += start + run - max(start, end)
            end = start + run
    return copied, longest


def _run_length(spelled: str, start: int, source: str) -> int:
    """Count the letters from `start` on that are in a row in `source`; 0 if they are fewer than `MIN_LETTERS`."""
    end = start + MIN_LETTERS
    if spelled[start:end] not in source:
        return 0
    while end < len(spelled) and spelled[start : end + 1] in source:
        end += 1
    return end - start
