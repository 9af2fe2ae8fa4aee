"""Stream of an answer's text as it is shown and stored.

It drops thoughts and channel names at the start, citations of missing scenes or without any word ("[2]" is no answer),
repeated sentences, and sentences of the model's instructions. Text is held back only while it may be one of these, so
the shown text is the stored text.
"""

import re
from collections.abc import Iterable

from subtitle_rag.answers.citations import MARK, MARKS, mark_numbers
from subtitle_rag.base.domain.values import squeeze
from subtitle_rag.contexts.cleaning import final_message

REPEATED_LETTERS = 10
"""Minimum letters for a repeated sentence to be dropped; a shorter one may be a literal answer."""
RECITED_LETTERS = 15
"""Letters of an instruction, about four words, that mark a sentence as recited if it begins with them."""
MOST_RECITED = 3
"""Recited instructions after which the rest of an answer is dropped as the rest of the prompt."""
FRONT = 16
"""Characters at the start of an answer in which to detect thoughts."""
_MAY_BE_MARK = re.compile(r"\s*(?:[\[［【][^\]］】\n]{0,40})?$")
_SPACED_MARK = re.compile(rf"[^\S\n]*{MARK.pattern}", re.IGNORECASE)
_SENTENCE_END = re.compile(
    rf"(?:[.!?…。！？]++[\"'”’)]*+(?:\s*+{MARKS})?+|{MARKS})[^\S\n]++(?=[^\s\[［【])|\n", re.IGNORECASE
)
_LOOK_BACK = 80
"""Characters at the end of a sentence, for punctuation and citations."""
_WORD = re.compile(r"[^\W_]")
_LETTER = re.compile(r"[^\W\d_]")
_COPULAS = ("입니다", "이에요", "예요", "이다")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}(?:[.)]|$))(?:\s+|$)")


