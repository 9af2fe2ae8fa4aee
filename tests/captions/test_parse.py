"""Caption files to cues: formats, markup, encodings, and every kind of damage that a file arrives with."""

import time

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.captions.caption_text import plain_text
from subtitle_rag.captions.formats import FORMATS
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.text_encoding import decode
from tests.support.cases import cases
from tests.support.reading import HEAD, ONE, TWO, cues, spans, texts

# --- text ---


@cases(
    ("raw", "text"),
    [
        ("<i>바다</i>가 보여요", "바다가 보여요"),
        ("<v 진행자>어서 오세요", "어서 오세요"),
        ("<c.colorE5E5E5>노을</c>", "노을"),
        ('<font color="#fff">색</font> <b>굵게</b>', "색 굵게"),
        ("{\\an8}위에 뜬 말", "위에 뜬 말"),
        ("앞[br]뒤<br/>끝\\N줄", "앞 뒤 끝 줄"),
        ("국&amp;밥&nbsp;&gt;&gt; 네", "국&밥 >> 네"),
        ("국&amp;amp;밥 &amp;gt;&amp;gt; 네 &amp;lt;i&amp;gt;", "국&밥 >> 네"),
        ("&#44032;&#x AT&T R&B &copy", "가&#x AT&T R&B &copy"),
        ("zero\u200bwidth \u202ebidi\u202c \ufeffbom\u00ad", "zerowidth bidi bom"),
        ("채움\u3164문자\x07벨\tx", "채움 문자벨 x"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("<ruby>大學<rt>대학</rt></ruby>에서", "大學(대학)에서"),
        ("<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>で", "東京(とうきょう)で"),
        ("<ruby>北京<rp>(</rp><rt>베이징</rt><rp>)</rp></ruby>에", "北京(베이징)에"),
        ("<ruby>大學<rt>대학", "大學(대학)"),
        ("[음악]", "[음악]"),
        (">> [박수] 감사합니다", ">> [박수] 감사합니다"),
        ("3 < 5 그리고 7 > 2", "3 < 5 그리고 7 > 2"),
        ("List<String> 타입", "List<String> 타입"),
        ("A --> B 로 갑니다", "A --> B 로 갑니다"),
    ],
)
def test_markup_entities_and_invisible_characters(raw: str, text: str) -> None:
    assert texts(f"{HEAD}{ONE}{raw}\n\n{TWO}끝\n") == [text, "끝"]
    assert texts(f"1\n00:00:01,000 --> 00:00:02,000\n{raw}\n", "srt") == [text]


def test_plain_text_is_one_line_without_controls() -> None:
    assert plain_text(" 제\u202e목\n\t둘\x00 ") == "제목 둘"


@given(st.text())
def test_plain_text_always_fits_a_record(text: str) -> None:
    clean = plain_text(text)
    clean.encode()
    assert clean == plain_text(clean)
    assert "\n" not in clean


# --- encodings ---

KOREAN = f"{HEAD}{ONE}저는 가게 대문 앞에서 기다렸어요\n\n{TWO}그래서 못 봤죠\n"


@cases(
    "raw",
    [
        b"\xef\xbb\xbf" + KOREAN.encode("utf-8-sig"),
        b"\xfe\xff" + KOREAN.encode("utf-16-be"),
        KOREAN.encode("cp949"),
        KOREAN.replace("\n", "\r\n").encode(),
        KOREAN.replace("\n", "\r\r\n").encode(),
        KOREAN.replace("\n", "\r").encode(),
        KOREAN.encode() + b"\0" * 50,
    ],
)
def test_encodings_and_line_ends(raw: bytes) -> None:
    assert texts(raw) == ["저는 가게 대문 앞에서 기다렸어요", "그래서 못 봤죠"]


@given(st.integers(0, 400))
def test_a_file_cut_anywhere_stays_utf8(length: int) -> None:
    assert KOREAN.startswith(decode(KOREAN.encode()[:length]).text)


def test_bad_bytes_in_the_middle_do_not_change_the_encoding() -> None:
    raw = KOREAN.encode().replace("대문".encode(), "대\N{REPLACEMENT CHARACTER}문".encode()[:-4] + b"\xff\xfe")
    assert texts(raw)[1] == "그래서 못 봤죠"
    assert texts(raw)[0].startswith("저는 가게 대")


@given(st.binary(max_size=300), st.sampled_from(sorted(FORMATS)))
def test_no_bytes_raise_anything_but_a_caption_error(raw: bytes, format: str) -> None:
    for content in (raw, KOREAN.encode()[:60] + raw, HEAD.encode() + ONE.encode() + raw):
        try:
            found = parse_captions(content, format, path="a")
        except CaptionError as error:
            failure = error
        else:
            assert found
            assert all(cue.text.split() and 0 <= cue.start_ms <= cue.end_ms for cue in found)
            continue
        assert failure.code in {"not_captions", "no_cues", "unknown_encoding"}
        assert failure.details["path"] == "a"


# --- damaged but usable ---


@cases(
    "vtt",
    [
        f"{ONE}하나\n\n{TWO}둘\n",
        f"{HEAD}{ONE}하나\n{TWO}둘\n",
        f"WEBVTT\n{ONE}하나\n\n{TWO}둘",
        f"{HEAD}1\n{ONE}하나\n2\n{TWO}둘\n",
        f"{HEAD}intro\n{ONE}하나\n\nthe end\n{TWO}둘\n",
        f"{HEAD}{ONE}\n하나\n\n{TWO}\n\n둘\n",
        HEAD + f"{ONE}하나\n\n{TWO}둘\n".replace("00:00:", "00:"),
        HEAD + f"{ONE}하나\n\n{TWO}둘\n".replace(".", ","),
        f"{HEAD}NOTE a comment\n00:01 is no cue\n\nSTYLE\n::cue {{ color: red }}\n\n{ONE}하나\n\nNOTE\n\n{TWO}둘\n",
        f"{HEAD}REGION\nid:a\nlines:2\n\n{ONE}하나\n\nSTYLE\n::cue {{ color: red }}\n\n{TWO}둘\n",
        f"WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000\n\n{ONE}하나\n\n{TWO}둘\n",
        f"{HEAD}{ONE}하나\n\nWEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000\n\n{TWO}둘\n",
        f"{HEAD}{ONE}하나\n\n<html><p>502\n-->\njunk 00:1\n\n{TWO}둘\n",
        f"{HEAD}{ONE}하나\n\n00:00:02.x --> 00:00:02.500\n\n{TWO}둘\n",
        f"{HEAD}{TWO}둘\n\n{ONE}하나\n",
        f"{HEAD}{ONE}하나\n\n{TWO}둘\n\n00:00:05.000 --> 00:0",
        f"{HEAD}{ONE}하나\n\n{TWO}둘\n\n00:00:05.000 -->",
        f"{HEAD}{ONE}하나\n\n{TWO}둘<00:00:0",
        f"{HEAD}{ONE}하나\n\n{TWO}둘</",
    ],
)
def test_damaged_vtt_is_recovered(vtt: str) -> None:
    assert [(cue.start_ms, cue.text) for cue in cues(vtt)] == [(1000, "하나"), (3000, "둘")]


@pytest.mark.parametrize(
    "srt",
    [
        "1\n00:00:01,000 --> 00:00:02,000\n하나\n\n2\n00:00:03,000 --> 00:00:04,000\n둘\n둘째\n",
        "00:00:01,000 --> 00:00:02,000\n하나\n\n00:00:03,000 --> 00:00:04,000\n둘\n둘째\n",
        "x\n00:00:01.000 --> 00:00:02.000\n하나\n\n-?\n00:00:03.000 --> 00:00:04.000\n둘\n둘째\n",
        "7\n0:0:1,0 -> 0:0:2,000\n하나\n7\n00:00:03,000-->00:00:04,000 X1:10\n둘\n\n둘째\n\n\n",
        "1\n00:00:01 --> 00:00:02\n<i>하나</i>\n\n2\n00:00:03,0004 --> 00:00:04,000\n둘<br>둘째",
        "1\n00:00:01:000 --> 00:00:02:000\n하나\n   \n2\n00:00:03:000 --> 00:00:04:000\n둘\n둘째\n",
    ],
)
def test_srt_with_bad_indexes_separators_and_blank_lines(srt: str) -> None:
    assert [(cue.start_ms, cue.text) for cue in cues(srt, "srt")] == [(1000, "하나"), (3000, "둘 둘째")]
    assert texts(srt, "sbv") == ["하나", "둘 둘째"]


def test_sbv() -> None:
    sbv = "0:00:01.000,0:00:02.500\n>> 어서 오세요[br]여기로\n\n1:00:03.000,1:00:04.000\n10:30, 11:00 두 번\n"
    assert spans(sbv, "sbv") == [(1000, 2500, ">> 어서 오세요 여기로"), (3603000, 3604000, "10:30, 11:00 두 번")]


def test_odd_times() -> None:
    srt = (
        "-00:00:05,000 --> -00:00:01,000\n전\n\n00:00:09,000 --> 00:00:01,000\n거꾸로\n\n"
        "00:00:10,000 --> 00:00:10,000\n찰나\n\n100:00:00,000 --> 101:00:00,000\n나흘\n\n"
        "9999999999:00:00,000 --> 99999999999999:00:00,000\n영원\n"
    )
    found = spans(srt, "srt")
    assert found[:4] == [
        (0, 0, "전"),
        (9000, 9000, "거꾸로"),
        (10000, 10000, "찰나"),
        (360_000_000, 363_600_000, "나흘"),
    ]
    assert found[4][2] == "영원"
    assert 2**31 < found[4][0] <= found[4][1] < 2**53


def test_a_fraction_counts_as_tenths_hundredths_and_thousandths_of_a_second() -> None:
    srt = "00:00:01,5 --> 00:00:02,25\n하나\n\n00:00:03,125 --> 00:00:04,0625\n둘\n"
    assert spans(srt, "srt") == [(1500, 2250, "하나"), (3125, 4062, "둘")]


def test_manual_cues_may_overlap_and_keep_the_order_of_their_starts() -> None:
    vtt = f"{HEAD}00:02.000 --> 00:09.000\n나\n\n00:01.000 --> 00:05.000\n가\n\n00:02.000 --> 00:03.000\n다\n"
    assert spans(vtt) == [(1000, 5000, "가"), (2000, 9000, "나"), (2000, 3000, "다")]


# --- no captions ---


@cases(
    ("raw", "reason"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \r\n", "the file is empty"),
        (b"\n<!DOCTYPE html><html><body>00:00:01.000 --> 00:00:02.000</body></html>", "it is a web page"),
        (b'<?xml version="1.0"?><timedtext format="3"><body/></timedtext>', "no line in it has caption times"),
        (b'<tt xmlns="http://www.w3.org/ns/ttml"><body/></tt>', "no line in it has caption times"),
        (b'{"videoDetails": {"title": "x"}}', "its JSON has neither YouTube's events nor segments with times"),
        (b'{"events": [{"name": "click"}]}', "its JSON has neither YouTube's events nor segments with times"),
        (b'{"events": {}}', "its JSON has neither YouTube's events nor segments with times"),
        (b'[{"text": "hi", "start": 1}]', "its JSON has neither YouTube's events nor segments with times"),
        (b'{"wireMagic": "pb3", "events": [{"tSta', "its JSON is damaged or cut off"),
        (b'{"a":' * 100_000, "its JSON is damaged or cut off"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "it is a binary file"),
        (b"\0" * 5000, "it is a binary file"),
        (b"PK\x03\x04" + bytes(300), "it is a binary file"),
        ("그냥 글입니다.\n".encode(), "no line in it has caption times"),
    ],
)
@cases("format", ["vtt", "srt"])
def test_what_is_no_caption_file_says_why(raw: bytes, reason: str, format: str) -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions(raw, format, path="a.vtt")
    assert (caught.value.code, caught.value.details) == ("not_captions", {"path": "a.vtt", "reason": reason})
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("WEBVTT", "vtt"),
        ("WEBVTT\nKind: captions\n\nNOTE nothing\n", "vtt"),
        (f"{HEAD}{ONE} \n \n\n", "vtt"),
        ("1\n00:00:01,000 --> 00:00:02,000\n<i></i>\u200b\n", "srt"),
        ('{"wireMagic": "pb3", "events": []}', "json3"),
        ('{"events": [{"tStartMs": 0, "id": 1}]}', "json3"),
    ],
)
def test_a_caption_file_without_speech(content: str, format: str) -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions(content.encode(), format, path="a.vtt")
    assert (caught.value.code, caught.value.details) == ("no_cues", {"path": "a.vtt"})


