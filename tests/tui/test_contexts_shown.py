"""Contexts as the screens show them: as a line of their own, and never as a change of a scene."""

from dataclasses import replace
from typing import Any

import pytest

from subtitle_rag.domain.errors import LlmError
from subtitle_rag.domain.events import (
    ContextEvent,
    ContextFailed,
    ContextReport,
    ContextsDue,
    ContextWritten,
    ModelRequest,
    OverviewWritten,
)
from subtitle_rag.library.context_store import ContextCounts
from subtitle_rag.tui.state.stage_progress import ContextProgress
from subtitle_rag.tui.text.library_text import stage_notices
from subtitle_rag.tui.text.stage_lines import context_brief
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
    def test_rate_and_rest_are_told_once_they_can_be(self) -> None:
        assert context_brief(writing(taken=4, seconds=30.0)) == ["Contexts 6,314/9,412", "ax"]
        told = context_brief(writing(taken=40, seconds=1_115.0))
        assert told == ["Contexts 6,350/9,412", "2.1/min", "about 24 h 19 min left", "ax"]
        assert context_brief(writing(taken=40, seconds=39.0))[1:3] == ["1.0 windows/s", "about 51 min left"]
        assert "! 2 failed" in context_brief(replace(writing(taken=1, seconds=0.0), failed=2))

    def test_a_request_is_told_before_rate_and_model_until_an_event_ends_it(self) -> None:
        request = ModelRequest("v", "제목", "reading", 12_400, 500)
        progress = replace(writing(taken=40, seconds=39.0), began_at=132.5).after(request, 100.0).at(172.5)
        told = ["Contexts 6,350/9,412", "reading 12,400 tokens", "1:12 of about 8:20", "1.0 windows/s"]
        assert context_brief(progress)[:4] == told
        answered = ContextWritten("v", "제목", "w", 0, "문맥", False, left_out=False, prompt_tokens=50, tokens=5, ms=9)
        assert context_brief(progress.after(answered, 172.5))[1] == "1.0 windows/s"

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"state": "done"}, ""),
            ({"state": "done", "failed": 1}, "! 1 window got no context; Ctrl+T asks for it again"),
            ({"state": "failed", "missing": 0, "error": LlmError("llm_not_running", host="x")}, ""),
            (
                {"state": "failed", "has_contexts": True, "error": LlmError("llm_not_running", host="x[b]\x1b")},
                "! Ollama does not answer at x[b]·. Start it with ollama serve, or set hosts under [llm] in the "
                "config. Search works without it.  Ctrl+T tries again",
            ),
        ],
    )
    def test_a_run_that_ended_or_failed_tells_what_it_lacks(self, changes: dict[str, Any], told: str) -> None:
        assert stage_notices({"contexts": replace(writing(), **changes)}) == ([told] if told else [])

    def test_sums_follow_the_events(self) -> None:
        counts = ContextCounts(windows=10, written=3, empty=1, suspect=0, prompt_tokens=100, tokens=10, ms=1)
        progress = ContextProgress.of(counts, "ax")
        assert (progress.missing, progress.done) == (6, 4)
        answered = ContextWritten("v", "제목", "w", 0, "문맥", False, left_out=False, prompt_tokens=50, tokens=5, ms=9)
        blocked = LlmError("llm_out_of_memory", host="x", model="ax", reason="")
        events: list[ContextEvent] = [
            ContextsDue(2, 9),
            answered,
            replace(answered, text=""),
            ContextFailed("v", "제목", "llm_timeout", {}),
            ContextReport(blocked=blocked),
        ]
        for second, event in enumerate(events):
            progress = progress.after(event, float(second))
        assert (progress.done, progress.processed, progress.failed) == (3, 2, 1)
        assert (progress.prompt_tokens, progress.output_tokens, progress.seconds) == (200, 20, 1.0)
        assert progress.error is blocked

    def test_an_overviews_sections_are_counted_and_part_of_the_time_left(self) -> None:
        counts = ContextCounts(windows=100, written=0, empty=0, suspect=0, prompt_tokens=0, tokens=0, ms=0)
        progress = ContextProgress.of(counts, "ax").after(ContextsDue(1, 100, 24), 0.0)
        for section in range(1, 8):
            written = OverviewWritten("v", "제목", section, 24, "시장에서 국수를 먹는다.", 3_500, 60, 9)
            progress = progress.after(written, 60.0 * section)
        assert progress.overview == (7, 24)
        assert context_brief(progress)[1:3] == ["overview 7/24", "overviews: about 17 min left"]
        answered = ContextWritten("v", "제목", "w", 0, "문맥", False, left_out=False, prompt_tokens=50, tokens=5, ms=9)
        for second in range(21):
            progress = progress.after(answered, 420.0 + second)
        assert progress.overview is None
        assert progress.remaining_s == 79 + 17 * 60
        assert "overview" not in " ".join(context_brief(progress))
