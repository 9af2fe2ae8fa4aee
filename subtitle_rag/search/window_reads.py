"""Window reads of a search, cached until the library changes: one more typed key needs mostly the same windows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from subtitle_rag.korean.morphemes import folded
from subtitle_rag.library.store import Library

CANDIDATES = 2_048
"""Windows with cached place, text, context and forms, 6 KB each: a search with vectors orders up to 450."""
SHOWN = 512
"""Windows cached whole with their analysis, 20 KB each: a search reads 30 scenes."""
Value = TypeVar("Value")


class KeptReads(Generic[Value]):
    """A cache by id that also remembers misses. Safe from several threads."""

    def __init__(
        self, version: Callable[[], int], most: int, read: Callable[[Sequence[str]], Mapping[str, Value]]
    ) -> None:
        """`version` changes with the library; above `most` values the cache is emptied."""
        self._version, self._most, self._read = version, most, read
        self._values: tuple[int, dict[str, Value | None]] = 0, {}

    def __call__(self, ids: Iterable[str]) -> dict[str, Value]:
        """Return the values of the known ids, in order. Reads all uncached ones in one call."""
        version = self._version()  # before the values: a commit in between shows at the next call
        version_before, values = self._values
        if version != version_before or len(values) > self._most:
            values = {}
            self._values = version, values
        all_ids = list(ids)
        if new := [id for id in all_ids if id not in values]:
            values |= {**dict.fromkeys(new), **self._read(new)}
        return {id: value for id in all_ids if (value := values[id]) is not None}


class Windows:
    """Lookups of windows and their morphemes; unknown ids are left out.

    Raises the errors of `Library`.
    """

    def __init__(self, library: Library) -> None:
        version = library.database.version
        self.places = KeptReads(version, CANDIDATES, library.places)
        """Video and ordinal by window."""
        self.spans = KeptReads(version, CANDIDATES, library.spans)
        """Begin and end by window, in ms."""
        self.contexts = KeptReads(version, CANDIDATES, library.contexts.texts_of)
        self.letters = KeptReads(
            version, CANDIDATES, lambda ids: {id: folded(text) for id, text in library.texts(ids).items()}
        )
        """The text by window, with its words in their indexed form."""
        self.forms = KeptReads(version, CANDIDATES, library.forms)
        """The morphemes by window, each between two line breaks."""
        self.windows = KeptReads(version, SHOWN, library.windows)
        self.morphemes = KeptReads(version, SHOWN, library.morphemes)
        self.videos = KeptReads(version, SHOWN, lambda ids: library.videos_by_id(*ids))
        """Videos by id."""
        self.ends = library.last_ends
        """End of the last window by video."""
