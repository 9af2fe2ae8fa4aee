"""How many places, and in how many videos, say the typed words.

A place is a window, about a minute of a video, whose captions say all of them, whatever their endings and their order.
Titles, contexts and words that only sound alike count for nothing, though a search finds scenes by them. A copy, such
as a Short of the same minute, is a place of its own, while a search lists it under its original.
"""

from collections.abc import Iterator

from subtitle_rag.domain.events import WordCount
from subtitle_rag.domain.values import squeeze
from subtitle_rag.i18n import _, n_
from subtitle_rag.library.said_words import PlaceCount, count_places
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.search.own_words import spellings_by_word
from subtitle_rag.retrieval.search.query import Query
from subtitle_rag.retrieval.values import Filter


def places_of_all(library: Library, query: Query, lexical: LexicalQuery, where: Filter) -> PlaceCount | None:
    """Count the places that say all words of a query; None for one without words."""
    spellings = spellings_by_word(lexical)
    # `where` has the windows that say the phrases, letter by letter
    phrases = squeeze(" ".join(query.phrases))
    words = [of_word for word, of_word in spellings.items() if squeeze(word) not in phrases]
    return _count(library, words, where) if spellings or query.phrases else None


def places_of_each(library: Library, lexical: LexicalQuery, where: Filter) -> Iterator[WordCount]:
    """Count the places that say each word of a query, which is told without its particle."""
    for word, spellings in spellings_by_word(lexical).items():
        stems = (form for spelling in spellings if len(spelling) == 1 for form in spelling - {word})
        stem = max((form for form in stems if word.startswith(form)), key=len, default=word)
        yield WordCount(stem, *_count(library, [spellings], where))


def counts_text(counts: PlaceCount) -> str:
    """Return the videos and the places in words: 영상 8편 42곳; or that the scenes below come near, no more."""
    if not counts.places:
        return _("No place says all of the words. The nearest:")
    videos = n_("{n} video", "{n} videos", counts.videos, n=f"{counts.videos:,}")
    places = f"{counts.places:,}"
    return n_("{videos}, {n} place", "{videos}, {n} places", counts.places, videos=videos, n=places)


def _count(library: Library, words: list[tuple[frozenset[str], ...]], where: Filter) -> PlaceCount:
    return count_places(
        library.database,
        words,
        channels=where.channels,
        videos=where.videos,
        after=where.after,
        before=where.before,
        among=where.only,
        without=where.without,
    )
