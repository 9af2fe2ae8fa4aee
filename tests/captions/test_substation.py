"""SubStation Alpha: events in any order of fields, without what only draws."""

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.parse import parse_captions
from tests.support.cases import cases
from tests.support.reading import cues, spans, texts

HEAD = "[Script Info]\nScriptType: v4.00+\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: 기본,굴림,큰,#F\n[Events]\n"
FIELDS = "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"


def event(text: str, name: str = "", kind: str = "Dialogue") -> str:
    return f"{kind}: 0,0:00:01.20,0:00:04.10,기본,{name},0,0,0,,{text}\n"


@cases(
    "lines",
    [
        FIELDS + event(r"{\an8\pos(1,2)}국수를\N삶고, 먹어요"),
        FIELDS + event(r"국수를\h삶고, {역자 주}먹어요") + event("주석", kind="Comment"),
        FIELDS + event("국수를 삶고, 먹어요") * 2 + event(r"{\p1}m 0 0 l 10 0{\p0}"),
        "Format: Start, End, Text\nDialogue: 0:00:01.20,0:00:04.10,국수를 삶고, 먹어요\nDialogue: x,y,깨짐\n",
        event("국수를 삶고, 먹어요").replace("Dialogue: 0", "dialogue: Marked=0"),
    ],
)
def test_what_is_shown_is_read_with_its_times(lines: str) -> None:
    assert spans(HEAD + lines, "ass") == [(1200, 4100, "국수를 삶고, 먹어요")]


def test_the_name_of_an_event_is_its_speaker() -> None:
    assert cues(HEAD + FIELDS + event(r"안녕\N하세요", "순이"), "ass") == [
        Cue(1200, 4100, "안녕 하세요", speaker="순이")
    ]


def test_karaoke_gives_words_their_times() -> None:
    line = event(r"{\k50}국{\k50}수를 {\kf100}삶고 {\k10}먹어요")
    assert cues(HEAD + FIELDS + line, "ass") == [Cue(1200, 4100, "국수를 삶고 먹어요", (1200, 2200, 3200))]


def test_text_that_only_looks_like_an_override_stays() -> None:
    assert texts(HEAD + FIELDS + event("가 <3 나 {끝"), "ass") == ["가 <3 나 {끝"]


def test_a_file_without_events_is_refused() -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions((HEAD + FIELDS).encode(), "ass", path="a")
    assert caught.value.code == "not_captions"


def clock(ms: int) -> str:
    return f"0:00:{ms // 1000:02d}.{ms % 1000 // 10:02d}"


def shown(start: int, end: int, text: str) -> str:
    return f"Dialogue: 0,{clock(start)},{clock(end)},기본,,0,0,0,,{text}\n"


def frames(count: int, *texts: str, length: int = 40) -> str:
    """Signs that are drawn frame by frame, at another place each time."""
    times = [(5000 + at * length, 5000 + (at + 1) * length) for at in range(count)]
    return "".join(shown(*time, rf"{{\\pos({time[0]},9)}}{text}") for time in times for text in texts)


@cases(
    ("lines", "expected"),
    [
        (frames(100, "동네 분식집"), [(5000, 9000, "동네 분식집")]),
        (frames(50, "동네 분식집", "영업중"), [(5000, 7000, "동네 분식집"), (5000, 7000, "영업중")]),
        (
            frames(50, "분식") + shown(5500, 6500, "어서 오세요"),
            [(5000, 7000, "분식"), (5500, 6500, "어서 오세요")],
        ),
        (frames(10, "분식") + shown(5400, 8000, "분식"), [(5000, 8000, "분식")]),
        (
            "".join(shown(5000 + at * 100, 5100 + at * 100, "동네 분식집"[: at + 1]) for at in range(6)),
            [(5000, 5600, "동네 분식집")],
        ),
        (
            frames(3, "네", length=400),
            [(5000, 5400, "네"), (5400, 5800, "네"), (5800, 6200, "네")],
        ),
        (
            frames(3, "하나") + shown(9000, 9040, "하나"),
            [(5000, 5120, "하나"), (9000, 9040, "하나")],
        ),
    ],
)
@pytest.mark.parametrize("sung", ["", shown(20_000, 21_000, r"{\k50}노래 {\k50}한다")])
def test_a_sign_that_is_drawn_frame_by_frame_is_one_cue(
    lines: str, expected: list[tuple[int, int, str]], sung: str
) -> None:
    found = spans(HEAD + FIELDS + lines + sung, "ass")
    assert found == expected + ([(20_000, 21_000, "노래 한다")] if sung else [])


def test_a_line_that_is_sung_changes_no_other() -> None:
    lines = shown(1000, 4000, r"{\k50}노래 {\k50}한다") + shown(2000, 6000, r"안녕\N하세요") + shown(3000, 5000, "네")
    assert spans(HEAD + FIELDS + lines, "ass") == [
        (1000, 4000, "노래 한다"),
        (2000, 6000, "안녕 하세요"),
        (3000, 5000, "네"),
    ]
