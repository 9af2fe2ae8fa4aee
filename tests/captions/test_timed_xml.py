"""TTML and YouTube's srv: times in every unit, one language of several, nothing from outside."""

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.parse import parse_captions
from tests.support.cases import cases
from tests.support.reading import cues, spans

SPANS = [(1000, 4000, "국수를 삶아요"), (5000, 8000, "물이 끓네요")]


def tt(body: str, attributes: str = "") -> str:
    return f'<?xml version="1.0"?>\n<tt xmlns="http://www.w3.org/ns/ttml" {attributes}><body>{body}</body></tt>'


@cases(
    "text",
    [
        tt(
            '<div><p begin="00:00:01.000" end="00:00:04">국수를<br/>삶아요</p>'
            '<p begin="5s" dur="3s">물이 끓네요</p></div>'
        ),
        tt('<div begin="1s"><p begin="0s" end="3s">국수를 삶아요</p><p begin="4s" end="7s">물이 끓네요</p></div>'),
        tt(
            '<p begin="10000000t" end="40000000t">국수를 <span>삶아요</span></p><p begin="0.5e">x</p>'
            '<p begin="50000000t" end="80000000t">물이 끓네요</p>',
            'ttp:tickRate="10000000"',
        ).replace('<p begin="0.5e">x</p>', ""),
        tt(
            '<p begin="00:00:01:00" end="100f">국수를 삶아요</p><p begin="125f" end="200f">물이 끓네요</p>',
            'ttp:frameRate="25"',
        ),
        tt('<p><span begin="1s" end="4s">국수를 삶아요</span><span begin="5s" end="8s">물이 끓네요</span></p>'),
        tt(
            '<div xml:lang="en"><p begin="1s" end="4s">Noodles boil in the pot</p></div>'
            '<div xml:lang="ko"><p begin="1s" end="4s">국수를 삶아요</p><p begin="5s" end="8s">물이 끓네요</p></div>'
        ),
        tt('<p begin="1s" end="4s">국수를&nbsp;삶아요</p><p begin="5s" end="8s">물이 끓네요</p><p begin="9s').split(
            "</body>"
        )[0],
        '<tt:tt xmlns:tt="http://www.w3.org/2006/10/ttaf1"><tt:body><tt:p begin="1000ms" end="4s">국수를 삶아요</tt:p>'
        '<tt:p begin="5" end="8">물이 끓네요</tt:p></tt:body></tt:tt>',
        '<transcript><text start="1" dur="3">국수를 삶아요</text>'
        '<text start="5.0" dur="3">물이 끓네요</text></transcript>',
        '<timedtext><text t="1000" d="3000">국수를 삶아요</text><text t="5000" d="3000">물이 끓네요</text></timedtext>',
        '<timedtext format="3"><head><ws id="0"/></head><body><w t="0" id="1"/><p t="1000" d="3000">국수를\n삶아요</p>'
        '<p t="4500" d="10" a="1">\n</p><p t="5000" d="3000">물이 끓네요</p></body></timedtext>',
    ],
)
@pytest.mark.parametrize("format", ["ttml", "srv"])
def test_lines_have_their_text_and_times(text: str, format: str) -> None:
    assert spans(text, format) == SPANS


def test_srv3_has_the_times_of_words() -> None:
    line = '<p t="1000" d="2000" w="1"><s>국수를</s><s t="400"> 삶아요</s></p>'
    text = f'<timedtext format="3"><body>{line}</body></timedtext>'
    assert cues(text, "srv") == [Cue(1000, 3000, "국수를 삶아요", (1000, 1400))]


def test_the_agent_of_a_paragraph_is_its_speaker() -> None:
    head = '<head><metadata><ttm:agent xml:id="a"><ttm:name>순이</ttm:name></ttm:agent></metadata></head>'
    text = tt('<p begin="1s" end="2s" ttm:agent="a">안녕</p>').replace("<body>", head + "<body>")
    assert [(cue.speaker, cue.text) for cue in cues(text, "ttml")] == [("순이", "안녕")]


BOMB = "<!DOCTYPE tt [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


@cases(
    ("text", "reason"),
    [
        (BOMB + '<tt><p begin="1s" end="2s">&b;</p></tt>', "entities"),
        ('<!DOCTYPE tt SYSTEM "http://127.0.0.1:9/x.dtd"><tt><body/></tt>', "times"),
        ('<tt><!DOCTYPE tt [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]></tt>', "damaged"),
        ('<tt><p begin="1s" end="2s">하나</p></body><p begin="3s">둘</p></tt>', "line 1"),
        ("<tt>" * 2_000, "damaged"),
    ],
)
def test_bombs_and_damage_are_refused(text: str, reason: str) -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions(text.encode(), "ttml", path="a")
    assert caught.value.code == "not_captions"
    assert reason in caught.value.details["reason"]


@cases(
    ("body", "expected"),
    [
        (
            '<span begin="0s" end="2s">국수를 삶아요</span><span begin="4s" end="6s">물이 끓네요</span>',
            [(1000, 3000, "국수를 삶아요"), (5000, 7000, "물이 끓네요")],
        ),
        (
            '<span begin="0s">국수를 삶아요</span><span begin="2s">물이 끓네요</span>',
            [(1000, 3000, "국수를 삶아요"), (3000, 9000, "물이 끓네요")],
        ),
        (
            '<span begin="0s" end="2s">하나</span><br/><span begin="2s" end="4s">둘</span>',
            [(1000, 3000, "하나"), (3000, 5000, "둘")],
        ),
        (
            '<span begin="0s" end="2s">국수를</span> <span begin="2s" end="4s">삶아요</span>',
            [(1000, 9000, "국수를 삶아요")],
        ),
        ('<span begin="0s" end="2s">국</span><span begin="2s" end="4s">수</span>', [(1000, 9000, "국수")]),
        (
            '<span begin="0s" end="2s">안녕하세요</span><span begin="2s">반갑습니다</span>',
            [(1000, 9000, "안녕하세요 반갑습니다")],
        ),
        ('<span begin="0s" end="2s">파이썬</span><span begin="2s">입니다</span>', [(1000, 9000, "파이썬입니다")]),
        ('<span begin="0s" end="2s">beau</span><span begin="2s">tiful</span>', [(1000, 9000, "beautiful")]),
        ('앞 <span begin="2s" end="4s">둘 셋</span> 뒤', [(1000, 9000, "앞 둘 셋 뒤")]),
    ],
)
def test_parts_with_times_are_lines_of_their_own_or_words(body: str, expected: list[tuple[int, int, str]]) -> None:
    assert spans(tt(f'<p begin="1s" end="9s">{body}</p>'), "ttml") == expected


def test_readings_stand_in_brackets_behind_their_characters() -> None:
    ruby = '<span tts:ruby="base">大學</span><span tts:ruby="text">대학</span>'
    text = tt(f'<p begin="1s" end="2s"><span tts:ruby="container">{ruby}</span>에서</p>', 'xmlns:tts="x"')
    assert spans(text, "ttml") == [(1000, 2000, "大學(대학)에서")]
