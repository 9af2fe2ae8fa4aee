"""Whether a context is about its own window: it has words of it that few other windows have, and no other window has
far more of its words."""

import math
from collections.abc import Collection, Mapping, Sequence

from subtitle_rag.contexts.claims import spelling
from subtitle_rag.contexts.sentence_filters import letters
from subtitle_rag.domain.values import nfc
from subtitle_rag.retrieval.korean.morphemes import TaggedWord

FAR_MORE = 3.2
"""How many times the weight of the own window's words another window's must be. Of 212 contexts that a person wrote
1 is refused by this and `FEW_RARE`; of 137 that are each given for another window 122, by this or as nothing."""
BESIDE = 0.8
"""Weight of the windows beside the own one: a sentence often ends in the next."""
RARE, RARE_WINDOWS = 0.25, 2
"""Share and number of the windows that may have a word which tells windows apart; of 212 contexts 211 have one."""
FEW_RARE = 1
"""Such words of a context that is about another window, at most."""
LEAST_WINDOWS = 5
"""Windows of a video from which on words tell them apart."""

_CONTENT = ("NNG", "NNP", "XR", "VV", "VA", "SL", "SN")


class WindowFit:
    """The windows of one video by their letters."""

    def __init__(self, windows: Sequence[str], common: Collection[str] = ()) -> None:
        """`common` are words that say nothing of a window: those of the task."""
        self._windows = [letters(nfc(window)) for window in windows]
        self._common = frozenset(common)

    def is_of_another(self, at: int, text: str, tags: Sequence[TaggedWord]) -> bool:
        """Tell whether another window, not beside the one at `at`, has far more of a text's words, and this one few
        that tell it apart: a good context may name a topic that is said elsewhere."""
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
        """Tell whether a text has no word of its window that few others have: it would fit any of them."""
        return len(self._windows) >= LEAST_WINDOWS and not self._count_rare(at, self._places(text, tags))

    def _count_rare(self, at: int, places: Mapping[str, Collection[int]]) -> int:
        """Count the words of a window that few other windows have."""
        most = max(RARE_WINDOWS, RARE * len(self._windows))
        return sum(at in each and len(each) <= most for each in places.values())

    def _places(self, text: str, tags: Sequence[TaggedWord]) -> dict[str, frozenset[int]]:
        """Return the windows of each word of a text that any window has."""
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
