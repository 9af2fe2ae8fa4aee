"""Transcripts of speech recognition: Whisper's JSON and table, and their relatives."""

import json
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.events import FileNotice
from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.files import CaptionGroup, discover
from subtitle_rag.captions.parse import parse_captions
from tests.support.cases import cases
from tests.support.reading import cues, groups, put

SAID = [Cue(0, 2400, "국수를 삶아요"), Cue(2400, 5000, "물이 끓네요")]


def segment(start: object, end: object, text: str, **others: object) -> dict[str, object]:
    return {"id": 0, "start": start, "end": end, "text": text, **others}


TWO = [segment(0.0, 2.4, " 국수를 삶아요"), segment(2.4, 5.0, " 물이 끓네요")]


@cases(
    "data",
    [
        {"text": "국수", "segments": TWO, "language": "ko"},
        {"task": "transcribe", "language": "korean", "duration": 5.0, "text": "국수", "segments": TWO},
        {"segments": TWO, "word_segments": []},
        {"text": "국수", "chunks": [{"timestamp": [each["start"], each["end"]], "text": each["text"]} for each in TWO]},
        {
            "systeminfo": "x",
            "transcription": [
                {"timestamps": {}, "offsets": {"from": 0, "to": 2400}, "text": " 국수를 삶아요"},
                {"timestamps": {}, "offsets": {"from": 2400, "to": 5000}, "text": " 물이 끓네요"},
            ],
        },
        {"segments": [segment(0, 2400, "국수를 삶아요"), segment(2400, 5000, "물이 끓네요")]},
        {"segments": [segment("0.0", "2.4", "국수를 삶아요"), segment("2.4", "5.0", "물이 끓네요"), {"text": "x"}, 3]},
        TWO,
        [
            {"text": "국수를 삶아요", "start": 0.0, "duration": 2.4},
            {"text": "물이 끓네요", "start": 2.4, "duration": 2.6},
        ],
    ],
)
def test_segments_have_their_text_and_times(tmp_path: Path, data: object) -> None:
    text = json.dumps(data, ensure_ascii=False)
    assert cues(text, "json") == cues(text, "json3") == SAID
    put(tmp_path, "강의.json", text=text)
    assert len(groups(tmp_path)) == 1


def test_words_and_speakers_of_segments_are_kept() -> None:
    words = [{"word": "국수를", "start": 0.1, "end": 0.9}, {"word": "삶아요", "start": 1.0, "end": 2.0}]
    lost = [{"word": "물이"}, {"word": "끓네요", "start": 3.0}]
    data = {"segments": [{**TWO[0], "words": words, "speaker": "순이"}, {**TWO[1], "words": lost}]}
    assert cues(json.dumps(data), "json") == [
        Cue(0, 2400, "국수를 삶아요", (100, 1000), "순이"),
        Cue(2400, 5000, "물이 끓네요"),
    ]


@cases("times", [("0\t2400", "2400\t5000"), ("0.00\t2.40", "2.40\t5.00")])
def test_the_table_has_its_text_and_times(tmp_path: Path, times: tuple[str, str]) -> None:
    text = f"start\tend\ttext\n{times[0]}\t국수를 삶아요\n{times[1]}\t물이 끓네요\n"
    assert cues(text, "tsv") == SAID
    put(tmp_path, "강의.tsv", text=text)
    assert len(groups(tmp_path)) == 1


def test_in_a_folder_only_transcripts_are_taken(tmp_path: Path) -> None:
    long = {"text": "긴 말 " * 30_000, "segments": TWO}
    for name, text in {
        "긴 강의.json": json.dumps(long, ensure_ascii=False),
        "강의.info.json": json.dumps({"id": "x", "segments": TWO}),
        "강의.live_chat.json": json.dumps(TWO),
        "package.json": json.dumps({"name": "x", "files": []}),
        "ko.json": json.dumps({"text": "글"}),
        "말만.json": json.dumps({"text": "국수를 삶아요"}),
        "다른 인식.json": json.dumps({"results": {"transcripts": [{"transcript": "국수"}]}}),
        "목록.json": json.dumps([{"id": 1, "name": "x"}]),
        "표.tsv": "이름\t나이\n가\t3\n",
        "깨짐.json": "{",
    }.items():
        put(tmp_path, name, text=text)
    entries = list(discover([tmp_path]))
    assert [each.video.title for each in entries if isinstance(each, CaptionGroup)] == ["긴 강의"]
    assert [(each.code, each.details["counts"]) for each in entries if isinstance(each, FileNotice)] == [
        ("left_out_formats", {"json": 3})
    ]


@pytest.mark.parametrize(
    "data",
    [
        {"segments": []},
        {"segments": 3},
        {"segments": [{"start": float("nan"), "end": 1, "text": "x"}]},
        {"chunks": [[]]},
    ],
)
def test_a_json_without_segments_says_so(data: object) -> None:
    with pytest.raises(CaptionError) as caught:
        parse_captions(json.dumps(data).encode(), "json", path="a")
    assert caught.value.code == "not_captions"
    assert "segments with times" in caught.value.message


def test_a_segment_whose_end_is_null_keeps_its_text() -> None:
    raw = json.dumps({"segments": [{**TWO[0], "end": None}, TWO[1]]}).encode()
    assert [cue.text for cue in parse_captions(raw, "json")] == [cue.text for cue in SAID]
