"""Latin names and their Hangul, by rules and by the table of names."""

from pathlib import Path

import pytest

import subtitle_rag
from subtitle_rag.korean import pronunciation
from subtitle_rag.korean.morphemes import words
from subtitle_rag.korean.pronunciation import SoundIndex, distance, homophones, jamo, letters_of, near_sounds
from subtitle_rag.korean.readings import other_spellings

NAMES = [tuple(line.split()) for line in Path(__file__).with_name("names_by_sound.txt").read_text("utf-8").splitlines()]
"""Eighty names that are not in the table: places, brands, composers, painters, dishes, software and invented ones."""


@pytest.fixture(scope="module")
def others() -> set[str]:
    """Words of the sample's captions, among which a name has to be found."""
    texts = (path.read_text(encoding="utf-8") for path in (Path(subtitle_rag.__file__).parent / "sample").glob("*.vtt"))
    return {word for text in texts for word in words(text) if len(word) > 1 and not word.isascii()}


def test_the_names_are_apart_from_the_table() -> None:
    assert len(NAMES) == 80
    assert not [latin for latin, _hangul in NAMES if other_spellings(latin)]


def test_most_names_are_found_by_their_sound(others: set[str]) -> None:
    index = SoundIndex(others | {hangul for _latin, hangul in NAMES})
    found = [latin for latin, hangul in NAMES if hangul in index.hangul_of(latin)]
    assert len(found) >= 0.8 * len(NAMES)


