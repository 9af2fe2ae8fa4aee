"""What no video's captions hold: it is read in linear time, cut, or refused in words."""

import json
from dataclasses import replace
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import MAX_MARKS, Cue, nfc
from subtitle_rag.captions import cue_blocks, json3 as json3_format
from subtitle_rag.captions.formats import FORMATS
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import MAX_CHARS, cut_windows
from tests.support.cases import cases
from tests.support.reading import HEAD, ONE


def json3(*segs: dict[str, Any], **event: Any) -> bytes:
    return json.dumps({"events": [{"tStartMs": 0, "dDurationMs": 9_000, "segs": list(segs), **event}]}).encode()


def refusal(raw: bytes, format: str) -> CaptionError:
    with pytest.raises(CaptionError) as caught:
        parse_captions(raw, format, path="a")
    return caught.value


@pytest.mark.parametrize("digits", [308, 309, 4_300])
@pytest.mark.parametrize("name", ["tStartMs", "dDurationMs"])
def test_a_number_of_any_length_is_a_time(name: str, digits: int) -> None:
    raw = json3({"utf8": "가"}, **{name: 4_321}).replace(b"4321", b"9" * digits)
    assert [cue.text for cue in parse_captions(raw, "json3")] == ["가"]


def test_runs_of_combining_marks_are_cut_before_they_are_sorted() -> None:
    run = "\u0316\u0301" * MAX_MARKS
    assert len(nfc("가" + run + "나" + run)) == 2 * (1 + MAX_MARKS)
    assert nfc("e\u0301" + "\u2026" * 100) == "é" + "\u2026" * 100, "only marks are cut"
    assert nfc("\u1112\u1161\u11ab" * 100) == "한" * 100
    [cue] = parse_captions(f"{HEAD}{ONE}가{run * 100}\n".encode(), "vtt")
    assert len(cue.text) == 1 + MAX_MARKS


def test_every_combining_mark_counts() -> None:
    import sys
    import unicodedata

    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]
    assert [mark for mark in marks if len(nfc("a" + mark * 100)) > 2 * (1 + MAX_MARKS)] == []


def test_glued_pieces_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def counted(text: str) -> str:
        lengths.append(len(text))
        return nfc(text)

    monkeypatch.setattr(cue_blocks, "nfc", counted)
    [cue] = parse_captions(json3(*[{"utf8": "가", "tOffsetMs": 1}] * 500), "json3")
    assert cue.text == "가" * 500
    assert [length for length in lengths if length in range(2, 501)] == [500]


def test_pieces_after_a_glued_word_begin_their_own() -> None:
    pieces = [{"utf8": text, "tOffsetMs": at} for at, text in enumerate(["가", "나", "다 라", "마", " 바"])]
    [cue] = parse_captions(json3(*pieces), "json3")
    assert (cue.text, cue.word_starts) == ("가나다 라마 바", (0, 2, 4))


def test_a_long_word_is_cut_at_the_limit_of_a_window() -> None:
    made = cut_windows("a", [Cue(0, 60_000, "앞 " + "가" * 5_500 + " 뒤")])
    assert max(len(window.text) for window in made) <= MAX_CHARS + 1
    assert "".join(window.text for window in made).replace(" ", "") == "앞" + "가" * 5_500 + "뒤"
    timed = cut_windows("a", [Cue(0, 60_000, "앞 " + "가" * 5_500 + " 뒤", (0, 1_000, 50_000))])
    assert next(window.text[:1] for window in timed) == "앞"
    assert "".join(window.text for window in timed).replace(" ", "") == "앞" + "가" * 5_500 + "뒤"


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (
        (cue_blocks, "MAX_CUES"),
        (cue_blocks, "MAX_CHARACTERS"),
        (json3_format, "MAX_CUES"),
        (json3_format, "MAX_CHARACTERS"),
        (json3_format, "MAX_OBJECTS"),
        (json3_format, "MAX_VALUES"),
    ):
        monkeypatch.setattr(module, name, 50)
    monkeypatch.setattr(cue_blocks, "MAX_RAW_LINE", 100)


CUE = "00:00:01.000 --> 00:00:02.000\n"


@cases(
    ("raw", "format", "word"),
    [
        (HEAD + f"{CUE}가\n\n" * 51, "vtt", "cues"),
        (f"{CUE}가\n\n" * 51, "srt", "cues"),
        ("0:00:01.0,0:00:02.0\n가\n\n" * 51, "sbv", "cues"),
        (f"{CUE}{'가 ' * 30}\n", "srt", "characters"),
        (f"{CUE}{'가' * 51}\n", "srt", "characters"),
        (f"{CUE}{'가' * 26}\n\n{CUE}{'나' * 26}\n", "srt", "characters"),
        (f"{CUE}{'<i>' * 40}가\n", "srt", "characters"),
        (json3({"utf8": "가" * 51}).decode(), "json3", "characters"),
        ('{"events":[' + "{}," * 49 + '{"tStartMs":1}]}', "json3", "values"),
        ('{"events":[' + "1," * 52 + '{"tStartMs":1}]}', "json3", "values"),
    ],
)
@pytest.mark.usefixtures("bounds")
def test_more_than_a_video_holds_is_refused_in_words(raw: str, format: str, word: str) -> None:
    error = refusal(raw.encode(), format)
    assert error.code == "too_large"
    assert word in error.details["reason"]


@pytest.mark.usefixtures("bounds")
def test_as_much_as_a_video_may_hold_is_taken() -> None:
    cues = "".join(f"00:{at:02d}.000 --> 00:{at:02d}.900\n{at}\n\n" for at in range(25))
    assert len(parse_captions((HEAD + cues).encode(), "vtt")) == 25


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_above_the_limit_of_its_format_is_refused_unread(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    monkeypatch.setitem(FORMATS, format, replace(FORMATS[format], limit_mb=1))
    assert refusal(b"\n" * (2**20 + 1), format).code == "too_large"
    assert refusal(b"\n" * 2**20, format).code == "not_captions"


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("<SAMI>" + "<SYNC " * 50_000, "smi"),
        ("<SYNC Start=1><P>" + "<!--" * 50_000, "smi"),
        ("Dialogue: 0,0:00:01.00,0:00:02.00,,,0,0,0,," + "{" * 200_000, "ass"),
        ("<tt>" + "<div>" * 50_000, "ttml"),
        ("[00:01.00]" * 40_000 + "가", "lrc"),
        ("0:01 가\n0:02 나\n" + " " * 200_000 + "x", "txt"),
        ("{1}{1}25\n" + "{" * 200_000, "sub"),
        ("00" + " " * 200_000 + ":", "srt"),
    ],
)
def test_nested_and_unclosed_markup_is_read_or_refused(text: str, format: str) -> None:
    try:
        found = parse_captions(text.encode(), format, path="a")
    except CaptionError:
        found = []
    assert len(found) <= 2
