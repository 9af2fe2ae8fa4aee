"""Words as people type them, against captions as people say them: the queries of `typed_words.tsv`."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.korean.hanja import hangul_of_hanja
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer, term_id
from subtitle_rag.korean.pronunciation import SoundIndex
from subtitle_rag.korean.readings import other_spellings
from subtitle_rag.search.query import parse_query
from tests.support.searchable import Searchable, filled, video

pytestmark = pytest.mark.xdist_group("typed words")  # one worker makes the library of all queries

CASES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parents[1] / "data/typed_words.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
"""Kind, query, a line that it means, and one that it does not."""
KINDS = {"pair": 0.95, "name": 0.9, "letters": 0.95, "numeral": 0.95, "little": 0.95, "misheard": 0.75} | dict.fromkeys(
    ("signed", "day", "lettered"), 0.95
)
"""The part of the queries of each kind that find their line among five. `misheard` has all kinds of slips."""
SPELLINGS = [
    line.split()
    for line in (Path(__file__).parents[2] / "subtitle_rag/korean/spellings.txt").read_text("utf-8").splitlines()
]
ROWS = [
    pytest.param(SPELLINGS[::10], id="every tenth row"),
    pytest.param(SPELLINGS, id="all rows", marks=pytest.mark.campaign(part="words")),
]
FRAMES = (
    "{} 이야기를 해 볼게요",
    "저는 {}{은} 정말 좋아해요",
    "어제 {}에서 산 거예요",
    "그래서 {}{이} 뭐냐면요",
    "요즘 {} 진짜 많이 쓰더라고요",
)


def framed(frame: str, word: str) -> str:
    """Return the sentence with the particles that the word takes."""
    has_final = (ord(word[-1]) - 0xAC00) % 28 > 0 if word[-1] > "z" else word[-1] in "lmnr"
    return frame.format(word, 은="은" if has_final else "는", 이="이" if has_final else "가")


@pytest.fixture(scope="module")
def searchable(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Searchable]:
    lines = dict.fromkeys(line for kind, _query, *said in CASES if kind not in ("real", "date") for line in said)
    videos = {video(f"line{number:07d}", "영상"): [[line]] for number, line in enumerate(lines)}
    with closing(Searchable(tmp_path_factory.mktemp("typed"), analyzer, videos)) as made:
        yield made


def found(searchable: Searchable, query: str) -> list[str]:
    scenes = searchable.searcher.search(parse_query(query), limit=8, rerank=False).scenes
    return [scene.text for scene in scenes]


@pytest.mark.parametrize(("kind", "part"), KINDS.items())
def test_the_words_of_most_queries_are_found(searchable: Searchable, kind: str, part: float) -> None:
    cases = [case for case in CASES if case[0] == kind]
    missed = [
        query for _kind, query, said, *_other in cases if not any(said in text for text in found(searchable, query)[:5])
    ]
    assert len(cases) >= 30
    assert len(missed) <= (1 - part) * len(cases), missed


@pytest.mark.parametrize(("query", "said", "other"), [case[1:] for case in CASES if case[0] == "guard"])
def test_an_ordinary_word_is_no_letter_and_no_number(searchable: Searchable, query: str, said: str, other: str) -> None:
    texts = found(searchable, query)
    ranks = [next((rank for rank, text in enumerate(texts) if line in text), 99) for line in (said, other)]
    assert ranks[0] < 99
    assert ranks[0] < ranks[1]


def test_crab_that_was_misheard_is_found(searchable: Searchable) -> None:
    """The example that the project began with: 꽃게 in the query, 꽃개 in the captions."""
    assert "꽃개를 쪄서" in found(searchable, "꽃게")[0]


@pytest.mark.parametrize("rows", ROWS)
def test_the_spellings_of_the_table_are_found_in_every_sentence(analyzer: Analyzer, rows: list[list[str]]) -> None:
    pairs = [(word, frame) for row in rows for word in row if len(word) > 1 for frame in FRAMES]
    spoken = analyzer.morphemes([framed(frame, word) for word, frame in pairs])
    missing = [pair for pair, analysis in zip(pairs, spoken, strict=True) if pair[0] not in analysis.forms]
    assert len(missing) <= 0.01 * len(pairs), missing


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("in_context", [False, True], ids=["captions", "captions and contexts"])
def test_every_spelling_of_the_table_finds_the_others(
    tmp_path: Path, analyzer: Analyzer, rows: list[list[str]], *, in_context: bool
) -> None:
    """Also where two contexts write both, as models like to: then the word that is typed stands in the library."""
    words = [word for row in rows for word in row]
    minutes = [[framed(FRAMES[0], word)] for word in words]
    library = filled(tmp_path / "table.db", analyzer, {video("table000001"): minutes})
    if in_context:
        ids = [window.id for window in library.windows_of("table000001")[:2]]
        library.put_indexed("any", {}, {id: frozenset(words) for id in ids})
    queries = QueryAnalyzer(library, analyzer)
    missing = []
    for word in words:
        lexical = queries.analyze(word)
        certain = (lexical.required_terms or lexical.vector).indices
        others = [other for other in other_spellings(word) if len(other) > 1 and other in words]
        missing += [(word, other) for other in others if term_id("m", other) not in certain]
    library.close()
    assert not missing


@pytest.mark.parametrize(
    ("latin", "hangul"),
    [
        ("toystory", "토이스토리"),
        ("highball", "하이볼"),
        ("lightroom", "라이트룸"),
        ("skateboard", "스케이트보드"),
        ("freediving", "프리다이빙"),
        ("clubsandwich", "클럽샌드위치"),
    ],
)
def test_a_name_of_several_nouns_is_found_by_its_whole_sound(analyzer: Analyzer, latin: str, hangul: str) -> None:
    """Both parts of each are other words by themselves, and none is in the table."""
    (analysis,) = analyzer.morphemes([f"어제는 {hangul} 이야기를 했어요"])
    assert not other_spellings(latin)
    assert {hangul} < set(analysis.forms) - {"어제", "이야기", "하"}, "the whole beside its parts"
    assert SoundIndex(analysis.forms).hangul_of(latin) == [hangul]


def test_an_unknown_noun_stands_without_the_particle_that_its_end_was_taken_for(analyzer: Analyzer) -> None:
    frames = ("어제는 {}로 갔어요", "그건 {}예요", "친구가 {}랑 왔어요")
    for frame, analysis in zip(frames, analyzer.morphemes([frame.format("벨로루아") for frame in frames]), strict=True):
        assert "벨로루아" in analysis.forms, frame


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("silver lake", "실버레이크 근처에서 묵었어요"),
        ("실버레이크", "silver 그리고 lake 말고 silver lake 근처에서 묵었어요"),
        ("콜오브듀티", "밤새 call of duty 한 판 더 했어요"),
        ("call of duty", "밤새 콜오브듀티 한 판 더 했어요"),
    ],
)
def test_a_name_of_several_words_comes_before_its_parts(
    tmp_path: Path, analyzer: Analyzer, query: str, said: str
) -> None:
    lines = ["silver 반지를 샀어요", "lake 사진이 예뻐요", "실버 색이 좋아요", "call 버튼을 눌러요", said]
    videos = {video(f"several{number:04d}", "영상"): [[line]] for number, line in enumerate(lines)}
    with closing(Searchable(tmp_path, analyzer, videos)) as made:
        assert said in found(made, query)[0]


@pytest.mark.parametrize(
    ("hanja", "hangul"),
    [
        ("韓國", "한국"),
        ("料理", "요리"),
        ("女子", "여자"),
        ("歷史", "역사"),
        ("大韓民國", "대한민국"),
        ("不可", "불가"),
        ("金", "김"),
    ],
)
def test_hanja_are_read(hanja: str, hangul: str) -> None:
    assert hangul_of_hanja(hanja) == hangul


@pytest.mark.parametrize("word", ["한국", "ab", "", "韓국", "🍗", "々"])
def test_other_characters_are_no_hanja(word: str) -> None:
    assert hangul_of_hanja(word) is None
