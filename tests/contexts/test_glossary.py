"""The glossary that is proposed from a channel's captions, and the list that the user keeps."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.captions import files, parse
from subtitle_rag.captions.windows import cut_windows
from subtitle_rag.contexts.glossary import MAX_ENTRIES, MAX_LETTERS, format_list, likely_names, parse_list
from subtitle_rag.korean.morphemes import Analyzer

TITLES = ["달보드레 국수집 다시 가기", "다온의 느린 부엌 K8 여행"]
SAID = """
    안녕하세요 다온입니다 오늘은 달보드레에 왔어요 | 달보드레가 진짜 유명해요 그냥 맛있어요
    달보드레를 좋아하는 사람이 많아요 | 청귤간장 소스를 넣어요 | 청귤간장 소스가 새콤해요
    이번에는 청귤간장 소스에 찍어 먹어요 | 청귤간장 소스는 어디서 사요 | 현우 씨가 왔어요 오늘은 날씨가 좋네요
    현우 씨는 국수를 좋아해요 | 그래서 현우 씨를 불렀어요 | 현우 씨랑 먹어요 | K8을 타고 갔어요 | K8이 조용해요
    역시 K8이 좋네요 저는 버스를 탔어요 | 그냥 약간 진짜 되게 매워요 | 미미담에서 만두를 샀어요
    미미담은 오래됐어요 그냥 되게 좋아요 | 미미담이 문을 닫았어요 | 10km를 걸었어요 저는 약간 추워요
    그냥 되게 추웠어요 저희는 걸었어요 | 하나를 먹고 둘을 남겼어요 그냥 | 2024년을 기다려요 10km가 멀어요
    10km를 뛰어요 하나가 남아요 | 2024년이 왔어요 그냥 걸었어요 | 하나는 집에 둘은 시장에 있어요
    버스가 와요 버스를 타요 | 버스는 느려요 날씨가 추워요
"""
TEXTS = [line.strip() for line in SAID.replace("\n", "|").split("|") if line.strip()]


def analysed(analyzer: Analyzer, texts: Sequence[str]) -> list[tuple[Morphemes, str]]:
    return list(zip(analyzer.morphemes(texts), texts, strict=True))


@pytest.fixture(scope="module")
def proposed(analyzer: Analyzer) -> list[str]:
    return likely_names(TITLES, analysed(analyzer, TEXTS), dictionary=analyzer)


@pytest.mark.parametrize("name", ["달보드레", "청귤간장 소스", "현우", "K8", "미미담"])
def test_names_are_proposed(proposed: list[str], name: str) -> None:
    assert name in proposed


@pytest.mark.parametrize("word", ["그냥", "되게", "하나", "버스", "날씨", "10km", "2024년", "소스", "청귤간장"])
def test_ordinary_words_are_not(proposed: list[str], word: str) -> None:
    assert word not in proposed


def test_names_of_a_title_come_first(proposed: list[str]) -> None:
    assert {"달보드레", "K8"} & set(proposed[:2])


def test_the_same_list_again_and_no_longer_than_asked(analyzer: Analyzer, proposed: list[str]) -> None:
    windows = analysed(analyzer, TEXTS)
    assert likely_names(TITLES, windows, dictionary=analyzer) == proposed
    assert likely_names(TITLES, windows, 2, dictionary=analyzer) == proposed[:2]
    assert len(proposed) == len(set(proposed))
    assert parse_list(format_list(proposed)) == tuple(proposed)


def test_order_of_the_windows_plays_no_part(analyzer: Analyzer, proposed: list[str]) -> None:
    shuffled = random.Random(3).sample(TEXTS, len(TEXTS))
    assert set(likely_names(TITLES, analysed(analyzer, shuffled), dictionary=analyzer)) == set(proposed)


def test_nothing_said_nothing_proposed(analyzer: Analyzer) -> None:
    assert likely_names([], [], dictionary=analyzer) == []
    assert likely_names(["제목"], [(Morphemes((), (), ()), "")], dictionary=analyzer) == []


def test_latin_names_in_titles_are_words(analyzer: Analyzer) -> None:
    texts = ["or를 눌러요", "or가 있어요", "or는 또 나와요", "nori가 왔어요", "nori는 김이에요", "nori를 먹어요"]
    found = likely_names(["Memory nori"], analysed(analyzer, texts), dictionary=analyzer)
    assert "nori" in found
    assert "or" not in found


def test_a_particle_inside_a_name(analyzer: Analyzer) -> None:
    texts = ["로아가 벨리타 가방이에요", "로아가 벨리타를 샀어요", "로아가 벨리타는 비싸요", "로아가 벨리타가 예뻐요"]
    assert "로아가 벨리타" in likely_names([], analysed(analyzer, texts), dictionary=analyzer)


def test_what_a_recogniser_made_of_a_title_is_left_out(analyzer: Analyzer) -> None:
    texts = ["은솔포에 왔어요", "은솔포가 좋아요", "은설포를 걸어요", "은설포가 넓어요", "은설포는 조용해요"]
    assert likely_names(["은솔포 여행"], analysed(analyzer, texts), dictionary=analyzer) == ["은솔포"]


@pytest.mark.parametrize("word", ["사이즈", "벨트", "매장"])
def test_words_with_few_relatives_are_no_names(analyzer: Analyzer, word: str) -> None:
    texts = [f"{word}{particle} 좋아요" for particle in ("는", "도", "부터", "를", "에서")]
    assert likely_names([], analysed(analyzer, texts), dictionary=analyzer) == []


def test_the_users_list() -> None:
    text = "# 우리 채널\n청귤간장 소스  # 여름 메뉴\n\n  다온 \nC#\n다온\n#현우\n\u1103\u1161\u110b\u1169\u11ab\n"
    assert parse_list(text) == ("청귤간장 소스", "다온", "C#")
    assert parse_list("") == ()


def test_the_users_list_is_bounded() -> None:
    many = parse_list("\n".join(f"{at} " + "가" * 100 for at in range(200)))
    assert len(many) == MAX_ENTRIES
    assert max(map(len, many)) == MAX_LETTERS


def test_a_list_as_text() -> None:
    assert format_list(["다온", "청귤\n간장"]) == "다온\n청귤 간장\n"
    assert format_list([]) == ""


@given(st.lists(st.text(max_size=60), max_size=80))
def test_lists_survive_their_text(entries: list[str]) -> None:
    once = parse_list(format_list(entries))
    assert parse_list(format_list(once)) == once
    assert len(once) <= MAX_ENTRIES
    assert all(0 < len(entry) <= MAX_LETTERS and entry.isprintable() for entry in once)


@pytest.mark.campaign(part="flows")
def test_names_of_a_real_channel(analyzer: Analyzer, real_data: Path) -> None:
    """Real captions: most brands that the talk turns about are among the first twenty."""
    titles, texts = [], []
    for group in files.discover([real_data / "fashion_asr"]):
        assert isinstance(group, files.CaptionGroup)
        track = files.read(group.candidates[0])
        titles.append(group.video.title)
        texts += [one.text for one in cut_windows(group.video.id, parse.parse_captions(track.raw, track.format))]
    found = likely_names(titles, analysed(analyzer, texts), dictionary=analyzer)
    assert {"르메르", "블레스", "라프시몬스", "보테가 베네타", "비즈빔"} <= set(found[:20])
    assert not {"그냥", "진짜", "약간", "하나", "셔츠"} & set(found)
