"""The commands on a row of the library, without a screen."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from subtitle_rag.base.domain.values import Video
from subtitle_rag.library.overview import ChannelState
from subtitle_rag.library.rows import VideoState
from subtitle_rag.tui.screens.library.row_actions import ROW_ACTIONS, RowActions
from subtitle_rag.tui.shared.jobs.removal import LibraryRow
from tests.tui.fake_app import FakeApp

if TYPE_CHECKING:
    from subtitle_rag.tui.controllers.context import AppContext

VIDEO = Video("video-00001", "국수", "UC1", "채널", url="https://www.youtube.com/watch?v=video-00001")
CHANNEL = ChannelState("UC1", "채널", "channel", "UC1", urls=("https://www.youtube.com/@a",), sources=(3,))


def video(failure: str | None = None) -> VideoState:
    return VideoState(VIDEO, 0, 0, False, failure, {}, None)


class Calls:
    """Controllers which note how they were called."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.busy = self.is_active = self.can_toggle = False

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, *arguments))


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def actions(calls: Calls) -> RowActions:
    context = SimpleNamespace(
        app=FakeApp(),
        jobs=calls,
        background=calls,
        playback=calls,
        removals=calls,
        toggle_background=lambda: calls.calls.append(("toggle",)),
    )
    return RowActions(cast("AppContext", context))


def can(actions: RowActions, row: LibraryRow) -> set[str]:
    return {action for action in ROW_ACTIONS if actions.can_run(action, row)}


def test_each_row_has_its_own_commands(actions: RowActions) -> None:
    assert can(actions, LibraryRow()) == set()
    assert can(actions, LibraryRow(video=video())) == {"open_video", "remove"}
    silent = {"listen", "open_video", "remove"}
    assert can(actions, LibraryRow(video=video("no_captions"))) == {*silent, "again"}
    assert can(actions, LibraryRow(video=video("film_no_captions"))) == silent, "YouTube has nothing of it"
    assert can(actions, LibraryRow(channel=CHANNEL)) == {"remove"}


def test_a_removal_names_its_target(actions: RowActions, calls: Calls) -> None:
    actions.run("remove", LibraryRow(channel=CHANNEL))
    ((name, target),) = calls.calls
    assert (name, target.name, target.channel_id, target.sources) == ("ask", "채널", "UC1", (3,))
