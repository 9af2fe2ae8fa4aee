"""Spoken words and their times: rolling WebVTT and json3, from tests/support/rolling.py and from YouTube."""

import json
import os
import re
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import Cue, nfc
from subtitle_rag.captions import timed_text as module
from subtitle_rag.captions.parse import parse_captions
from tests.support.reading import HEAD, ONE, cues, spans, texts
from tests.support.rolling import to_json3, to_rolling_vtt

# --- rolling tracks ---

Line = list[tuple[int, str]]

# few words, so that lines and words repeat; characters that VTT escapes; what the recogniser writes besides words
WORD = st.sampled_from(
    ["네", "네", "오늘은", "고등어", ">>", "[음악]", "R&B", "3<5", "1>0", "&", "\u1112\u1161\u11ab글"]
) | st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=5)


@st.composite
def tracks(draw: st.DrawFn) -> tuple[list[Line], int]:
    """Spoken lines in time order, and the track's end."""
    clock = draw(st.integers(0, 5_000))
    lines: list[Line] = []
    for words in draw(st.lists(st.lists(WORD, min_size=1, max_size=5), min_size=1, max_size=12)):
        line: Line = []
        for word in words:
            line.append((clock, word))
            clock += draw(st.integers(1, 900))
        lines.append(line)
        clock += draw(st.integers(60, 9_000))
    return lines, clock


INDEXES = st.sets(st.integers(0, 12))


def expected(lines: Sequence[Line]) -> list[tuple[int, str, tuple[int, ...]]]:
    timed = any(len(line) > 1 for line in lines)
    return [
        (line[0][0], nfc(" ".join(word for _at, word in line)), tuple(at for at, _word in line) if timed else ())
        for line in lines
    ]


def spoken(found: Sequence[Cue]) -> list[tuple[int, str, tuple[int, ...]]]:
    return [(cue.start_ms, cue.text, cue.word_starts) for cue in found]


@given(tracks(), INDEXES, INDEXES)
def test_every_spoken_word_comes_out_once_with_its_own_start(
    track: tuple[list[Line], int], cleared: set[int], held: set[int]
) -> None:
    lines, end_ms = track
    found = cues(to_rolling_vtt(lines, end_ms=end_ms, cleared=cleared, held=held))
    assert spoken(found) == expected(lines)
    assert all(a.start_ms <= a.end_ms <= b.start_ms for a, b in zip(found, found[1:], strict=False))
    assert found[-1].end_ms <= end_ms


@given(tracks(), INDEXES)
def test_the_same_track_reads_alike_as_vtt_and_as_json3(track: tuple[list[Line], int], held: set[int]) -> None:
    lines, end_ms = track
    vtt = cues(to_rolling_vtt(lines, end_ms=end_ms, held=held))
    assert spoken(vtt) == spoken(cues(to_json3(lines, end_ms), "json3")) == expected(lines)


# without word times a handful of trimmed cues could as well be manual captions that repeat themselves
@given(tracks().filter(lambda track: any(len(line) > 1 for line in track[0])), INDEXES, INDEXES)
def test_trimmed_one_space_lines_lose_and_double_nothing(
    track: tuple[list[Line], int], cleared: set[int], held: set[int]
) -> None:
    lines, end_ms = track
    vtt = to_rolling_vtt(lines, end_ms=end_ms, cleared=cleared, held=held)
    assert spoken(cues(re.sub(r"(?m)^ $", "", vtt))) == expected(lines)


def test_an_event_that_appends_words_is_read() -> None:
    events = [
        {"tStartMs": 1000, "dDurationMs": 4000, "segs": [{"utf8": "국수를"}, {"utf8": " 삶고", "tOffsetMs": 500}]},
        {"tStartMs": 2000, "dDurationMs": 3000, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 2100, "dDurationMs": 2900, "aAppend": 1, "segs": [{"utf8": "먹어요"}]},
    ]
    assert [(cue.start_ms, cue.text) for cue in cues(json.dumps({"events": events}), "json3")] == [
        (1000, "국수를 삶고"),
        (2100, "먹어요"),
    ]


@given(tracks(), INDEXES, INDEXES)
def test_the_library_and_the_block_reader_agree(
    track: tuple[list[Line], int], cleared: set[int], held: set[int]
) -> None:
    lines, end_ms = track
    vtt = to_rolling_vtt(lines, end_ms=end_ms, cleared=cleared, held=held)
    by_library = cues(vtt)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LIBRARY_LIMIT", 0)
        assert cues(vtt) == by_library


