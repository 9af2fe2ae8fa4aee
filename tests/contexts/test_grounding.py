"""Doubts: what a context says that the video does not bear out, and what is no reason for doubt."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.captions import files, parse
from subtitle_rag.contexts.grounding import Doubt, all_values, doubts, numbers
from tests.support.cases import cases

TRANSCRIPT = """
안녕하세요 느린 부엌의 다온입니다 오늘은 물결시장 안에 있는 달보드레 국수집에 왔어요 사장님이 삼십 년 동안 하셨대요
청귤 간장 소스가 유명한데 한 그릇에 만 구천 원이에요 하루에 백삼십 그릇만 판대요 저는 스무 살 때 처음 왔고요
고양이 세 마리가 있어요 이거 진짜 새콤하고 짭짤해요 K8 타고 두 시간 걸렸어요 와이파이는 플라스틱 통에 써 있고
에이피아이 만드는 친구 현우가 알려 줬어요 쿠키커터 모양 과자도 줘요 2 30만 원어치는 먹은 것 같아요
"""
TITLE = "다온의 물결시장 국수 여행 EP.3"


def found(context: str, **more: object) -> list[tuple[str, str]]:
    given = {"transcript": TRANSCRIPT, "title": TITLE, "glossary": ["혜성 반점", "Sunny Side"], **more}
    return [(doubt.kind, doubt.text) for doubt in doubts(context, **given)]  # type: ignore[arg-type]


@cases(
    ("text", "value"),
    [
        ("이천원", 2000),
        ("2천원", 2000),
        ("2,000원", 2000),
        ("2000 원", 2000),
        ("만 구천 원", 19_000),
        ("19,000원", 19_000),
        ("1만 9천 원", 19_000),
        ("3만5천 원", 35_000),
        ("1억 2천만 명", 120_000_000),
        ("60만", 600_000),
        ("2.5만 명", 25_000),
        ("스무 살", 20),
        ("스물다섯 명", 25),
        ("열두 개", 12),
        ("20살", 20),
        ("세 마리", 3),
        ("3마리", 3),
        ("두 번째", 2),
        ("사십 포기", 40),
        ("천오백 원", 1500),
        ("만 29세", 29),
        ("만 9천 원", 19_000),
        ("만 6,900원", 16_900),
        ("3000만이다", 30_000_000),
        ("3.6 버전", 3.6),
        ("3점 6 버전", 3.6),
        ("3600여 개", 3600),
    ],
)
def test_one_value_however_written(text: str, value: float) -> None:
    assert [value in number.values for number in numbers(text)] == [True]
    assert value in all_values(text)


@pytest.mark.parametrize(
    "text",
    [
        "이 장면에서 사 온 오이를 구워 먹습니다",
        "한 번 더 먹어 보는 유명한 개",
        "수백 명이 모인 시장, 몇천 원짜리 국수, 여러 가지",
        "그것만 이 영상에서 말합니다",
        "두세 명이 서너 그릇을 먹고 네다섯 배",
        "백화점과 만두, 천천히, 일단 이사, 천장과 만일",
    ],
)
def test_words_that_are_no_numbers(text: str) -> None:
    assert numbers(text) == []


def test_a_range_shares_its_unit() -> None:
    assert [sorted(number.values) for number in numbers("20~30만 원대")] == [[20, 200_000], [300_000]]


@given(st.integers(0, 10**9))
def test_separators_change_nothing(value: int) -> None:
    assert [number.values for number in numbers(f"{value:,}원")] == [number.values for number in numbers(f"{value}원")]
    assert float(value) in all_values(f"{value:,}")


@pytest.mark.parametrize(
    "text",
    ["1" * 30_000, "만 " * 10_000, "천백십" * 10_000, "열 두" * 10_000, "1~" * 10_000],
    ids=["figures", "units", "falling", "native", "ranges"],
)
def test_monstrous_numbers_take_no_time(text: str) -> None:
    assert all_values(text)
    numbers(text)


@pytest.mark.parametrize(
    "context",
    [
        "다온이 물결시장의 달보드레 국수집에서 청귤간장 소스를 맛보며 소개하는 장면입니다.",
        "국수 한 그릇 값이 19,000원이고 하루 130그릇만 판다고 설명합니다.",
        "다온이 20살 때 처음 왔던 가게의 고양이 3마리를 보여 줍니다.",
        "K8을 타고 2시간 걸려 온 이유를 현우 씨에게 이야기합니다.",
        "사장님과 구독자님께 인사하고, '달보드레'라는 국수집을 추천합니다.",
        "'청귤 간장 소스'를 새콤하다고 평가한 뒤 Sunny Side와 혜성반점을 예고합니다.",
        "30년 된 가게에서 API를 만드는 친구와 쿠키커터(cookiecutter) 모양 과자를 먹습니다.",
        "음식값이 20~30만 원쯤 나왔다고 농담하는 마무리 부분입니다.",
        '다온은 "이거 진짜 새콤하고 정말 짭짤해서 계속 먹게 되네요"라며 웃습니다.',
        "달보드래 국수집의 맛을 두고 이야기하는 부분입니다.",
        "",
    ],
)
def test_good_contexts_raise_no_doubt(context: str) -> None:
    assert found(context) == []


@pytest.mark.parametrize(
    ("context", "kind", "text"),
    [
        ("하루에 1300그릇을 판다고 말합니다.", "number", "1300"),
        ("국수 값이 구천 원이라고 말합니다.", "number", "구천"),
        ("고양이 다섯 마리를 만납니다.", "number", "다섯"),
        ("관객이 5,000만 명이라고 합니다.", "number", "5000만"),
        ("다온(Tzion)이 국수를 먹는 장면입니다.", "latin", "Tzion"),
        ("팝corn을 먹는 장면입니다.", "latin", "corn"),
        ("Mario가 국수를 먹습니다.", "latin", "Mario"),
        ("'해오름식당'에서 국수를 먹습니다.", "name", "해오름식당"),
        ("다온이 지훈 씨를 만납니다.", "name", "지훈"),
        ("다온이 노을집이라는 식당을 찾습니다.", "name", "노을집"),
        ("별빛상회에서 파는 과자를 먹습니다.", "name", "별빛상회"),
    ],
)
def test_what_the_video_does_not_say(context: str, kind: str, text: str) -> None:
    assert found(context) == [(kind, text)]


def test_each_thing_once() -> None:
    assert found("1300그릇, 또 1300그릇을 Tzion과 Tzion이 먹습니다.") == [("number", "1300"), ("latin", "Tzion")]


def test_years_said_short() -> None:
    known = {"transcript": "19년 가을에 처음 왔어요", "title": ""}
    assert doubts("2019년에 처음 왔다고 말합니다.", **known) == ()
    assert doubts("2018년에 처음 왔다고 말합니다.", **known) == (Doubt("number", "2018"),)


def test_an_echo_of_the_window() -> None:
    window = "고양이 세 마리가 있어요 이거 진짜 새콤하고 짭짤해요 K8 타고 두 시간 걸렸어요"
    echo = "고양이 세 마리가 있어요 이거 진짜 새콤하고 짭짤해요."
    situated = "다온이 국수집의 고양이를 보고 청귤 간장 소스의 새콤한 맛을 칭찬하는 장면입니다."
    assert found(echo, window=window) == [("echo", echo)]
    assert found(situated, window=window) == []


def test_the_same_context_twice() -> None:
    before = "다온이 물결시장의 국수집에서 청귤 간장 소스를 맛보며 새콤하다고 말하는 장면입니다."
    almost = before.replace("말하는", "하는")
    assert found(almost, previous=before) == [("repeat", almost)]
    assert found("다온이 국수집에서 고양이를 만나는 장면입니다.", previous=before) == []


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=20))
def test_anything_can_be_doubted(context: str, transcript: str, title: str) -> None:
    first = doubts(context, transcript=transcript, title=title, window=transcript, previous=title)
    assert first == doubts(context, transcript=transcript, title=title, window=transcript, previous=title)
    own = doubts(context, transcript=context, title=title)
    assert not {doubt.kind for doubt in own} - {"number"}, "what a text says is known from that text"


@pytest.mark.campaign(part="flows")
def test_rate_of_false_alarms_on_hand_written_contexts(real_data: Path) -> None:
    """Good contexts of real videos: numbers and names are doubted rarely; Latin names that captions write in Hangul
    (장고 for Django) are what remains."""
    videos = {
        nfc(path.name): path for folder in ("fashion_asr", "pyconkr_2019") for path in (real_data / folder).iterdir()
    }
    entries = [
        json.loads(line) for line in (real_data / "scene_bench" / "contexts.jsonl").read_text("utf-8").splitlines()
    ]
    doubted: dict[str, int] = {}

    @cache
    def title_and_text(path: Path) -> tuple[str, str]:
        (group,) = files.discover([path], languages=("ko", "und"))
        assert isinstance(group, files.CaptionGroup)
        track = files.read(group.candidates[0])
        text = " ".join(cue.text for cue in parse.parse_captions(track.raw, track.format))
        return f"{group.video.title} 시드웨어 파이콘 한국 2019", text

    for entry in entries:
        title, text = title_and_text(videos[nfc(entry["video"])])
        for kind in {doubt.kind for doubt in doubts(entry["context"], transcript=text, title=title)}:
            doubted[kind] = doubted.get(kind, 0) + 1
    assert doubted.get("number", 0) <= 0.05 * len(entries)
    assert doubted.get("name", 0) <= 0.02 * len(entries)
    assert doubted.get("latin", 0) <= 0.25 * len(entries)


def test_inflated_numbers_are_caught_on_real_contexts(real_data: Path) -> None:
    lines = (real_data / "cleaning" / "dev.jsonl").read_text("utf-8").splitlines()
    texts = [entry["raw"] for entry in map(json.loads, lines) if re.search(r"[0-9]{2,}", entry["raw"])]
    for text in texts:
        inflated = re.sub(r"([0-9]{2,})", r"\g<1>0", text)
        kinds = {doubt.kind for doubt in doubts(inflated, transcript=text, title="")}
        assert "number" in kinds, text
