"""Coverage of a query: which typed words a window has, and whether they are enough for an answer."""

from typing import NamedTuple

ENOUGH_SHARE, ENOUGH_MASS = 0.4, 1.2
"""Least share of a query's words in one window, and least weight, for hits by words; an unknown word weighs about 1."""
LONG, ENOUGH_OF_LONG = 5, 0.6
"""Words from which a query is a description; there one fairly rare word is enough. See `docs/dev/typed-words.md`."""
CERTAIN_SHARE = 0.6
"""Share of a short query from which its words count as an answer even if the encoder finds nothing close."""
PART_OF_BEST = 0.5
"""Part of the best share that a window or a neighbour needs in a short query; see `docs/dev/typed-words.md`."""
TITLED = 0.5
"""Extra weight of a word found only in the title: the whole video is about it."""


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
    is_description: bool = False
    """Whether the query is a description."""

    @property
    def is_certain(self) -> bool:
        """Whether words that are enough answer the query without support by meaning."""
        return self.is_description or self.share >= CERTAIN_SHARE


def is_enough(rarities: list[float], mass: float, titled: float = 0.0) -> bool:
    """Return whether words with a total rarity of `mass` may answer a query with the given `rarities`.

    `titled` is the part of `mass` that occurs only in the title.
    """
    total = sum(rarities)
    least = ENOUGH_OF_LONG if is_description(rarities) else ENOUGH_MASS
    return mass + TITLED * titled >= min(least, ENOUGH_SHARE * total)


def is_description(rarities: list[float]) -> bool:
    """Return whether a query with the given `rarities` is a description."""
    return sum(rarity > 0 for rarity in rarities) >= LONG
