"""What a window has of the typed words, and when that is enough to be an answer."""

from typing import NamedTuple

ENOUGH_SHARE, ENOUGH_MASS = 0.4, 1.2
"""Of a query's words one window has at least this share, or somewhat more than one word that nobody says counts: else
nothing is found by words."""
LONG, ENOUGH_OF_LONG = 5, 0.6
"""Words of a description, of which one that is fairly rare is enough: it tells in other words what was said.

`docs/dev/typed-words.md` has the figures.
"""
TITLED = 0.5
"""How much more a word counts that is in the title alone: the whole video is about it."""


class Evidence(NamedTuple):
    """What a window has of the typed words."""

    rank: int
    """Its place in the order, see `own_words`."""
    share: float
    """How much of the query it has: a word counts as it is rare, less where another stands for it."""
    is_enough: bool
    """Whether that may answer the query."""
    lift: float = 0.0
    """How much of the best score is added to its own in the order."""


def is_enough(rarities: list[float], mass: float, titled: float = 0.0) -> bool:
    """Return whether words of this rarity together may answer a query of words of `rarities`.

    `titled` is the part of it that the title alone has.
    """
    total = sum(rarities)
    least = ENOUGH_OF_LONG if sum(rarity > 0 for rarity in rarities) >= LONG else ENOUGH_MASS
    return mass + TITLED * titled >= min(least, ENOUGH_SHARE * total)