# --- size ---


@pytest.mark.campaign(part="scale")
def test_twelve_hours_are_read_in_seconds() -> None:
    """A track as long as the longest video's, with more speech than a person can say, made in memory."""
    line = "시장 골목 안쪽 생선 가게에서 고등어를 고르고 있어요 그리고 옆집에서 무도 샀어요"
    stamps = [f"@:{i // 60:02d}:{i % 60:02d}" for i in range(3600)]
    hour = "".join(f"{stamp}.000 --> {stamp}.900\n{line}\n\n" for stamp in stamps)
    hours = 12
    raw = (HEAD + "".join(hour.replace("@", str(i)) for i in range(hours))).encode()
    assert len(raw) > 5_000_000
    began = time.process_time()
    assert len(parse_captions(raw, "vtt")) == hours * 3600
    assert time.process_time() - began < 60, "it takes 1 s; a slow machine may take a few times that"


@pytest.mark.parametrize(
    "piece", ["<c ", "&", "[", "<00:00:01.000>", "{\\", "가\n", " ", "0", "-->", "\n", "<v ", "_["]
)
def test_time_grows_with_size_only(piece: str) -> None:
    raw = (HEAD + ONE + piece * 100_000 + "\n\n" + TWO + piece * 100_000 + "\n끝").encode()
    began = time.process_time()
    for format in ("vtt", "srt"):
        parse_captions(raw, format)
    assert time.process_time() - began < 20, "a regular expression went quadratic"
