import gc
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Thread
from weakref import ref

import pytest

from subtitle_rag.korean.expansion import (
    MISHEARD_WEIGHT,
    RELATED_WEIGHT,
    SOUND_WEIGHT,
    inverse_document_frequency,
)
from subtitle_rag.korean.lexical import LexicalQuery, QueryAnalyzer, initials_sentence
from subtitle_rag.korean.morphemes import SPANNING_WEIGHT, Analyzer, term_id
from subtitle_rag.search.query import parse_query
from tests.support.searchable import Minutes, Searchable, filled, video

Fill = Callable[[Minutes], QueryAnalyzer]


@pytest.fixture
def fill(tmp_path: Path, analyzer: Analyzer) -> Iterator[Fill]:
    """Makes a library of one video and reads queries against it."""
    with ExitStack() as opened:

        def make(minutes: Minutes) -> QueryAnalyzer:
            library = filled(tmp_path / "library.db", analyzer, {video("invented001"): minutes})
            opened.callback(library.close)
            return QueryAnalyzer(library, analyzer)

        yield make


def weight(query: LexicalQuery, form: str) -> float:
    return dict(zip(query.vector.indices, query.vector.values, strict=True)).get(term_id("m", form), 0.0)


def test_the_rarer_a_word_the_more_it_tells() -> None:
    values = [inverse_document_frequency(n, 100) for n in range(101)]
    assert values == sorted(values, reverse=True)
    assert values[0] == math.log(100.5 / 0.5 + 1)
    assert values[-1] > 0


def test_what_is_typed_weighs_one_and_twice_typed_two(fill: Fill) -> None:
    query = fill([["꽃게를 샀어요"]]).analyze("꽃게 꽃게 소스")
    assert (weight(query, "꽃게"), weight(query, "소스")) == (2.0, 1.0)
    assert query.words == ("꽃게", "꽃게", "소스")


def test_a_word_read_whole_and_in_parts_does_not_outweigh_others(fill: Fill) -> None:
    query = fill([["창밖 운동장을 봤어요"]]).analyze("창밖 운동장")
    assert {form: weight(query, form) for form in ("창밖", "창", "밖", "운동장")} == {
        "창밖": 0.5,
        "창": 0.5,
        "밖": 0.5,
        "운동장": 1.0,
    }


@pytest.mark.parametrize(
    ("typed", "said"),
    [("르메르", "르메루"), ("블루투스", "불루투스"), ("브로콜리", "부로콜리"), ("스파게티", "스파개티")],
)
def test_a_word_that_was_misheard_is_found(fill: Fill, typed: str, said: str) -> None:
    query = fill([[f"{said} 이야기를 해요"], ["다른 이야기예요"]]).analyze(typed)
    assert 0 < weight(query, said) <= MISHEARD_WEIGHT < weight(query, typed)
    assert typed in query.forms
    assert said in query.related


def test_two_letters_apart_is_another_word(fill: Fill) -> None:
    query = fill([["르메로나 이야기", "불루투소"]]).analyze("르메르 블루투스")
    assert query.forms == {"르메르", "블루투스"}


def test_short_words_are_not_taken_for_each_other(fill: Fill) -> None:
    query = fill([["굴을 먹고 귤을 샀어요 소금 조금"]]).analyze("소금 굴")
    assert (weight(query, "조금"), weight(query, "귤")) == (0.0, 0.0)


def test_related_words_of_what_nobody_says_come_from_the_librarys_own_vocabulary(fill: Fill) -> None:
    query = fill([["골짜기를 건넜어요"], ["냄비를 씻었어요"]]).analyze("계곡")
    assert 0 < weight(query, "골짜기") <= RELATED_WEIGHT
    assert (query.forms, query.related) == (frozenset({"계곡"}), frozenset({"골짜기"}))


def test_a_word_that_is_said_needs_no_related_ones(fill: Fill) -> None:
    assert fill([["골짜기를 건넜어요"], ["계곡에서 놀았어요"]]).analyze("계곡").related == frozenset()


