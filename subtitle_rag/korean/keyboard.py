"""Words typed in the wrong keyboard mode: `clzls` is 치킨, and ㅔㅛ쇄ㅜ is `python`.

The layout is the two-set one of KS X 5002, on nearly every Korean keyboard.
"""

import re

_INITIALS, _VOWELS, _FINALS, _CONSONANTS = (
    keys.split()
    for keys in (
        "r R s e E f a q Q t T d w W c z x v g",
        "k o i O j p u P h hk ho hl y n nj np nl b m ml l",
        "r R rt s sw sg e f fr fa fq ft fx fv fg a q qt t T d w c z x v g",
        "r R rt s sw sg e E f fr fa fq ft fx fv fg a q Q qt t T d w W c z x v g",
    )
)
"""Keys of initials, vowels and finals in Unicode's order for syllables, and of single consonants from U+3131 on."""
_JAMO = _CONSONANTS + _VOWELS
_FIRST, _LAST, _FIRST_JAMO = 0xAC00, 0xD7A3, 0x3131
JAMO_BY_KEY = {keys: chr(_FIRST_JAMO + at) for at, keys in enumerate(_JAMO) if len(keys) == 1}
"""Key in Latin mode → its Hangul letter; upper case for letters under Shift."""
FIRST_CONSONANTS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_SHIFTED = frozenset("RETQWOP")
"""Keys with another letter under Shift."""


def _longest_first(keys: list[str]) -> str:
    return "|".join(sorted(keys, key=len, reverse=True))


_VOWEL = "[" + "".join(key for key in _VOWELS if len(key) == 1) + "]"
_SYLLABLE = re.compile(
    f"({_longest_first(_INITIALS)})({_longest_first(_VOWELS)})(?:({_longest_first(_FINALS)})(?!{_VOWEL}))?"
)


def hangul(word: str) -> str | None:
    """Return the Hangul for an English word's keys, if they form full syllables."""
    keys = "".join(c if c in _SHIFTED and not word.isupper() else c.lower() for c in word)  # Caps Lock is not Shift
    syllables: list[str] = []
    at = 0
    while match := _SYLLABLE.match(keys, at):
        initial, vowel, final = match.groups()
        number = (_INITIALS.index(initial) * len(_VOWELS) + _VOWELS.index(vowel)) * (len(_FINALS) + 1)
        syllables.append(chr(_FIRST + number + (_FINALS.index(final) + 1 if final else 0)))
        at = match.end()
    return "".join(syllables) if syllables and at == len(keys) else None


def latin(word: str) -> str | None:
    """Return the English for a word with Hangul letters outside syllables."""
    keys = [_keys(c) for c in word]
    stray = any(_FIRST_JAMO <= ord(c) < _FIRST_JAMO + len(_JAMO) for c in word)
    return "".join(keys).lower() if stray and all(keys) else None


def key_sequence(text: str) -> str:
    """Return the keys of a text as one string, a prefix of every continuation's: 갑 begins 가방.

    A character outside Hangul stays as it is, after a mark.
    """
    return "".join(_keys(c) or f"\0{c}" for c in text)


def first_consonants(text: str) -> str:
    """Return the first consonants of a text's syllables, with other characters as they are: 바삭골 is ㅂㅅㄱ."""
    return "".join(FIRST_CONSONANTS[(ord(c) - _FIRST) // 588] if _FIRST <= ord(c) <= _LAST else c for c in text)


def _keys(character: str) -> str:
    """Return the keys of a Hangul character; empty for others."""
    code = ord(character)
    if _FIRST <= code <= _LAST:
        rest, final = divmod(code - _FIRST, len(_FINALS) + 1)
        initial, vowel = divmod(rest, len(_VOWELS))
        return _INITIALS[initial] + _VOWELS[vowel] + (_FINALS[final - 1] if final else "")
    at = code - _FIRST_JAMO
    return _JAMO[at] if 0 <= at < len(_JAMO) else ""
