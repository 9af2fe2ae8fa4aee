"""The commands on a scene, without a screen."""

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS
from subtitle_rag.tui.screens.base_screen import SceneActions
from tests.tui.conftest import scene

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.tui.controllers.context import AppContext

CALL = re.compile(r"(?:screen\.)?scene\('(\w+)'\)")
NAMES = sorted({match[1] for id in keymap.declarations() if (match := CALL.fullmatch(COMMANDS[id].action))})


class Playback:
    """Notes how it was called."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, *arguments))


@pytest.fixture
def playback() -> Playback:
    return Playback()


@pytest.fixture
def actions(playback: Playback) -> SceneActions:
    marks = SimpleNamespace(
        scenes=SimpleNamespace(mark_of=lambda _scene: None, marks=[]),
        add=lambda marked: playback.calls.append(("add", marked)),
    )
    context = SimpleNamespace(playback=playback, marks=marks)
    return SceneActions(cast("Screen[None]", None), cast("AppContext", context))


def test_keys_have_commands_on_scenes() -> None:
    assert set(NAMES) == {"choose_player", "copy_markdown", "mark", "copies"}


@pytest.mark.parametrize(
    "name", ["copy_link", "copy_quote", *(name for name in NAMES if name != "copies")]
)  # it asks which one
def test_each_command_of_a_key_acts_once_on_the_scene(name: str, actions: SceneActions, playback: Playback) -> None:
    chosen = scene()
    actions.run(name, chosen)
    [(method, argument, *_rest)] = playback.calls
    if name == "copy_quote":
        assert (method, chosen.text in argument, chosen.video.title in argument) == ("copy_text", True, True)
    else:
        assert argument is chosen


def test_another_name_is_a_fault_of_the_binding(actions: SceneActions) -> None:
    with pytest.raises(KeyError):
        actions.run("delete", scene())