def test_a_rolling_track_that_a_tool_turned_into_srt_is_unrolled_too() -> None:
    srt = """1
00:00:01,000 --> 00:00:02,990
시장에 왔는데요

2
00:00:02,990 --> 00:00:03,000
시장에 왔는데요

3
00:00:03,000 --> 00:00:04,990
시장에 왔는데요
생선이 좋네요

4
00:00:04,990 --> 00:00:05,000
생선이 좋네요

5
00:00:05,000 --> 00:00:07,000
생선이 좋네요
네
"""
    assert spans(srt, "srt") == [(1000, 2990, "시장에 왔는데요"), (3000, 4990, "생선이 좋네요"), (5000, 7000, "네")]


def test_a_line_said_twice_in_a_row_stays_twice() -> None:
    lines: list[Line] = [
        [(1000, "맛있다")],
        [(2000, "맛있다")],
        [(3000, "정말"), (3400, "맛있다")],
        [(5000, "정말"), (5300, "맛있다")],
    ]
    assert texts(to_rolling_vtt(lines, end_ms=6000)) == ["맛있다", "맛있다", "정말 맛있다", "정말 맛있다"]


def test_lines_that_arrive_together_are_told_apart() -> None:
    vtt = HEAD + (
        "00:00:01.000 --> 00:00:03.990\n육수를<00:00:01.500><c> 내고</c>\n면을<00:00:02.500><c> 삶아요</c>\n\n"
        "00:00:03.990 --> 00:00:04.000\n면을 삶아요\n \n\n"
        "00:00:04.000 --> 00:00:06.000\n면을 삶아요\n그리고<00:00:04.400><c> 고명</c>\n\n"
    )
    assert cues(vtt) == [
        Cue(1000, 1500, "육수를 내고", (1000, 1500)),
        Cue(1500, 3990, "면을 삶아요", (1500, 2500)),
        Cue(4000, 6000, "그리고 고명", (4000, 4400)),
    ]


def test_colours_and_times_without_spans_are_read() -> None:
    old = "<c.colorE5E5E5>파전이<00:00:01.300><c.colorCCCCCC> 익었</c><00:00:01.600>어요</c>"
    assert cues(f"{HEAD}{ONE} \n{old}\n") == [Cue(1000, 2000, "파전이 익었어요", (1000, 1300))]


def test_repeats_in_manual_captions_are_kept() -> None:
    vtt = HEAD + "".join(f"00:00:0{i}.000 --> 00:00:0{i + 1}.000\n네\n\n" for i in range(5))
    assert texts(vtt) == ["네"] * 5


def test_a_cue_written_twice_by_overlapping_segments_is_read_once() -> None:
    cue = f"{ONE} \n감자<00:00:01.300><c> 전</c>\n\n"
    assert texts(HEAD + cue + cue) == ["감자 전"]


# --- json3 ---


def event(start: object, *segs: object, **fields: object) -> dict[str, object]:
    return {"tStartMs": start, "dDurationMs": 3000, "segs": list(segs), **fields}


def json3(*events: object) -> str:
    return json.dumps({"wireMagic": "pb3", "events": events})


def test_a_manual_json3_track_has_no_word_times_and_ends_are_clamped() -> None:
    track = json3(event(0, {"utf8": "첫 줄\n둘째 줄"}), event(2000, {"utf8": "다음"}))
    assert cues(track, "json3") == [Cue(0, 2000, "첫 줄 둘째 줄"), Cue(2000, 5000, "다음")]


def test_words_that_share_a_segment_share_its_time() -> None:
    track = json3(
        event(1000, {"utf8": "가게 앞"}, {"utf8": " 바다 쪽", "tOffsetMs": 700}, {"utf8": "이에요", "tOffsetMs": 900})
    )
    assert cues(track, "json3") == [Cue(1000, 4000, "가게 앞 바다 쪽이에요", (1000, 1000, 1700, 1700))]


def test_strange_json3_fields_are_passed_over() -> None:
    track = json3(
        7,
        None,
        {"tStartMs": 0, "segs": "no list"},
        event(500, {"utf8": None}, {"utf8": 3}, "text", {}),
        event("soon", {"utf8": "처음"}),
        event(1e400, {"utf8": "끝"}),
        event(-50, {"utf8": "앞", "tOffsetMs": [1]}, dDurationMs=None),
        event(9000, {"utf8": "\ud83d 반쪽"}, dDurationMs=-5),
        event(2**70, {"utf8": "먼 날"}),
        event(100, {"utf8": "\n"}, aAppend=1),
    )
    found = cues(track, "json3")
    assert sorted(cue.text for cue in found) == ["끝", "먼 날", "반쪽", "앞", "처음"]
    assert all(0 <= cue.start_ms <= cue.end_ms < 2**53 for cue in found)


def test_json3_saved_under_a_text_suffix_is_read() -> None:
    assert texts(json3(event(0, {"utf8": "안녕"})), "vtt") == ["안녕"]


