"""Marks are written, read and announced, without an app."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.config import settings as config
from subtitle_rag.domain import Video
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers.marks import MarkController
from subtitle_rag.tui.messages import MarksChanged
from subtitle_rag.tui.state.marked_scenes import MarkedScenes
from tests.tui.conftest import scene
from tests.tui.fake_app import FakeApp


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(config.load(home=tmp_path, language="en")) as runtime:
        yield runtime


def handled(app: FakeApp, marks: MarkController) -> MarkedScenes:
    """The marks after the message of the last change."""
    message = app.posted[-1]
    assert isinstance(message, MarksChanged)
    marks.changed(message)
    return marks.scenes


def test_a_scene_of_a_shared_index_is_marked_by_its_own_words(runtime: Runtime) -> None:
    """Its video is not in this library."""
    app = FakeApp()
    marks = MarkController(app, runtime)
    one = scene(video=Video("shared-00001", "제목[b]", "UC1", "채널", url="https://youtu.be/shared-00001"))
    marks.add(one)
    found = handled(app, marks).mark_of(one)
    assert found
    assert (found.start_ms, found.end_ms, found.at_ms) == (60_000, 120_000, 61_000)
    assert found.line == "치킨 소스에 찍어 먹어요"
    assert app.toasts == ["Marked: 1:01 제목[b]. Ctrl+A again adds a note and a tag."]
    marks.edit(found, "메모", "맛")
    assert handled(app, marks).tag_of(one) == "맛"
    marks.remove(found)
    assert handled(app, marks).mark_of(one) is None
    assert app.toasts[1:] == ["Note and tag are saved.", "1 mark removed."]


def test_an_earlier_reading_that_comes_later_is_not_shown(runtime: Runtime) -> None:
    app = FakeApp()
    marks = MarkController(app, runtime)
    marks.read()
    marks.add(scene())
    earlier, later = app.posted
    for message in (later, earlier):
        assert isinstance(message, MarksChanged)
        marks.changed(message)
    assert marks.scenes.mark_of(scene())


def test_reading_announces_nothing(runtime: Runtime) -> None:
    app = FakeApp()
    marks = MarkController(app, runtime)
    marks.read()
    assert handled(app, marks).marks == ()
    assert app.toasts == []
