"""SubStation Alpha: events in any order of fields, without what only draws."""

import pytest

from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.domain import CaptionError, Cue
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
