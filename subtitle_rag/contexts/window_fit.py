"""Check whether a context is about its own window.

It must have words of the window that few others have, and no other window may have far more of its words.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.contexts.claims import spelling
from subtitle_rag.contexts.sentence_filters import letters
from subtitle_rag.korean.morphemes import TaggedWord

FAR_MORE = 3.2
"""How much more weight another window's words need; refuses 1 of 212 contexts, and 122 of 137 misplaced ones."""
BESIDE = 0.8
"""Weight of the adjacent windows, because a sentence often ends in the next."""
RARE, RARE_WINDOWS = 0.25, 2
"""Maximum share and number of windows with a distinctive word; 211 of 212 contexts have one."""
FEW_RARE = 1
"""Maximum number of distinctive words in a context about another window."""
LEAST_WINDOWS = 5
"""Minimum windows of a video for words to be distinctive."""

_NAMES = frozenset(("NNP", "SL", "SN"))
_CONTENT = ("NNG", "NNP", "XR", "VV", "VA", "SL", "SN")


class WindowFit:
    """The windows of one video by their letters."""

    def __init__(self, windows: Sequence[str], common: Collection[str] = ()) -> None:
        """Prepare the windows; `common` has words of the task, which say nothing about a window."""
        self._windows = [letters(nfc(window)) for window in windows]
        self._common = frozenset(common)

    def is_of_another(self, at: int, text: str, tags: Sequence[TaggedWord]) -> bool:
        """Whether a window not adjacent to `at` has far more of a text's words, and this one few distinctive ones.

        A good context may name a topic from elsewhere.
        """
        places = self._places(text, tags)
        count = len(self._windows)
        weights = {word: math.log((count + 1) / (len(each) + 0.5)) for word, each in places.items()}
        scores = [sum(weights[word] for word, each in places.items() if number in each) for number in range(count)]
        own = max(
            scores[number] * (1 if number == at else BESIDE) for number in (at - 1, at, at + 1) if 0 <= number < count
        )
        others = [score for number, score in enumerate(scores) if abs(number - at) > 1]
        return max(others, default=0.0) > FAR_MORE * own and self._count_rare(at, places) <= FEW_RARE

    def says_nothing(self, at: int, text: str, tags: Sequence[TaggedWord]) -> bool:
        """Whether a text fits any window: no distinctive word of its own, or one without a name among common words."""
        places = self._places(text, tags)
        own = self._count_rare(at, places)
        names = {spelling(word.form) for word in tags if word.tag in _NAMES}
        is_common = 2 * sum(map(self._is_rare, places.values())) < len(places) and not names & places.keys()
        return len(self._windows) >= LEAST_WINDOWS and own <= (FEW_RARE if is_common else 0)

    def _count_rare(self, at: int, places: Mapping[str, Collection[int]]) -> int:
        """Return the number of a window's words that few other windows have."""
        return sum(at in each and self._is_rare(each) for each in places.values())

    def _is_rare(self, places: Collection[int]) -> bool:
        return len(places) <= max(RARE_WINDOWS, RARE * len(self._windows))

    def _places(self, text: str, tags: Sequence[TaggedWord]) -> dict[str, frozenset[int]]:
        """Return the windows of each word of a text that is in any window."""
        words = {
            spelling(word.form): (word.form, letters(text[text.rfind(" ", 0, word.start) + 1 : word.end]))
            for word in tags
            if word.tag.startswith(_CONTENT) and word.form not in self._common
        }
        places = {
            name: frozenset(
                number
                for number, window in enumerate(self._windows)
                if any(len(each) > 1 and letters(each) in window for each in spelled)
            )
            for name, spelled in words.items()
        }
        return {name: each for name, each in places.items() if each}
