"""Completion of likely names that the analyzer cut (나그 of 나그랑)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from subtitle_rag.base.domain.values import nfc, squeeze
from subtitle_rag.contexts.glossary import ends_in_particle

SHARE = 0.5
"""Share of a name's uses in one longer word that makes the longer word the name."""
LEAST_USES = 2
TAIL_SHARE = 0.75
"""Share of uses with the same following letters that makes them part of the name: 랑 in 나그랑."""
REACH = 12
"""Letters of a longer word on each side."""
_NO_PART = frozenset("하해했한할함합되된될됨돼됐됩이입인일임였예에은는가을를의도만로와과들님씨라")
"""First syllables of text after a noun: particles, and verbs made of it."""
_SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류홍전고문양손배백허유남심노하곽성차주우구나민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국"
)
_LETTERS_BEFORE, _LETTERS_BEHIND = re.compile(r"[^\W_]*$"), re.compile(r"[^\W_]*")


def whole_name(name: str, titles: Sequence[str], texts: Iterable[str]) -> str:
    """Return the longer word that mostly contains a name, or the name with its surname from a title.

    If the name mostly stands alone, it is returned unchanged.
    """
    uses = list(_uses(name, texts))
    before = _common([before_use[::-1] for before_use, _after_use in uses])[::-1]
    behind = _common([_bare(after_use) for _before_use, after_use in uses]) or _tail(
        [after_use for _before_use, after_use in uses]
    )
    full_name = f"{before}{name}{behind}"
    return full_name if full_name != name else _with_surname(name, titles)


def _uses(name: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the letters right before and right after each use of a name, with any spacing."""
    pattern = re.compile(r"\s*".join(map(re.escape, squeeze(nfc(name)))), re.IGNORECASE)
    for text in texts:
        for match in pattern.finditer(text):
            before, behind = text[max(0, match.start() - REACH) : match.start()], text[match.end() :][:REACH]
            yield _LETTERS_BEFORE.search(before)[0], _LETTERS_BEHIND.match(behind)[0]  # type: ignore[index]


def _bare(behind: str) -> str:
    return "" if ends_in_particle(behind) or behind[:1] in _NO_PART else behind


def _common(parts: Sequence[str]) -> str:
    """Return the longest beginning that enough of these parts share; empty parts count too."""
    counts = Counter(part[:length] for part in parts for length in range(1, len(part) + 1))
    least = max(LEAST_USES, SHARE * len(parts))
    return max((part for part, count in counts.items() if count >= least), key=len, default="")


def _tail(behind: Sequence[str]) -> str:
    """Return the letters after nearly all uses, even if they are a particle elsewhere."""
    ((tail, count),) = Counter(behind).most_common(1) or [("", 0)]
    is_part = count > LEAST_USES and count >= TAIL_SHARE * len(behind) and tail[:1] not in _NO_PART
    return tail if is_part else ""


def _with_surname(name: str, titles: Sequence[str]) -> str:
    """Return a given name with the surname that all titles have before it: 장민석 for 민석."""
    uses = list(_uses(name, map(nfc, titles)))
    surnames = {letters_before for letters_before, _right in uses}
    if len(name) == 2 and len(surnames) == 1 and surnames <= _SURNAMES and all(not right for _left, right in uses):
        return surnames.pop() + name
    return name
