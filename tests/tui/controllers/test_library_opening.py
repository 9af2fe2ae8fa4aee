"""The opening of the library without an app."""

from dataclasses import replace

import pytest
from textual.message import Message

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers.library_opening import LibraryOpening
from subtitle_rag.tui.shared.messages import LibraryFailed, LibraryOpened, SearchReady
from subtitle_rag.workflows import sample_library
from tests.tui.fake_app import FakeApp


class Filled(Message):
    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self.runtime = runtime


@pytest.fixture
def app() -> FakeApp:
    return FakeApp()


@pytest.fixture
def opening(app: FakeApp, unindexed: Runtime) -> LibraryOpening:
    return LibraryOpening(app, unindexed)


def posted(app: FakeApp) -> list[type]:
    return [type(message) for message in app.posted]


def test_the_size_comes_before_the_search_is_ready(app: FakeApp, opening: LibraryOpening) -> None:
    opening.open()
    assert posted(app) == [LibraryOpened, SearchReady]
    opening.look_up()
    assert posted(app)[2:] == [LibraryOpened]


def test_the_sample_is_filled_before_its_size_is_posted(
    app: FakeApp, opening: LibraryOpening, unindexed: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    unindexed.settings = replace(unindexed.settings, is_sample=True)
    monkeypatch.setattr(sample_library, "fill", lambda runtime: app.posted.append(Filled(runtime)))
    opening.open()
    assert posted(app) == [Filled, LibraryOpened, SearchReady]


def test_an_index_that_fails_is_reported_after_the_size(
    app: FakeApp, opening: LibraryOpening, unindexed: Runtime
) -> None:
    def fail(_query: object) -> None:
        raise AppError("unexpected", reason="", log="")

    unindexed.__dict__["searcher"].answer = fail
    opening.open()
    assert posted(app) == [LibraryOpened, LibraryFailed]
