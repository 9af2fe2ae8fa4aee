"""Scenes as text: what each format holds, and that no outside text becomes markup, a formula or a separator."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import webvtt
from hypothesis import example, given, strategies as st

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.values import Cue, Video
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.sharing.export_formats import export_format
from subtitle_rag.sharing.exported_scene import ExportedScene
from subtitle_rag.sharing.markdown import escape, standalone_markdown

VIDEO = Video("dQw4w9WgXcQ", "국수 편", "channel", "느린 부엌", "https://youtu.be/dQw4w9WgXcQ", date(2026, 5, 31))
CUES = (Cue(61_000, 63_500, "국수를 삶아요"), Cue(64_000, 66_000, "물이 끓어요"))
SCENE = ExportedScene(VIDEO, 60_000, 66_000, 64_000, CUES, "id-1", "국수를 삶는 장면이다.", "다시 보기", "요리")
FILE = Video("file-1", "파일", "channel", "느린 부엌", None)
HOSTILE = '=1+1\t<script>alert("x")</script>\n# [a](b) --> %%x%% {\\an8} `c` | $d$ www.evil.kr https://evil.kr @x'


@pytest.fixture(autouse=True)
def _english() -> None:
    i18n.activate("en")


def text(name: str, *scenes: ExportedScene, title: str = "국수") -> str:
    return export_format(name).write(scenes, title)


def hostile(words: str = HOSTILE) -> ExportedScene:
    video = Video("dQw4w9WgXcQ", words, "c", words, "https://youtu.be/dQw4w9WgXcQ")
    return ExportedScene(video, 0, 2000, 0, (Cue(0, 2000, words),), None, words, words, words, Path(f"/m/{words}.mp4"))


def test_markdown_links_each_line_to_its_second() -> None:
    assert text("md", SCENE) == (
        "# 국수\n\n## [국수 편](https://youtu.be/dQw4w9WgXcQ?t=64)\n\n느린 부엌 · 2026-05-31\n\n### 1:00–1:06\n\n"
        "> [1:01](https://youtu.be/dQw4w9WgXcQ?t=61) 국수를 삶아요  \n"
        "> [1:04](https://youtu.be/dQw4w9WgXcQ?t=64) 물이 끓어요\n\n"
        "**Context**: 국수를 삶는 장면이다.\n\n**Note**: 다시 보기\n\n#요리\n"
    )


def test_markdown_of_one_scene_names_its_video() -> None:
    assert standalone_markdown(SCENE).startswith("## [국수 편](https://youtu.be/dQw4w9WgXcQ?t=64)\n")


def test_the_title_of_the_only_video_is_one_heading() -> None:
    lines = text("md", SCENE, title=VIDEO.title).splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# [국수 편](https://youtu.be/dQw4w9WgXcQ?t=64)",
        "## 1:00–1:06",
        "#요리",
    ]


def test_the_lines_of_a_local_video_link_into_its_file() -> None:
    scene = ExportedScene(FILE, 60_000, 66_000, 64_000, CUES, media=Path("/영상/국수 (1).mp4"))
    assert "file:///%EC%98%81%EC%83%81/%EA%B5%AD%EC%88%98%20%281%29.mp4#t=64" in text("md", scene)


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("요리", "#요리"),
        ("매운 맛", "#매운-맛"),
        ("2024", "#2024_"),
        ("요리/국수", "#요리/국수"),
        ("🍜", None),
        ("#1위!", "#1위"),
    ],
)
def test_a_tag_is_one_that_obsidian_takes(tag: str, written: str | None) -> None:
    last = text("md", replace(SCENE, tag=tag)).splitlines()[-1]
    assert last == written if written else not last.startswith("#")


def test_a_change_of_speakers_is_written_as_it_is() -> None:
    assert "?t=0) >> 안녕" in text("md", replace(SCENE, cues=(Cue(0, 1000, ">> 안녕"),)))


@pytest.mark.parametrize("words", ["- 첫째", "+ 첫째", "1. 첫째", "12) 첫째", "# 제목", "> 인용", "---"])
def test_the_beginning_of_outside_text_is_no_block_of_markdown(words: str) -> None:
    assert re.match(r"\\[-+#>]|\d+\\", escape(words))


def test_outside_text_is_no_markup_of_markdown() -> None:
    line = escape(HOSTILE)
    assert "\n" not in line
    assert "<" not in line
    assert not re.search(r"(?<!\\)[\[\]`*_#|$%@:{}]", line)
    assert "www\\." in line


def test_csv_has_the_fields_of_json_as_columns() -> None:
    (row,) = csv.DictReader(io.StringIO(text("csv", SCENE)))
    (values,) = (json.loads(line) for line in text("jsonl", SCENE).splitlines())
    assert row["video.title"] == values["video"]["title"] == "국수 편"
    assert row["jump.at"] == str(values["jump"]["at"]) == "64.0"
    assert values["url"] == "https://youtu.be/dQw4w9WgXcQ?t=60"
    assert (values["rank"], values["context"], values["note"]) == (1, "국수를 삶는 장면이다.", "다시 보기")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "\r=", "＝", "－", "\n@", "'=", '"='])
def test_no_cell_is_a_formula(start: str) -> None:
    (row,) = csv.DictReader(io.StringIO(text("csv", hostile(f"{start}cmd|' /C calc'!A0")), newline=""))
    for name in ("video.title", "video.channel", "text", "context", "note", "tag"):
        assert row[name].startswith("'"), name


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_cues_are_read_back_as_they_were(name: str) -> None:
    again = text(name, SCENE, SCENE).encode()  # a cue of two scenes is written once
    assert [(cue.start_ms, cue.end_ms, cue.text) for cue in parse_captions(again, name)] == [
        (cue.start_ms, cue.end_ms, cue.text) for cue in CUES
    ]


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_a_line_without_length_is_shown_for_a_second(name: str) -> None:
    scene = ExportedScene(VIDEO, 0, 9_000, 0, (Cue(9_000, 9_000, "만두"),))
    (cue,) = parse_captions(text(name, scene).encode(), name)
    assert (cue.start_ms, cue.end_ms) == (9_000, 10_000)


def test_webvtt_escapes_outside_text() -> None:
    (caption,) = webvtt.from_string(text("vtt", hostile())).captions
    assert "&lt;script&gt;" in caption.raw_text
    assert "--&gt;" in caption.raw_text


def test_subrip_breaks_tags_commands_and_arrows() -> None:
    written = text("srt", hostile())
    assert written.count("-->") == 1
    assert not re.search(r"<[/\w]|\{\\", written)


@given(st.text(max_size=60))
@example(HOSTILE)
def test_outside_text_adds_no_row_to_any_table(words: str) -> None:
    scene = hostile(f"x{words}")
    assert len(list(csv.reader(io.StringIO(text("csv", scene), newline="")))) == 2
    assert text("jsonl", scene).count("\n") == 1


def test_plain_text_has_times_lines_and_the_link() -> None:
    assert text("txt", SCENE).splitlines()[2:] == [
        "국수 편 · 느린 부엌 · 2026-05-31",
        "    1:01  국수를 삶아요",
        "    1:04  물이 끓어요",
        "Context: 국수를 삶는 장면이다.",
        "Note: 다시 보기",
        "Tag: 요리",
        "https://youtu.be/dQw4w9WgXcQ?t=64",
    ]
