"""What the app sets for its whole process: how Textual draws, and what Python looks through for garbage."""

import gc
import os

import pytest

from subtitle_rag import tui
from tests.tui.conftest import MakeApp, running


@pytest.mark.parametrize("set_before", [{}, {"TEXTUAL_FPS": "30"}, {"TEXTUAL_DISABLE_KITTY_KEY": "0"}])
def test_it_is_set_before_textual_is_imported(monkeypatch: pytest.MonkeyPatch, set_before: dict[str, str]) -> None:
    monkeypatch.setattr(os, "environ", dict(set_before))
    tui.prepare_textual()
    assert os.environ == {"TEXTUAL_DISABLE_KITTY_KEY": "1", "TEXTUAL_FPS": str(tui.FRAMES), **set_before}


@pytest.mark.parametrize("is_own_process", [False, True])
async def test_what_is_loaded_is_no_garbage(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch, is_own_process: bool
) -> None:
    done: list[str] = []
    monkeypatch.setattr(gc, "freeze", lambda: done.append("freeze"))
    app = app_of()
    app.freezes_objects = is_own_process
    async with running(app, "치킨", size=(120, 40)):
        pass
    assert done == ["freeze"] * is_own_process
