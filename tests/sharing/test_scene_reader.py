"""The scenes that formats get say what the windows of the library say."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.domain.values import Window
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import cut_windows
from subtitle_rag.library.store import Library
from subtitle_rag.sharing.exported_scene import ExportedScene
from subtitle_rag.sharing.scene_reader import read_scenes, span_at
from tests.support.invented import RULE, track, video


def stamp(second: int) -> str:
    return f"00:{second // 60:02}:{second % 60:02},000"


LONG = "1\n00:00:01,000 --> 00:10:00,000\n" + " ".join(f"낱말{at}" for at in range(900)) + "\n"
LAST = "1\n00:00:01,000 --> 00:00:05,000\n국수\n\n2\n00:00:09,000 --> 00:00:09,000\n만두\n"


OVERLAPPING = "".join(f"{at + 1}\n{stamp(2 * at)} --> {stamp(2 * at + 3)}\n줄{at}입니다.\n\n" for at in range(90))
"""Of several windows; each line goes on while the next one begins."""


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with closing(Library(tmp_path / "library.db")) as opened:
        yield opened


def put(library: Library, captions: str) -> list[Window]:
    raw = captions.encode()
    windows = cut_windows(video().id, parse_captions(raw, "srt"))
    library.put_video(video(), replace(track(raw), format="srt"), windows, RULE)
    return windows


@pytest.mark.parametrize(
    "captions",
    [LONG, LAST, OVERLAPPING],
    ids=["a line longer than a window", "a last line without length", "lines that go on"],
)
def test_a_scene_has_the_words_of_its_window(captions: str, library: Library) -> None:
    windows = put(library, captions)
    spans = [ExportedScene(video(), each.start_ms, each.end_ms, each.start_ms) for each in windows]
    assert [scene.text for scene in read_scenes(library, spans)] == [each.text for each in windows]
    (scene,) = read_scenes(library, [span_at(library, video(), windows[-1].start_ms)])
    assert scene.text == windows[-1].text


@pytest.mark.parametrize(
    ("start_ms", "end_ms", "texts"),
    [(2_000, 3_000, ["국수"]), (4_000, 9_500, ["국수", "만두"]), (5_000, 8_000, []), (1_000, 2_000, ["국수"])],
)
def test_a_range_has_what_is_on_the_screen_from_its_first_moment(
    start_ms: int, end_ms: int, texts: list[str], library: Library
) -> None:
    put(library, LAST)
    (scene,) = read_scenes(library, [ExportedScene(video(), start_ms, end_ms, start_ms)])
    assert [cue.text for cue in scene.cues] == texts
