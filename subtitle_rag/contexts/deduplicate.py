"""What a model says again: sentences, loops, and the captions that it was given.

What would surprise: a refrain is no loop. Single words may be said four times and short phrases twice, for people do;
sentences are compared without punctuation, particles and linking words, and digits keep them apart.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from subtitle_rag.contexts.sentence_filters import ENDS, ends_in_verb

MIN_ECHO = 6
"""Letters from which on a sentence that stands in the window is its echo, and no coincidence."""

_NOT_LETTERS = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    """The letters and digits alone, to compare what spaces and punctuation tell apart."""
    return _NOT_LETTERS.sub("", text).casefold()


_LINK = re.compile(r"^(?:또한|그리고|이어서|그 ?다음|다시|또|계속해서|그는|그녀는|이후|그 후)[,\s]+")
_ENDING = re.compile(r"(?<=.)(?:께서|에서|으로|은|는|이|가|을|를|도|의|에|로|와|과)$")


def drop_repeats(found: list[str]) -> list[str]:
    """The sentences that say something new; equal ones may differ in punctuation, particles and a linking word.

    A stump at the end that begins like an earlier sentence is its next turn, cut off.
    """
    kept: dict[str, str] = {}
    for sentence in found:
        words = _LINK.sub("", sentence.strip()).split()
        kept.setdefault(" ".join(_ENDING.sub("", letters(word)) for word in words), sentence)
    unique = list(kept.values())
    stump = letters(unique[-1]) if unique else ""
    if (
        len(unique) > 1
        and unique[-1].rstrip()[-1] not in ENDS
        and any(letters(s).startswith(stump) for s in unique[:-1])
    ):
        unique.pop()
    return unique


def collapse_loops(text: str) -> str:
    """One line without its loops: a run of the same words, or of the same letters without spaces, stands once."""
    text = re.sub(r"(?<=니다)(?:입니다)+", "", re.sub(r"(\S)\1{19,}", r"\1", text))
    text = re.sub(r"([^\s\d]{2,4}?)\1{7,}|(\S{5,60}?)\2{2,}", lambda m: m[1] or m[2], text)
    words = text.split(" ")
    return " ".join(_turns(words))


def _turns(words: list[str]) -> Iterator[str]:
    at = 0
    while at < len(words):
        size, count = _loop(words, at)
        yield from words[at : at + size]
        at += size * count
        rest = words[at:]
        if count > 1 and len(rest) <= size and " ".join(words[at - size : at]).startswith(" ".join(rest)):
            return


def _loop(words: list[str], at: int) -> tuple[int, int]:
    """How many words from `at` on make a turn, and how often it comes; (1, 1) where nothing loops."""
    for size in range(1, min(60, (len(words) - at) // 2) + 1):
        if words[at] != words[at + size]:
            continue
        turn, count = words[at : at + size], 1
        while words[at + count * size : at + (count + 1) * size] == turn:
            count += 1
        least = 5 if size == 1 else 3 if size < 4 or sum(map(len, turn)) < 12 else 2
        if count >= least:
            return size, count
    return 1, 1


# --- the window ---


class WindowSpeech(NamedTuple):
    """What was said in the window: its letters, and all runs of five of them."""

    letters: str
    grams: frozenset[str]

    @classmethod
    def of(cls, window: str) -> "WindowSpeech":
        said = letters(window)
        return cls(said, frozenset(_grams(said)))

    def is_echoed_by(self, text: str) -> bool:
        """Whether `text` stands in the window, or nearly."""
        said = letters(text)
        if not self.letters or len(said) < MIN_ECHO:
            return False
        grams = _grams(said)
        return said in self.letters or (len(said) >= 15 and sum(g in self.grams for g in grams) >= 0.85 * len(grams))

    def cut_from(self, text: str) -> str:
        """`text` from where it stops reading the window out: behind a sentence of the speaker, or the window's end."""
        end = at = 0
        said = ""
        for word in re.finditer(r"\S+\s*", text):
            said += letters(word[0])
            at = self.letters.find(said, at)
            if at < 0:
                break
            if len(said) >= 15 and (self.letters.endswith(said) or ends_in_verb(word[0])):
                end = word.end()
        return text[end:]


def _grams(said: str) -> list[str]:
    return [said[i : i + 5] for i in range(len(said) - 4)]