def test_a_rare_variant_never_outweighs_the_typed_word(fill: Fill) -> None:
    """What counts in the end is weight × inverse document frequency."""
    made = fill([["블루투스"]] * 3 + [["불루투스"]])
    total = made._library.counts().searchable
    query = made.analyze("블루투스")
    counts = made._library.term_counts(["블루투스", "불루투스"])
    own = weight(query, "블루투스") * inverse_document_frequency(counts["블루투스"], total)
    other = weight(query, "불루투스") * inverse_document_frequency(counts["불루투스"], total)
    assert 0 < other < own


def test_a_typed_word_is_not_its_own_variant(fill: Fill) -> None:
    query = fill([["치킨 통닭 블루투스 불루투스"]]).analyze("치킨 통닭 블루투스 불루투스")
    assert [weight(query, form) for form in ("치킨", "통닭", "블루투스", "불루투스")] == [1.0] * 4


def test_bigrams_across_a_typed_space_weigh_less(fill: Fill) -> None:
    query = fill([["꽃게"]]).analyze("꽃게 소스")
    values = dict(zip(query.vector.indices, query.vector.values, strict=True))
    assert [values[term_id("b", gram)] for gram in ("꽃게", "게소", "소스")] == [1.0, SPANNING_WEIGHT, 1.0]


@pytest.mark.parametrize("text", ["", "🔥", "...", "가", "[음악]", "%_'\"\\", pytest.param("가" * 1_000, id="long")])
def test_any_query_has_a_vector(fill: Fill, text: str) -> None:
    query = fill([["꽃게"]]).analyze(text)
    assert len(query.vector.indices) == len(query.vector.values)
    assert all(value > 0 for value in query.vector.values)


def test_an_empty_library_has_no_variants(fill: Fill) -> None:
    query = fill([]).analyze("블루투스 치킨")
    assert query.forms == {"블루투스", "치킨"}