@pytest.mark.budget
def test_the_latin_words_of_a_beginning_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word is typed letter by letter: 데이터, 데이터베, 데이터베이스."""
    read: list[str] = []
    whole = pronunciation._Alignment
    monkeypatch.setattr(pronunciation, "_Alignment", lambda word: read.append(word) or whole(word))  # type: ignore[func-returns-value]
    index = SoundIndex({latin for latin, _hangul in NAMES} | {f"d{end}" for end in ("atabase", "emo", "oor", "rama")})
    index.latin_of("데이터")
    first = len(read)
    assert first > 4
    for word in ("데이터베", "데이터베이스"):
        read.clear()
        index.latin_of(word)
        assert len(read) < first / 2, word


def test_no_latin_word_is_lost_by_looking_up_its_beginning(others: set[str]) -> None:
    latin = sorted({latin for latin, _hangul in NAMES})
    index = SoundIndex(latin)
    for word in (*sorted(others)[::40], *(hangul for _latin, hangul in NAMES), "데이터베이스를설계하는방법입니다"):
        sounds = jamo(word)
        bounds = {each: pronunciation.MAX_COST * max(len(each), len(sounds)) for each in latin}
        costs = {each: distance(each, sounds) for each in latin if pronunciation.is_hangul(word)}
        near = sorted((cost, each) for each, cost in costs.items() if cost <= bounds[each])
        assert index.latin_of(word)[:1] == [each for _cost, each in near[:1]], word


def test_most_captions_in_latin_letters_are_found_by_the_hangul_of_a_name(others: set[str]) -> None:
    index = SoundIndex(others | {latin for latin, _hangul in NAMES})
    found = [hangul for latin, hangul in NAMES if latin in index.latin_of(hangul)]
    assert len(found) >= 0.75 * len(NAMES)


def test_few_names_that_nobody_says_find_another_word(others: set[str]) -> None:
    index = SoundIndex(others)
    wrong = [latin for latin, _hangul in NAMES if index.hangul_of(latin)]
    assert len(wrong) <= 0.15 * len(NAMES)


@pytest.mark.parametrize(
    ("latin", "hangul", "reading"),
    [
        ("python", "파이썬", "ㅍㅏㅣㅅㅓㄴ"),
        ("Alaïa", "알라이아", "ㅏㄹㅏㅣㅏ"),
        ("uniqlo", "유니클로", "ㅣㅜㄴㅣㅋㅡㄹㅗ"),
        ("gangnam", "강남", "ㄱㅏㆁㄴㅏㅁ"),
    ],
)
def test_hangul_is_read_as_jamo(latin: str, hangul: str, reading: str) -> None:
    assert jamo(hangul) == reading
    assert distance(latin, reading) < pronunciation.MAX_COST * len(reading)


@pytest.mark.parametrize(
    ("kind", "latin", "hangul"),
    [
        ("a silent e", "lemonade", "레모네이드"),
        ("a silent e", "costume", "코스튬"),
        ("a silent e", "homeland", "홈랜드"),
        ("a soft g", "giant", "자이언트"),
        ("a soft c", "precise", "프리사이스"),
        ("ch as k", "mechanic", "메카닉"),
        ("ch as k", "chronicle", "크로니클"),
        ("an ending", "monument", "모뉴먼트"),
        ("an ending", "optimism", "옵티미즘"),
        ("an ending", "wireless", "와이어리스"),
        ("an ending", "portable", "포터블"),
        ("an ending", "wilson", "윌슨"),
        ("an ending", "donation", "도네이션"),
        ("a beginning", "expert", "엑스퍼트"),
        ("a beginning", "concert", "콘서트"),
        ("a beginning", "replay", "리플레이"),
        ("a plural", "islands", "아일랜즈"),
        ("a plural", "pages", "페이지스"),
        ("a letter by its name", "nvidia", "엔비디아"),
        ("a letter by its name", "influxdb", "인플럭스디비"),
        ("a t before l", "outlet", "아울렛"),
        ("a vowel after ㅊ", "archer", "아쳐"),
        ("French", "soupcon", "수프콩"),
        ("German", "spiegel", "슈피겔"),
        ("Italian", "zucchini", "주키니"),
        ("Spanish", "manzanilla", "만사니야"),
        ("mac", "mcfly", "맥플라이"),
    ],
)
def test_kinds_of_spelling_are_read(others: set[str], kind: str, latin: str, hangul: str) -> None:
    assert SoundIndex(others | {hangul}).hangul_of(latin)[:1] == [hangul], kind
    assert latin in SoundIndex(others | {latin}).latin_of(hangul), kind


def test_a_long_noun_is_two_latin_words(others: set[str]) -> None:
    latin = {"silver", "lake", "silk", "lava"}
    assert SoundIndex(others | latin).latin_pair_of("실버레이크") == ("silver", "lake")
    assert SoundIndex(others | {"silver"}).latin_pair_of("실버레이크") is None


def test_accents_are_left_out() -> None:
    assert letters_of("Hermès") == "hermes"
    assert letters_of("ALAÏA") == "alaia"


def test_a_name_is_found_at_the_beginning_of_a_longer_noun() -> None:
    index = SoundIndex(["벨코라가방", "벨기에", "가방"])
    assert index.hangul_of("velkora") == ["벨코라가방"]
    assert index.hangul_of("vel") == []  # too short for the beginning of a word


def test_only_a_part_of_a_vocabulary_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    syllables = "가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조초코토포호"
    index = SoundIndex(f"{first}{second}{third}" for first in syllables for second in syllables for third in "곡문방말")
    extend, columns = pronunciation._Alignment.extend, 0

    def counted(self: pronunciation._Alignment, sounds: str, at: int) -> float:
        nonlocal columns
        columns += 1
        return extend(self, sounds, at)

    monkeypatch.setattr(pronunciation._Alignment, "extend", counted)
    assert index.hangul_of("kanamun") != []
    assert columns < len(syllables) ** 2 / 2


def test_the_table_knows_both_directions() -> None:
    assert "디올" in other_spellings("dior")
    assert "dior" in other_spellings("디올")
    assert other_spellings("velkora") == ()


@pytest.mark.parametrize(
    ("word", "other"), [("꽃게", "꽃개"), ("결제", "결재"), ("왜곡", "외곡"), ("부엌", "부억"), ("잎새", "입새")]
)
def test_homophones_differ_in_one_syllable(word: str, other: str) -> None:
    assert other in list(homophones(word))
    assert word in list(homophones(other))
    assert word not in list(homophones(word))


@pytest.mark.parametrize(("word", "other"), [("꽁치", "콩치"), ("방어", "팡어"), ("모둠", "모돔"), ("김밥", "긴밥")])
def test_near_sounds_differ_in_one_sound(word: str, other: str) -> None:
    assert other in list(near_sounds(word))
    assert word in list(near_sounds(other))
    assert word not in list(near_sounds(word))
