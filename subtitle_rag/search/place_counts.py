"""Counts of the places and videos that have the typed words.

A place is a window, about a minute of a video, whose captions have all of them, in any order and with any endings.
Titles, contexts and similar sounds do not count, though a search uses them. Copies, such as a Short of the same minute,
count separately, while a search lists them under their original.
"""

from collections.abc import Iterator

from subtitle_rag.base.domain.answer_values import WordCount
from subtitle_rag.base.domain.values import squeeze
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.base.vectors.points import Filter
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.library.said_words import PlaceCount, count_places
from subtitle_rag.library.store import Library
from subtitle_rag.search.own_words import spellings_by_word
from subtitle_rag.search.query import Query


def places_of_all(library: Library, query: Query, lexical: LexicalQuery, where: Filter) -> PlaceCount | None:
    """Count the places with all words of a query; None for a query without words."""
    spellings = spellings_by_word(lexical)
    # `where` has the windows with the phrases, letter by letter.
    phrases = squeeze(" ".join(query.phrases))
    words = [of_word for word, of_word in spellings.items() if squeeze(word) not in phrases]
    return _count(library, words, where) if spellings or query.phrases else None


def places_of_each(library: Library, lexical: LexicalQuery, where: Filter) -> Iterator[WordCount]:
    """Count the places of each word of a query; words lose their particles."""
    for word, spellings in spellings_by_word(lexical).items():
        stems = (form for spelling in spellings if len(spelling) == 1 for form in spelling - {word})
        stem = max((form for form in stems if word.startswith(form)), key=len, default=word)
        yield WordCount(stem, *_count(library, [spellings], where))


def counts_text(counts: PlaceCount) -> str:
    """Return the counts as text: 영상 8편 42곳; or a note that the scenes only come near."""
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