class AnswerStream:
    """Takes the pieces of a model's text and returns the visible parts."""

    def __init__(self, numbers: Iterable[int], instructions: Iterable[str] = (), question: str = "") -> None:
        """Start a stream; `numbers` are those of the given scenes, `instructions` are lines of the model's rules.

        A sentence that repeats the question answers nothing, even as a statement: "두 번 튀기는 비결입니다."
        """
        self._numbers = frozenset(numbers)
        self._front: str | None = ""
        """The text so far, while it may be a thought."""
        self._held = ""
        """The end of the text, which may become a citation."""
        self._sentence = ""
        self._shown = 0
        """Number of the sentence's characters already returned."""
        self._looked = 0
        """Number of the sentence's characters searched for its end."""
        self._space = ""
        """The space after the returned text, to be returned with the next word."""
        self._keys: set[str] = set()
        self._instructions = _sentence_keys(instructions)
        self._asked = frozenset(key + end for key in _sentence_keys([question]) for end in ("", *_COPULAS))
        self._beginnings = {key[:RECITED_LETTERS] for key in self._instructions if len(key) >= RECITED_LETTERS}
        self.dropped: list[int] = []
        """Numbers of dropped citations."""
        self.repeated = 0
        """Number of dropped repetitions."""
        self.recited = 0
        """Number of dropped instructions."""

    @property
    def is_prompt(self) -> bool:
        """Whether the model writes its prompt instead of an answer."""
        return self.recited >= MOST_RECITED

    def feed(self, text: str) -> str:
        """Return the text that became visible with one more piece."""
        if self._front is not None:
            self._front += text
            front = self._front.lstrip()
            if len(front) < FRONT and "\n" not in front:
                return ""
            message = final_message(front)
            if not message:
                return ""
            self._front, text = None, message
        self._held += text
        start = _MAY_BE_MARK.search(self._held).start()  # type: ignore[union-attr]  # it matches an empty end
        ready, self._held = self._held[:start], self._held[start:]
        return self._take(ready)

    def finish(self) -> str:
        """Return the rest of the text."""
        if self._front is not None:
            self._held += final_message(self._front.lstrip(), is_whole=True)
            self._front = None
        ready, self._held = self._held, ""
        visible = self._take(ready)
        if not self._says_anything(self._sentence):
            return visible
        key = _key(self._sentence)
        if not self._shown and (self._recites(key) or self.is_prompt):
            self.recited += 1
            return visible
        is_again = key in self._asked or (len(key) >= REPEATED_LETTERS and self._repeats(key))
        if not self._shown and is_again:
            self.repeated += 1
            return visible
        return visible + self._give(self._sentence[self._shown :])

    def _take(self, ready: str) -> str:
        self._sentence += _SPACED_MARK.sub(self._known_mark, ready)
        visible = ""
        while end := self._find_end():
            visible += self._end_sentence(self._sentence[:end])
            self._sentence, self._shown, self._looked = self._sentence[end:], 0, 0
        if not self._shown:
            if not self._says_anything(self._sentence):
                return visible
            key = _key(self._sentence)
            may_be_asked = any(question_key.startswith(key) for question_key in self._asked)
            if may_be_asked or self._repeats(key) or self._recites(key):
                return visible
        visible += self._give(self._sentence[self._shown :])
        self._shown = len(self._sentence)
        return visible

    def _says_anything(self, sentence: str) -> bool:
        """Whether the answer has a word or number so far, apart from citations."""
        return bool(self._keys or _WORD.search(MARK.sub("", sentence)))

    def _find_end(self) -> int:
        """Return the end of the current sentence, with the space after it; 0 if it goes on."""
        start = max(0, self._looked - _LOOK_BACK)
        for end in _SENTENCE_END.finditer(self._sentence, start):
            if end[0] == "\n" or _LETTER.search(self._sentence, 0, end.start()):
                return end.end()
        self._looked = len(self._sentence)
        return 0

    def _repeats(self, key: str) -> bool:
        """Whether a sentence, as far as it goes, repeats an earlier one or an instruction."""
        return any(each.startswith(key) for keys in (self._keys, self._instructions) for each in keys)

    def _recites(self, key: str) -> bool:
        """Whether a sentence is an instruction, or begins with many letters of one."""
        return key in self._instructions or key[:RECITED_LETTERS] in self._beginnings

    def _known_mark(self, mark: re.Match[str]) -> str:
        """Return a citation without the numbers of missing scenes."""
        numbers = mark_numbers(mark[1])
        scene_numbers = [number for number in numbers if number in self._numbers]
        if len(scene_numbers) == len(numbers):
            return mark[0]
        self.dropped += [number for number in numbers if number not in self._numbers]
        return f" [{', '.join(map(str, scene_numbers))}]" if scene_numbers else ""

    def _end_sentence(self, sentence: str) -> str:
        if not self._says_anything(sentence):
            return self._leave_out(sentence)
        key = _key(sentence)
        if not self._shown and len(key) >= REPEATED_LETTERS and (key in self._keys or key in self._asked):
            self.repeated += 1
            return self._leave_out(sentence)
        if not self._shown and self._recites(key):
            self.recited += 1
            return self._leave_out(sentence)
        self._keys.add(key)
        return self._give(sentence[self._shown :])

    def _leave_out(self, sentence: str) -> str:
        if self._keys and sentence.endswith("\n") and "\n" not in self._space:
            self._space = "\n"
        return ""

    def _give(self, text: str) -> str:
        spaced = self._space + text
        stripped = spaced.rstrip()
        self._space = spaced[len(stripped) :]
        return stripped


def _sentence_keys(lines: Iterable[str]) -> frozenset[str]:
    """Return the keys of the sentences in some lines, except those too short to compare."""
    keys = (_key(sentence) for line in lines for sentence in re.split(r"(?<=[.!?])\s+", line))
    return frozenset(key for key in keys if len(key) >= REPEATED_LETTERS)


def _key(sentence: str) -> str:
    """Return the words of a sentence without citations, bullets and separators."""
    return squeeze(re.sub(r"[\W_]+", "", _LIST_MARK.sub("", MARK.sub("", sentence))))
