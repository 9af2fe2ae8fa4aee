"""How often a key asks SQLite and Kiwi: counts, which no loaded machine changes."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.vectors.points import Filter
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.korean.lexical import LexicalQuery, QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library import rows
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.search import own_words
from subtitle_rag.search.parts import RETRIEVERS
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import DEPTH, Searcher
from tests.search.test_search import VIDEOS as VIDEOS
from tests.support.models_here import Asked, Here
from tests.support.searchable import Searchable

pytestmark = pytest.mark.budget

KEYS = ("꽃", "꽃게", "꽃게 소스", "꽃게 소스에 찍어 먹어요", "dior 가방 30000원", "떡볶", "없는말 소스")
SEARCH_STATEMENTS = 12
"""The searched encoder, the query's terms and those that may stand for rare ones, the count of their places, places,
texts, morphemes, contexts and videos of the candidates, and three for the page: spans, morphemes, windows."""
QUERY_ANALYSES = 2
"""The query, and the names that an unfinished last word begins."""
_TERMS = re.compile(r"^WITH asked AS \(SELECT value AS form FROM json_each\('(\[.*?\])'\)\)")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


Parts = tuple[QueryAnalyzer, Here]


@pytest.fixture(scope="module")
def parts(made: Searchable, analyzer: Analyzer, encoder_folder: Path) -> Parts:
    encoder = Asked(encoder_folder, "tiny@00000000")
    models = Here([encoder])
    for _event in EncodingRun(made.library, made.index, encoder, models).run(WindowSelection(), patient=False):
        pass
    queries = QueryAnalyzer(made.library, analyzer)
    queries.analyze("소스")
    for make in queries.tables():  # as a host does in its first second of rest
        make()
    return queries, models


@pytest.fixture
def hybrid(made: Searchable, parts: Parts) -> Searcher:
    """It has read nothing."""
    return Searcher(made.library, made.index, *parts)


@contextmanager
def statements(library: Library) -> Iterator[list[str]]:
    """Collect what SQLite executes for this thread, with its values; without the reads of FTS5 in its own tables."""
    made: list[str] = []

    def add(statement: str) -> None:
        if not statement.startswith("--"):  # SQLite's mark of a statement within another
            made.append(statement)

    with library.database.read() as db:
        db.set_trace_callback(add)
        yield made
        db.set_trace_callback(None)


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The texts of each call of Kiwi."""
    asked: list[Sequence[str]] = []
    whole = Analyzer.morphemes

    def counted(self: Analyzer, texts: Sequence[str]) -> Any:
        asked.append(texts)
        return whole(self, texts)

    monkeypatch.setattr(Analyzer, "morphemes", counted)
    return asked


def _assert_terms_asked_once(statements: Sequence[str]) -> None:
    """Those typed, then those that may stand for what few windows say: which ones, only the first answer tells."""
    asked = [json.loads(found[1]) for each in statements if (found := _TERMS.search(each))]
    assert 1 <= len(asked) <= 2, asked
    terms = [term for each in asked for term in each]
    assert len(terms) == len(set(terms)), asked
    assert len(asked) == sum("FROM term " in each for each in statements)


@pytest.mark.parametrize("text", KEYS)
def test_a_key_asks_for_no_term_twice_and_for_windows_as_often_as_for_any_other(
    hybrid: Searcher, made: Searchable, analyses: list[Sequence[str]], text: str
) -> None:
    with statements(made.library) as asked:
        hybrid.search(parse_query(text), retrievers=("bm25",))
    _assert_terms_asked_once(asked)
    assert len(asked) <= SEARCH_STATEMENTS, asked
    assert list(analyses[0]) == [text]
    assert len(analyses) <= QUERY_ANALYSES


@pytest.mark.parametrize("text", KEYS)
def test_a_hybrid_search_analyses_once_and_reads_no_candidate_twice(
    hybrid: Searcher, made: Searchable, analyses: list[Sequence[str]], text: str
) -> None:
    with statements(made.library) as asked:
        words, whole = hybrid.stages(parse_query(text))
    assert (words.retrievers, whole.retrievers) == (("bm25",), RETRIEVERS)
    _assert_terms_asked_once(asked)
    assert len(analyses) <= QUERY_ANALYSES
    read = [_ID.findall(statement) for statement in asked if statement.startswith("SELECT id, text FROM window")]
    ids = [id for each in read for id in each]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("text", KEYS)
def test_a_key_reads_no_window_of_the_one_before(hybrid: Searcher, made: Searchable, text: str) -> None:
    first = hybrid.search(parse_query(text), retrievers=("bm25",))
    with statements(made.library) as asked:
        second = hybrid.search(parse_query(f"{text} "), retrievers=("bm25",))
    assert second.scenes == first.scenes
    assert not [statement for statement in asked if _ID.search(statement)]


@pytest.mark.parametrize("text", KEYS)
def test_a_key_decompresses_no_morphemes_of_the_one_before(
    hybrid: Searcher, made: Searchable, parts: Parts, text: str
) -> None:
    _lexical, hits = parts[0].search(made.index, text, limit=DEPTH, where=Filter())
    rows._decompressed.cache_clear()
    hybrid.rank(parse_query(text), retrievers=("bm25",))
    candidates = rows._decompressed.cache_info().misses
    assert candidates <= len(hits)  # each is read for what it has of the words, shown or not
    hybrid.search(parse_query(text), retrievers=("bm25",), rerank=False)
    shown = rows._decompressed.cache_info().misses
    hybrid.search(parse_query(f"{text} "), retrievers=("bm25",), rerank=False)
    assert rows._decompressed.cache_info().misses == shown == candidates


def test_a_search_asks_once_what_says_its_words_and_once_how_scenes_say_them(
    hybrid: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[LexicalQuery] = []
    whole = own_words.typed_words

    def counted(lexical: LexicalQuery) -> Any:
        asked.append(lexical)
        return whole(lexical)

    monkeypatch.setattr(own_words, "typed_words", counted)
    result = hybrid.search(parse_query("소스"), retrievers=("bm25",), rerank=False)
    assert len(result.scenes) > 1
    assert len(asked) == 2


def test_the_encoder_is_looked_up_once_for_what_is_ready_and_once_for_its_vectors(
    hybrid: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look-up reads the folder of the model."""
    looked: list[str | None] = []
    whole = Here.encoder

    def counted(self: Here, id: str | None = None) -> Any:
        looked.append(id)
        return whole(self, id)

    monkeypatch.setattr(Here, "encoder", counted)
    words, hybrid_result = hybrid.stages(parse_query("꽃게 소스"))
    assert (words.retrievers, hybrid_result.retrievers) == (("bm25",), RETRIEVERS)
    assert looked == ["tiny@00000000"] * 2


def test_what_is_fused_later_is_not_fused_by_words_alone(hybrid: Searcher, made: Searchable) -> None:
    with statements(made.library) as asked:
        hybrid.rank(parse_query("꽃게 소스에 찍어 먹어요"))
    assert sum(statement.startswith("SELECT id, text FROM window") for statement in asked) == 1


def test_what_was_measured_of_the_encoder_is_read_at_the_first_key_alone(hybrid: Searcher, made: Searchable) -> None:
    def settings(text: str) -> int:
        with statements(made.library) as asked:
            hybrid.rank(parse_query(text))
        return sum("'calibration " in statement for statement in asked)

    assert settings("꽃게")
    assert not settings("꽃게 소스")
    made.library.database.put_setting("calibration tiny@00000000", "")
    assert settings("꽃게"), "it may have been measured since"
