"""SAMI: one language of several, each line from its SYNC to the next."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.captions.files import CaptionGroup, discover, read
from subtitle_rag.captions.parse import parse_captions
from tests.support.cases import cases
from tests.support.reading import spans

HEAD = """<SAMI><HEAD><TITLE>골목</TITLE><STYLE TYPE="text/css"><!--
P {font-family:굴림;} .KRCC {Name:한국어; lang:ko-KR;} .ENCC {Name:English; lang:en-US;}
--></STYLE></HEAD><BODY>
"""
SPANS = [(1000, 4000, "국수를 삶아요"), (5000, 8000, "물이 끓네요")]


@cases(
    "body",
    [
        "<SYNC Start=1000><P Class=KRCC>국수를<br>삶아요\n<SYNC Start=4000><P Class=KRCC>&nbsp;\n"
        "<SYNC Start=5000><P Class=KRCC><font color=#ffff00>물이</font> 끓네요\n<SYNC Start=8000><P Class=KRCC>&nbsp;",
        "<SYNC Start='1000'><P Class=\"KRCC\">국수를<BR/>삶아요</P></SYNC>"
        '<SYNC Start="4000"><P Class=KRCC>&nbsp;</P></SYNC>'
        '<SYNC Start="5000" End="8000"><P Class="KRCC">물이 끓네요</P></SYNC>',
        "<SYNC Start=5000><P Class=KRCC>물이 끓네요<SYNC Start=8000><P Class=KRCC>&nbsp"
        "<SYNC Start=1000><P Class=KRCC>국수를 삶아요<SYNC Start=4000><P Class=KRCC>&nbsp;",
        "<sync start=1000><p class=krcc>국수를 삶아요<p class=encc>I boil noodles"
        "<sync start=2000><p class=encc>&nbsp;<sync start=4000><p class=krcc>&nbsp;"
        "<sync start=5000><p class=krcc>물이 끓네요<p class=encc>Water boils<sync start=8000><p class=krcc>&nbsp;",
        "<SYNC Start=1000>국수를 삶아요<SYNC Start=4000>&nbsp;<SYNC Start=5000>물이 끓네요<SYNC Start=8000>&nbsp;",
        "<SYNC Start=1000ms><P Class=KRCC>국수를<!-- 역자 --> 삶아요<SYNC Start=4000><P Class=KRCC>&nbsp;"
        "<SYNC Start=5000<P Class=KRCC>물이 끓네요<SYNC Start=8000><P Class=KRCC>&nbsp;",
    ],
)
def test_the_korean_lines_have_their_text_and_times(body: str) -> None:
    assert spans(HEAD + body + "</BODY></SAMI>", "smi") == SPANS


@cases(
    "body",
    [
        "<!-- <SYNC Start=0><P Class=KRCC>옛 번역 --><SYNC Start=1000><P Class=KRCC>국수를 삶아요"
        "<!-- <SYNC Start=2000><P Class=KRCC>지운 말 --><SYNC Start=4000><P Class=KRCC>&nbsp;",
        "<!--\n<SYNC Start=500><P Class=KRCC>가\n<SYNC Start=700><P Class=KRCC>나\n-->\n"
        "<SYNC Start=1000><P Class=KRCC>국수를 삶아요<SYNC Start=4000><P Class=KRCC>&nbsp;",
    ],
)
@pytest.mark.parametrize("head", [HEAD, HEAD.replace("-->", ""), ""])
def test_what_is_commented_out_is_not_said(head: str, body: str) -> None:
    assert spans(head + body, "smi") == [(1000, 4000, "국수를 삶아요")]


def test_the_language_of_the_track_is_read_else_the_longest() -> None:
    body = "<SYNC Start=0><P Class=A1>하나<P Class=B2>uno dos tres<SYNC Start=900><P Class=A1>&nbsp;<P Class=B2>&nbsp;"
    declared = "<STYLE>.A1 {lang: ja-JP} .B2 {lang:es}</STYLE>"
    assert [cue.text for cue in parse_captions((declared + body).encode(), "smi", language="ja")] == ["하나"]
    assert [cue.text for cue in parse_captions((declared + body).encode(), "smi", language="ko")] == ["uno dos tres"]


def test_readings_stand_in_brackets_behind_their_characters() -> None:
    body = "<SYNC Start=0><P Class=KRCC><RUBY>大學<RT>대학</RT></RUBY>에서<SYNC Start=900><P Class=KRCC>&nbsp;"
    assert spans(HEAD + body, "smi") == [(0, 900, "大學(대학)에서")]


def test_a_last_line_that_nothing_ends_is_not_shown_for_ever() -> None:
    assert spans("<SYNC Start=1000><P Class=KRCC>끝", "smi") == [(1000, 31_000, "끝")]


def test_a_paragraph_that_names_the_speaker_is_no_line() -> None:
    body = "<SYNC Start=0><P Class=KRCC ID=Source>순이<P Class=KRCC>안녕<SYNC Start=900><P Class=KRCC>&nbsp;"
    assert [(cue.speaker, cue.text) for cue in parse_captions(body.encode(), "smi")] == [("순이", "안녕")]


@pytest.mark.parametrize("text", ["<SAMI><BODY></BODY></SAMI>", "<SAMI>" + "<SYNC" * 1000, "<SAMI>" + "<!--" * 1000])
def test_a_file_without_lines_is_refused(text: str) -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions(text.encode(), "smi", path="a")
    assert caught.value.code in ("not_captions", "no_cues")


def test_a_file_in_several_languages_is_a_track_in_the_preferred_one(tmp_path: Path) -> None:
    body = "<SYNC Start=0><P Class=KRCC>안녕<P Class=ENCC>Hello<SYNC Start=900><P Class=KRCC>&nbsp;<P Class=ENCC>&nbsp;"
    (tmp_path / "영화.smi").write_bytes((HEAD + body).encode("cp949"))
    for languages, spoken in ((("ko",), "안녕"), (("en", "ko"), "Hello"), (("fr",), "안녕")):
        (group,) = discover([tmp_path], languages=languages)
        assert isinstance(group, CaptionGroup)
        track = read(group.candidates[0])
        assert [cue.text for cue in parse_captions(track.raw, "smi", language=track.language)] == [spoken]
