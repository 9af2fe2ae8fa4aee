"""Removal of a model's repetitions: sentences, loops, and quotations of the captions.

A refrain is no loop: words may be repeated four times and phrases twice, as in speech. Sentences are compared without
punctuation, and different digits make them different.
"""

import re
from collections.abc import Iterator

from subtitle_rag.contexts.sentence_filters import ends_in_verb, letters, stems_in_order

MIN_ECHO = 6
"""Minimum letters of a sentence in the window to be its echo, and no coincidence."""


REPEATED_WORDS = 0.6
"""Share of a sentence's earlier words that makes it a repetition; 275 sentences by a person have .19 at most."""
REPEATED_STEMS = 0.3
"""Share of repeated stems that makes a sentence circular; 350 sentences by a person have .25 at most."""


def drop_repeats(sentences: list[str]) -> list[str]:
    """Remove sentences that repeat earlier ones, whatever their punctuation, and circular ones."""
    unique: dict[str, str] = {}
    words_before: set[str] = set()
    for sentence in sentences:
        words = re.findall(r"\w+", sentence.casefold())
        if not (_says_again(words, words_before) or _has_few_words(sentence)):
            unique.setdefault(letters(sentence), sentence)
            words_before.update(words)
    return list(unique.values())


def _says_again(words: list[str], words_before: set[str]) -> bool:
    """Whether most of a sentence's words occurred before; a new number makes it different."""
    new = {word for word in words if word not in words_before}
    has_new_number = any(letter.isdigit() for word in new for letter in word)
    return len(words) > 4 and not has_new_number and len(new) <= (1 - REPEATED_WORDS) * len(set(words))


def _has_few_words(sentence: str) -> bool:
    """Whether a sentence repeats a few words: "밥을 먹는 사람은 밥을 먹는 사람보다 밥을 먹는다"."""
    stems = stems_in_order(sentence)
    return len(stems) > 5 and len(stems) - len(set(stems)) >= REPEATED_STEMS * len(stems)


def collapse_loops(text: str) -> str:
    """Reduce a run of the same words, or of the same letters without spaces, to one."""
    text = re.sub(r"(?<=니다)(?:입니다)+", "", text)
    text = re.sub(r"([^\s\d]{2,4}?)\1{7,}|(\S{5,60}?)\2{2,}", lambda match: match[1] or match[2], text)
    return " ".join(_words_once(text.split(" ")))


def _words_once(words: list[str]) -> Iterator[str]:
    at = 0
    while at < len(words):
        size, count = _loop(words, at)
        yield from words[at : at + size]
        at += size * count
        rest = words[at:]
        if count > 1 and len(rest) <= size and " ".join(words[at - size : at]).startswith(" ".join(rest)):
            return


def _loop(words: list[str], at: int) -> tuple[int, int]:
    """Return the number of words in the phrase at `at`, and of its repetitions; (1, 1) if nothing loops."""
    for size in range(1, min(60, (len(words) - at) // 2) + 1):
        if words[at] != words[at + size]:
            continue
        turn, count = words[at : at + size], 1
        while words[at + count * size : at + (count + 1) * size] == turn:
            count += 1
        if count >= (5 if size == 1 else 3):
            return size, count
    return 1, 1


# --- the window, whose captions are given as `letters` ---


def is_echo(text: str, speech: str) -> bool:
    """Whether `text` is in the window."""
    spelled = letters(text)
    return len(spelled) >= MIN_ECHO and spelled in speech


def without_echo(text: str, speech: str) -> str:
    """Remove the beginning that quotes the window, up to a sentence of the speaker or the window's end."""
    end = at = 0
    spelled = ""
    for word in re.finditer(r"\S+\s*", text):
        spelled += letters(word[0])
        at = speech.find(spelled, at)
        if at < 0:
            break
        if len(spelled) >= 15 and (speech.endswith(spelled) or ends_in_verb(word[0])):
            end = word.end()
    return text[end:]
