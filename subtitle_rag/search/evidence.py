"""Coverage of a query: which typed words a window has, and whether they are enough for an answer."""

from collections.abc import Sequence
from typing import NamedTuple

ENOUGH_SHARE, ENOUGH_MASS = 0.4, 1.2
"""Least share of a query's words in one window, and least weight, for hits by words; an unknown word weighs about 1."""
ENOUGH_BESIDE_UNKNOWN = 0.45
"""Least share for a query with a word that the library never says."""
LONG, ENOUGH_OF_LONG = 5, 0.6
"""Words from which a query is a description; there one fairly rare word is enough. See `docs/dev/typed-words.md`."""
CERTAIN_SHARE = 0.6
"""Share of a short query from which its words count as an answer even if the encoder finds nothing close."""
ENDS_AT = 0.55
"""Least part of the best window's focus at which a short query's list goes on in other videos."""
MEASURE = 0.5
"""Least focus of the best window by which others are measured."""
SAME_TALK = 0.9
"""Part of the best focus from which a window's whole video is about the query."""
TITLED = 0.5
"""Extra weight of a rare word found only in the title: the whole video is about it."""


class Coverage(NamedTuple):
    """The typed words that a window has."""

    rank: int
    """Rank in the order of `own_words`."""
    share: float
    """Share of the query, each word weighted by rarity, and less for a substitute."""
    is_enough: bool
    """Whether this share may answer the query."""
    lift: float = 0.0
    """Part of the best score added to the window's own; the full share for a negated word (안 매운) said as such."""
    is_certain: bool = True
    """Whether words that are enough need no support by meaning."""
    focus: float = 1.0
    """Share of a short query, each word weighted by the square of its rarity: a common word alone is no answer."""


def is_enough(rarities: list[float], mass: float, titled: Sequence[float] = (), *, has_unknown: bool = False) -> bool:
    """Return whether words with a total rarity of `mass` may answer a query with the given `rarities`.

    `titled` has the rarities of the words found only in the title, where a common word is chance. `has_unknown`: the
    library never says one of the words.
    """
    total = sum(rarities)
    least = ENOUGH_OF_LONG if _is_long(rarities) else ENOUGH_MASS
    extra = TITLED * sum(rarity**2 for rarity in titled)
    return mass + extra >= min(least, (ENOUGH_BESIDE_UNKNOWN if has_unknown else ENOUGH_SHARE) * total)


def is_certain(rarities: list[float], share: float) -> bool:
    """Return whether enough words of a query with the given `rarities` answer it without support by meaning."""
    return _is_long(rarities) or share >= CERTAIN_SHARE


def focus(rarities: list[float], said: list[float]) -> float:
    """Return the share of a query with the given `rarities`, of which a window says these parts; 1 for a long query."""
    total = sum(rarity**2 for rarity in rarities)
    if _is_long(rarities) or not total:
        return 1.0
    return sum(rarity**2 * part for rarity, part in zip(rarities, said, strict=True)) / total


def _is_long(rarities: list[float]) -> bool:
    return sum(rarity > 0 for rarity in rarities) >= LONG