def test_the_vocabulary_may_change_while_another_thread_searches(fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every analysis reads it anew here, in one thread the full one and in the other an empty one."""
    monkeypatch.setattr("subtitle_rag.korean.lexical.VOCABULARY_SECONDS", -1.0)
    made = fill([["블루투수 블루투소 블루투시 블루투사 불루투스"]])
    failures: list[Exception] = []
    full = made._library.vocabulary(letters=3)
    flip = iter(range(10**6))
    monkeypatch.setattr(made._library, "vocabulary", lambda letters: full if next(flip) % 2 else [])
    monkeypatch.setattr(made._library.database, "version", lambda: next(flip))

    def work() -> None:
        try:
            for _ in range(200):
                found = made._current_vocabulary().nearest("블루투스")
                assert found == [] or len(found) == len(set(found)) > 1
        except Exception as error:
            failures.append(error)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_vocabulary_stays_no_longer_in_memory_than_it_is_used(fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    """No garbage needs to be looked for: one has tens of megabytes, and each change of the library makes the next."""
    monkeypatch.setattr("subtitle_rag.korean.lexical.VOCABULARY_SECONDS", -1.0)
    made = fill([["블루투스 이어폰을 끼고 꽃게를 샀어요", "디올 가방도 봤어요"]])
    gc.disable()
    try:
        made.analyze("블루투소 꽃개 Dior Lumigrove ㅂㅅㄱ 이어")
        for make in made.tables():
            make()
        del make
        earlier = ref(made._vocabulary)
        made._version = None
        made.analyze("이어폰")
        assert earlier() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("light", ["거", "안", "말"])
def test_words_of_no_weight_rank_only_where_there_are_no_others(fill: Fill, light: str) -> None:
    made = fill([["치킨 거 안 말"]])
    assert weight(made.analyze(f"치킨 {light}"), light) == 0
    assert made.analyze(light).vector.indices
    assert made.analyze(light).words == (light,)


def test_verbs_of_no_weight_rank_and_are_not_marked(fill: Fill) -> None:
    query = fill([["치킨"]]).analyze("치킨 있는 하는")
    assert weight(query, "있") == 1
    assert (query.forms, query.words) == (frozenset({"치킨"}), ("치킨",))


@pytest.mark.parametrize("typed", ["캠", "캠ㅍ", "캠피", "캠핑자"])
def test_an_unfinished_word_finds_what_it_begins(fill: Fill, typed: str) -> None:
    query = fill([["캠핑장에서 캠핑을 했어요", "치킨"]]).analyze(typed)
    assert query.forms & {"캠핑", "캠핑장"}
    assert "치킨" not in query.forms


@pytest.mark.parametrize("typed", ["떡", "떡ㅂ", "떡보", "떡볶", "떡볶ㅇ"])
def test_an_unfinished_word_finds_a_title_that_it_begins(tmp_path: Path, analyzer: Analyzer, typed: str) -> None:
    library = filled(tmp_path / "library.db", analyzer, {video("invented001", "떡볶이를 만드는 날"): [["물이 끓어요"]]})
    query = QueryAnalyzer(library, analyzer).analyze(typed)
    assert weight(query, "떡볶이") > 0
    assert "만들" not in query.forms
    library.close()


def test_a_word_that_is_said_is_not_completed(fill: Fill) -> None:
    assert fill([["치킨 치킨집"]]).analyze("치킨").forms == frozenset({"치킨"})


def test_first_consonants_stand_for_the_names_of_titles(tmp_path: Path, analyzer: Analyzer) -> None:
    library = filled(tmp_path / "library.db", analyzer, {video("invented001", "바삭골 신메뉴"): [["바삭골 소스"]]})
    made = QueryAnalyzer(library, analyzer)
    query = made.analyze("ㅂㅅㄱ 소스")
    assert (query.words, dict(query.names)) == (("ㅂㅅㄱ", "소스"), {"ㅂㅅㄱ": ("바삭골",)})
    assert made.analyze("ㅂㅅ").names == {"ㅂㅅ": ("바삭골",)}
    assert not made.analyze("ㅋㅋㅋ").names
    library.close()


# Numbers


@pytest.fixture
def prices(tmp_path: Path, analyzer: Analyzer) -> Iterator[Searchable]:
    lines = ["이건 3만 원이에요", "저건 2,000원이에요", "그건 5만 원이에요", "만원의 행복이에요", "30,000명이 왔어요"]
    videos = {video(f"price-{number:05d}"): [[line]] for number, line in enumerate(lines)}
    with closing(Searchable(tmp_path, analyzer, videos)) as opened:
        yield opened


@pytest.mark.parametrize("typed", ["3만 원", "3만원", "삼만 원", "30,000원", "30000원", "삼 만원"])
def test_a_number_is_found_whole_in_any_spelling(prices: Searchable, typed: str) -> None:
    result = prices.searcher.search(parse_query(typed))
    assert {scene.text.split(" 다음")[0] for scene in result.scenes} == {"이건 3만 원이에요", "30,000명이 왔어요"}
    assert result.unknown_words == ()


@pytest.mark.parametrize("typed", ["40000원", "4만 원"])
def test_a_number_that_is_not_said_finds_nothing(prices: Searchable, typed: str) -> None:
    assert prices.searcher.search(parse_query(typed)).scenes == ()


def test_a_number_that_is_not_said_is_named(prices: Searchable) -> None:
    assert prices.searcher.search(parse_query("40,000원 행복")).unknown_words == ("40000원",)


def test_a_counter_is_not_marked(prices: Searchable) -> None:
    scene = prices.searcher.search(parse_query("3만 원")).scenes[0]
    assert [scene.text[start:end] for start, end in scene.highlights] == ["3만"]


def test_what_a_query_asks_for_is_no_word_of_it(fill: Fill) -> None:
    made = fill([["치킨을 소스에 찍어 먹었어요"]])
    for typed in ("그 치킨 소스 찍어 먹던 장면", "치킨 소스 찍어 먹던 부분 찾아 줘"):
        query = made.analyze(typed)
        assert (query.words_not_in_library, "장면" in query.forms, weight(query, "장면")) == ((), False, 0.0)
    assert made.analyze("장면").forms == {"장면"}


@pytest.fixture
def named(fill: Fill) -> QueryAnalyzer:
    lines = ["디올 가방을 샀어요 정말 예뻐요", "벨코라에서 나온 신발인데요 편해요"]
    return fill([[*lines, "이번에는 morvello 자켓을 입어 볼게요", "뉴발란스 운동화는 오래 신어요"]])


@pytest.mark.parametrize(
    ("typed", "spoken"),
    [("dior", "디올"), ("Velkora", "벨코라"), ("모르벨로", "morvello"), ("new balance", "뉴발란스")],
)
def test_a_name_finds_its_other_spelling(named: QueryAnalyzer, typed: str, spoken: str) -> None:
    query = named.analyze(typed)
    assert weight(query, spoken) == SOUND_WEIGHT
    assert spoken in query.related


@pytest.mark.parametrize("typed", ["morvello", "Taiga Takahashi", "gucci"])
def test_a_name_that_is_said_as_typed_or_by_nobody_adds_nothing(named: QueryAnalyzer, typed: str) -> None:
    assert named.analyze(typed).related == frozenset()


def test_a_word_of_two_letters_finds_its_homophone(fill: Fill) -> None:
    query = fill([["꽃개를 쪄서 먹었어요", "그 꽃개가 정말 크네요"]]).analyze("꽃게")
    assert query.related == {"꽃개"}
    assert 0 < weight(query, "꽃개") < weight(query, "꽃게")


def test_a_word_of_two_letters_that_is_not_said_finds_a_near_sound(tmp_path: Path, analyzer: Analyzer) -> None:
    lines = ["콩치를 구워서 먹었어요", "그 콩치가 정말 크네요"]
    related = []
    for name, said in (("fish", lines), ("both", [*lines, "꽁치를 또 샀어요"])):
        with closing(filled(tmp_path / f"{name}.db", analyzer, {video("invented003"): [said]})) as library:
            related.append(QueryAnalyzer(library, analyzer).analyze("꽁치").related)
    assert related[0] == {"콩치"}
    assert "콩치" not in related[1]


def test_of_two_words_that_sound_like_a_name_the_nearer_one_weighs_more(fill: Fill) -> None:
    query = fill([["고스트라는 영화를 봤어요", "오스트라는 도시에 갔어요"]]).analyze("ghost")
    assert weight(query, "고스트") == SOUND_WEIGHT
    assert 0 < weight(query, "오스트") < SOUND_WEIGHT


def test_a_word_by_sound_stands_in_the_library_and_a_guess_does_not(fill: Fill) -> None:
    made = fill([["람다 함수를 지방에서 썼어요"]])
    assert made.analyze("lambda").words_not_in_library == ()
    assert made.analyze("gevent").words_not_in_library == ("gevent",)


def test_a_known_spelling_weighs_more_than_another_word_of_its_sound(fill: Fill) -> None:
    query = fill([["포르쉐 시승을 했습니다"], ["포스트그레스로 옮겼어요"]]).analyze("porsche")
    assert weight(query, "포르쉐") > weight(query, "포스트그레스") > 0


def test_first_consonants_that_no_name_has_are_told(fill: Fill) -> None:
    query = fill([["치킨"]]).analyze("ㅂㅅㄱ")
    assert query.words_not_in_library == ("ㅂㅅㄱ",)
    assert "ㅂㅅㄱ" in initials_sentence(query.words_not_in_library)
    assert initials_sentence(["치킨"]) == ""


def test_letter_pairs_find_nothing_alone(fill: Fill) -> None:
    """Neither beside a spelling by sound: Islands shares three pairs with pandas."""
    query = fill([["판다스를 배워요"], ["islands sidebands thousands"]]).analyze("pandas")
    grams = {term_id("b", gram) for gram in ("pa", "an", "nd", "da", "as")}
    assert weight(query, "판다스") > 0
    assert grams.isdisjoint(query.vector.indices)
