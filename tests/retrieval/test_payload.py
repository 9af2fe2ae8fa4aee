"""Payloads of points, as this library writes them and as another program may have written them."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from subtitle_rag.retrieval.payload import read_payload, to_payload
from tests.support.invented import video, window

THEIRS = video("theirs00001", url="https://www.youtube.com/watch?v=theirs00001", published=date(2026, 5, 31))


def theirs(**changes: Any) -> dict[str, Any]:
    return {**to_payload(THEIRS, window(THEIRS.id, 3)), **changes}


def test_a_payload_holds_all_that_a_scene_needs() -> None:
    entry = read_payload("x", theirs(context="국수를 삶는 장면"))
    assert entry is not None
    assert entry.video == THEIRS
    assert entry.window == replace(window(THEIRS.id, 3), id="x")
    assert entry.context == "국수를 삶는 장면"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": None},
        {"text": ""},
        {"lines": []},
        {"lines": [[5, 0]]},
        {"lines": [[0, 0], [0, 5]]},
        {"lines": [[0, 0], [900, 5]]},
        {"lines": [[0, -1]]},
        {"lines": "no"},
        {"video": 7},
        {"start_ms": "0"},
        {"ordinal": True},
        {"published": "yesterday"},
    ],
    ids=str,
)
def test_what_is_not_as_it_should_be_is_left_out(changes: dict[str, Any]) -> None:
    assert read_payload("x", theirs()) is not None
    assert read_payload("x", theirs(**changes)) is None
    missing = {key: value for key, value in theirs().items() if key not in changes}
    assert read_payload("x", missing) is None


def test_others_write_nothing_that_a_terminal_obeys() -> None:
    text = "국수를\x1b[31m 먹었어요\n"
    entry = read_payload("x", theirs(text=text, title="\x1b]0;제목\x07", url="https://elsewhere.example/"))
    assert entry is not None
    assert (entry.window.text, len(entry.window.text)) == ("국수를 [31m 먹었어요 ", len(text))
    assert (entry.video.title, entry.video.url) == (" ]0;제목 ", THEIRS.url)
    no_youtube = read_payload("x", theirs(video="../../etc", url="https://www.youtube.com/"))
    assert no_youtube is not None
    assert no_youtube.video.url is None
