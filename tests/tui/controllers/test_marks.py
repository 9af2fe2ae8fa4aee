"""Marks are written, read and announced, without an app."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.values import Video
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers.marks import MarkController
from subtitle_rag.tui.shared.messages import MarksRead
from tests.tui.conftest import scene
from tests.tui.fake_app import FakeApp


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(config.load(home=tmp_path, language="en")) as runtime:
        yield runtime


class LateApp(FakeApp):
    """Reads at once, and gives the results when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[Callable[[], object]] = []

    def run_in_thread(self, work: Callable[[], Any], failed: object, **options: Any) -> None:
        self.results.append(partial(options["take"], work()))


def test_a_scene_of_a_shared_index_is_marked_by_its_own_words(runtime: Runtime) -> None:
    """Its video is not in this library."""
    app = FakeApp()
    marks = MarkController(app, runtime)
    one = scene(video=Video("shared-00001", "제목[b]", "UC1", "채널", url="https://youtu.be/shared-00001"))
    marks.add(one)
    found = marks.scenes.mark_of(one)
    assert found
    assert (found.start_ms, found.end_ms, found.at_ms) == (61_000, 120_000, 61_000)
    assert found.line == "치킨 소스에 찍어 먹어요"
    assert app.toasts == ["Marked: 1:01 제목[b]. Space again adds a note and a tag."]
    marks.edit(found, "메모", "맛")
    assert marks.scenes.tag_of(one) == "맛"
    marks.remove(found)
    assert marks.scenes.mark_of(one) is None
    assert app.toasts[1:] == ["Note and tag are saved.", "1 mark removed."]
    assert app.posted == [MarksRead()] * 3


def test_an_earlier_reading_that_comes_later_is_not_shown(runtime: Runtime) -> None:
    app = LateApp()
    marks = MarkController(app, runtime)
    marks.read()
    marks.add(scene())
    earlier, later = app.results
    later()
    earlier()
    assert marks.scenes.mark_of(scene())


def test_reading_announces_nothing(runtime: Runtime) -> None:
    app = FakeApp()
    marks = MarkController(app, runtime)
    marks.read()
    assert marks.scenes.marks == ()
    assert app.toasts == []
