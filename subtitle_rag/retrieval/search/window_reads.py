"""What a search reads of windows, kept until the library changes: most windows of a key are those of the one before."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from subtitle_rag.domain import Morphemes, Video, Window
from subtitle_rag.retrieval.korean.morphemes import folded

if TYPE_CHECKING:
    from subtitle_rag.library import Library

CANDIDATES = 2_048
"""Windows whose place, text, context and forms are kept, 6 KB each: a search with vectors orders up to 450."""
SHOWN = 512
"""Windows that are kept whole, with their analysis, 20 KB each: a search looks at 30 scenes."""
Value = TypeVar("Value")


class KeptReads(Generic[Value]):
    """Values by id, also that there is none. Safe from several threads."""

    def __init__(
        self, version: Callable[[], int], most: int, read: Callable[[Sequence[str]], Mapping[str, Value]]
    ) -> None:
        """`version` changes with the library; at more than `most` values all are forgotten."""
        self._version, self._most, self._read = version, most, read
        self._kept: tuple[int, dict[str, Value | None]] = 0, {}

    def of(self, ids: Iterable[str]) -> dict[str, Value]:
        """Return the values of those ids that have one, in their order. Reads in one call what is not kept."""
        version = self._version()  # before the values: a commit between the two shows at the next call
        known, kept = self._kept
        if version != known or len(kept) > self._most:
            kept = {}
            self._kept = version, kept
        wanted = list(ids)
        if new := [id for id in wanted if id not in kept]:
            kept |= {**dict.fromkeys(new), **self._read(new)}
        return {id: value for id in wanted if (value := kept[id]) is not None}


class Windows:
    """Lookups of what is shown of windows, and of what they say; unknown ids are left out.

    Raises the errors of `Library`.
    """

    def __init__(self, library: "Library") -> None:
        version = library.database.version
        self._library = library
        self._places = KeptReads(version, CANDIDATES, library.places)
        self._windows = KeptReads(version, SHOWN, library.windows)
        self._morphemes = KeptReads(version, SHOWN, library.morphemes)
        self._videos = KeptReads(version, SHOWN, lambda ids: library.videos_by_id(*ids))
        self._contexts = KeptReads(version, CANDIDATES, library.contexts.texts_of)
        self._forms = KeptReads(version, CANDIDATES, library.forms)
        self._letters = KeptReads(
            version, CANDIDATES, lambda ids: {id: folded(text) for id, text in library.texts(ids).items()}
        )

    def places(self, ids: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Return video and ordinal of each window."""
        return self._places.of(ids)

    def windows(self, ids: Iterable[str]) -> dict[str, Window]:
        return self._windows.of(ids)

    def morphemes(self, ids: Iterable[str]) -> dict[str, Morphemes]:
        return self._morphemes.of(ids)

    def saying(self, forms: frozenset[str], ids: Iterable[str]) -> dict[str, set[str]]:
        """Return by morpheme those of the windows that say it."""
        lines = self._forms.of(ids)
        return {form: {id for id, own in lines.items() if f"\n{form}\n" in own} for form in forms}

    def letters(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the text of each window with its words in their indexed form."""
        return self._letters.of(ids)

    def contexts(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the context of each window."""
        return self._contexts.of(ids)

    def videos(self, ids: Iterable[str]) -> dict[str, Video]:
        return self._videos.of(ids)

    def ends(self, video_ids: Iterable[str]) -> dict[str, int]:
        """Return when the last window of each video ends."""
        return self._library.last_ends(video_ids)
