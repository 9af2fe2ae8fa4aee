"""Korean particles after inserted words: 을 or 를, depending on the word's last sound.

A catalogue has both forms right after the field, as in `{player}(으)로` or `‘{name}’이(가)`.
"""

import re
from string import Formatter
from typing import Literal

Ending = Literal["vowel", "ㄹ", "consonant"]

FORMS = {
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "와(과)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)": ("이", ""),
}
"""Both forms of each particle: after a consonant, and after a vowel."""
PARTICLE = re.compile(rf"([’”'\"」』)\]]*)({'|'.join(map(re.escape, FORMS))})")
PARENTHESES = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
"""A remark at the end; the particle agrees with the word before it."""
DIGITS: dict[str, Ending] = {"1": "ㄹ", "2": "vowel", "4": "vowel", "5": "vowel", "7": "ㄹ", "8": "ㄹ", "9": "vowel"}
"""이 사 오 구, and 일 칠 팔; 영 (and 십 백 천 만) 삼 육 end in other consonants."""
LETTERS: dict[str, Ending] = {"l": "ㄹ", "r": "ㄹ", "m": "consonant", "n": "consonant"}
"""엘 알 엠 엔; the names of all other letters end in a vowel."""
ACRONYMS: dict[str, Ending] = {"EXAONE": "consonant"}
"""Names in capitals read as words: 엑사원."""
CLOSED = re.compile(r"(?<![aeiouy])[aeiouy](?:ck|[bckpt])$|oo[kp]$|pp$|[mn]e?$|ng$", re.IGNORECASE)
"""A short vowel and a stop close a syllable (탭, 톡, 챗), as nasals do (크롬, 핑)."""
LATERAL = re.compile(r"le?$|ll$", re.IGNORECASE)


def ending(text: str) -> Ending | None:
    """Return the last sound of `text`; None for unknown scripts and signs."""
    words = (PARENTHESES.sub("", text) or text).rstrip(" .,!?…’”'\"」』)]>")
    last = words[-1:]
    if "가" <= last <= "힣":
        final = (ord(last) - ord("가")) % 28
        return "vowel" if final == 0 else "ㄹ" if final == 8 else "consonant"
    if last.isascii() and last.isdigit():
        return DIGITS.get(last, "consonant")
    if last in ("%", "+"):  # 퍼센트, 플러스
        return "vowel"
    word = re.search(r"[A-Za-z]+$", words)
    return _latin_ending(word[0]) if word else None


def _latin_ending(word: str) -> Ending:
    if word in ACRONYMS:
        return ACRONYMS[word]
    if word.isupper() or not re.search("[aeiouy]", word, re.IGNORECASE):  # letter by letter: VLC, mpv, B
        return LETTERS.get(word[-1].lower(), "vowel")
    if LATERAL.search(word):
        return "ㄹ"
    return "consonant" if CLOSED.search(word) else "vowel"


def choose(particle: str, before: str) -> str:
    """Return the form of `particle` after `before`; both forms if unknown."""
    kind = ending(before)
    if kind is None:
        return particle
    after_consonant, after_vowel = FORMS[particle]
    if kind == "ㄹ" and particle == "(으)로":
        return after_vowel
    return after_vowel if kind == "vowel" else after_consonant


class KoreanSentence(str):
    """A Korean sentence whose `format` chooses the particles after its fields."""

    __slots__ = ()

    def format(self, *values: object, **fields: object) -> str:
        if not any(form in self for form in FORMS):
            return super().format(*values, **fields)
        filled, before = "", ""
        for literal, field, spec, conversion in Formatter().parse(self):
            match = PARTICLE.match(literal) if before else None
            text = match[1] + choose(match[2], before) + literal[match.end() :] if match else literal
            filled += text
            before = ""
            if field is not None:
                how = f"!{conversion}" if conversion else ""
                before = f"{{{field}{how}:{spec}}}".format(*values, **fields)
                filled += before
        return filled
