"""Contexts as the screens show them: as a line of their own, and never as a change of a scene."""

from dataclasses import replace
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.tui.screens.library.library_text import stage_notices
from subtitle_rag.tui.shared.progress.stage_lines import stage_parts
from tests.tui.conftest import (
    MakeApp,
    running,
    scene,
    writing,
)


class TestScenes:
    @pytest.mark.campaign(part="app")
    async def test_scenes_that_look_the_same_are_not_drawn_anew(self, app_of: MakeApp) -> None:
        plain = [scene(1), scene(2)]
        async with running(app_of(scenes=plain), "국수", size=(120, 40)) as (app, pilot):
            await pilot.press("down")
            screen = app.search_screen
            drawn = screen.scenes.rows[plain[1].id]
            screen.scenes.fill([replace(one, context="새 문맥") for one in plain], plain[1].id)
            assert screen.scenes.rows[plain[1].id] is drawn
            assert screen.scenes.cursor == 1
            assert screen.scenes.value
            assert screen.scenes.value.context == "새 문맥"


class TestLines:
    def test_failures_are_told_beside_the_counts(self) -> None:
        assert stage_parts(writing(failed=2)) == ["Contexts 6,310/9,412", "! 2 failed"]

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"state": "done"}, ""),
            ({"state": "done", "failed": 1}, "! 1 window got no context; Ctrl+T asks for it again"),
            ({"state": "failed", "progress": None, "error": LlmError("llm_not_running", host="x")}, ""),
            (
                {"state": "failed", "error": LlmError("llm_not_running", host="x[b]\x1b")},
                "! Ollama does not answer at x[b]·. Start it with ollama serve, or set hosts under [llm] in the "
                "config. Search works without it.  Ctrl+T tries again",
            ),
        ],
    )
    def test_a_run_that_ended_or_failed_tells_what_it_lacks(self, changes: dict[str, Any], told: str) -> None:
        assert stage_notices({"contexts": writing(**changes)}) == ([told] if told else [])