# --- real captions ---

DATA = Path(os.environ.get("SUBTITLE_RAG_DATA") or Path(__file__).parents[3] / "shared" / "data")


def real(folder: str, pattern: str) -> list[Path]:
    files = sorted((DATA / folder).glob(pattern))
    if not files:
        pytest.skip(f"no real data in {DATA / folder}; set SUBTITLE_RAG_DATA to measure with them")
    return files


CUE_TIMES = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{3}) --> (\d\d):(\d\d):(\d\d)\.(\d{3})")


def milliseconds(clock: Sequence[str]) -> int:
    hours, minutes, seconds, fraction = map(int, clock)
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction


def true_words(vtt: str) -> list[tuple[int, str]]:
    """What was said when, by the layout alone: of the cues longer than 10 ms, the bottom line is new."""
    words: list[tuple[int, str]] = []
    for block in vtt.split("\n\n")[1:]:
        lines = block.split("\n")
        times = CUE_TIMES.match(lines[0])
        if not times or len(lines) < 3:
            continue
        start, end = milliseconds(times.groups()[:4]), milliseconds(times.groups()[4:])
        if end - start <= 10:
            continue
        assert not re.search(r"<\d", lines[1]), "a newly spoken line above another"
        first, *others = re.split(r"<(\d\d:\d\d:\d\d\.\d{3})>", lines[2])
        spoken_at = [(start, first)] + [
            (milliseconds(re.split("[:.]", at)), text) for at, text in zip(others[::2], others[1::2], strict=True)
        ]
        for at, text in spoken_at:
            text = re.sub(r"</?c>", "", text).replace("&gt;", ">").replace("&amp;", "&")
            words += [(at, nfc(word)) for word in text.split()]
    return words


def test_real_rolling_tracks_lose_and_double_no_word() -> None:
    rows = []
    for path in [*real("fashion_asr", "*.vtt"), *real("oddities", "[lt]*.vtt")]:
        truth = true_words(path.read_text(encoding="utf-8"))
        found = [
            pair for cue in cues(path.read_bytes()) for pair in zip(cue.word_starts, cue.text.split(), strict=True)
        ]
        lost = Counter(word for _at, word in truth) - Counter(word for _at, word in found)
        errors = [abs(a - b) / 1000 for (a, _), (b, _) in zip(truth, found, strict=True)]
        rows.append(
            (path.name, len(truth), len(found) / len(truth), lost.total(), statistics.median(errors), max(errors))
        )
        assert found == truth
    for name, count, ratio, missing, median, worst in rows:  # shown by pytest -rP
        start_error = f"start error {median:.2f} s (max {worst:.2f})"
        sys.stdout.write(f"{count:6} words  out/true {ratio:.3f}  lost {missing}  {start_error}  {name}\n")


@pytest.mark.campaign(part="flows")
def test_real_rolling_tracks_read_alike_as_json3() -> None:
    for path in real("fashion_asr", "*.vtt"):
        from_vtt = cues(path.read_bytes())
        lines = [list(zip(cue.word_starts, cue.text.split(), strict=True)) for cue in from_vtt]
        assert spoken(cues(to_json3(lines, from_vtt[-1].end_ms), "json3")) == spoken(from_vtt)
        assert spoken(cues(to_rolling_vtt(lines, end_ms=from_vtt[-1].end_ms))) == spoken(from_vtt)


@pytest.mark.campaign(part="flows")
def test_real_talks_give_a_cue_for_each_line_with_times() -> None:
    total = 0
    for path in real("pyconkr_2019", "*.srt"):
        content = path.read_text(encoding="utf-8-sig")
        found = cues(path.read_bytes(), "srt")
        assert len(found) == content.count("-->")
        said = re.sub(r"(?m)^\d+\n.*-->.*$", "", content)
        assert " ".join(cue.text for cue in found).split() == nfc(said).split()
        total += len(found)
    assert total == 25_120


def test_real_oddities() -> None:
    found = {path.name: cues(path.read_bytes()) for path in real("oddities", "*.vtt")}
    assert {name: len(track) for name, track in found.items()} == {
        "lessons-millions-ai-code-reviews.en.vtt": 310,
        "tzudong_transcript.ko.vtt": 5,
        "video.ko.vtt": 341,
    }
    assert found["tzudong_transcript.ko.vtt"][0].end_ms == 24_800


def test_real_answers_of_youtube_are_no_captions() -> None:
    for path in real("youtube_responses", "*.json"):
        with pytest.raises(CaptionError) as caught:
            parse_captions(path.read_bytes(), "json3", path=path.name)
        assert caught.value.code == "not_captions"
