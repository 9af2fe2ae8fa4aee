"""Contexts as the screens show them: apart from speech in the preview, and as a line of their own."""

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.widgets import Static

from subtitle_rag import i18n
from subtitle_rag.contexts.context_text import request_notes
from subtitle_rag.domain import (
    ContextEvent,
    ContextFailed,
    ContextReport,
    ContextsDue,
    ContextWritten,
    LlmError,
    ModelRequest,
    OverviewWritten,
)
from subtitle_rag.library.context_store import ContextCounts, Contexts
from subtitle_rag.tui.state.stage_progress import ContextProgress
from subtitle_rag.tui.text.stage_lines import context_brief, stage_progress_rows
from tests.support.invented import context
from tests.tui.conftest import (
    AppPilot,
    MakeApp,
    drawn_by,
    press,
    running,
    scene,
    settle,
    transcript_text,
    typed,
    writing,
)


class TestPreview:
    HOSTILE = "[red]국수[/] \x1b[31m삶는\x07 \u202e장면 [@click=app.quit]여기[/]\n둘째 줄"

    @pytest.mark.campaign(part="app")
    async def test_a_context_is_shown_literally_and_is_never_marked(self, app_of: MakeApp) -> None:
        app = app_of(scenes=[scene(context=self.HOSTILE, text="국수 삶는 법")])
        async with running(app, "국수", size=(120, 40)):
            said = app.search_screen.query_one("#written", Static).content
            assert str(said) == "Context  [red]국수[/] [31m삶는 장면 [@click=app.quit]여기[/] 둘째 줄"
            assert "[red]국수[/]" in drawn_by(app)
            assert {str(span.style) for span in said.spans} == {"bold $focus", "dim"}  # type: ignore[union-attr]
            assert "둘째 줄" not in transcript_text(app)

    async def test_a_context_that_is_left_out_is_named_with_its_reason(
        self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = scene(1), scene(2)
        doubted = replace(context(first.id, first.video.id, ""), doubts=(("name", "두레반[/]칼국수"),), tries=2)
        monkeypatch.setattr(Contexts, "left_out", lambda *_arguments: {first.id: doubted})
        async with running(app_of(scenes=[first, second]), "국수", size=(120, 40)) as (app, pilot):
            said = app.search_screen.query_one("#written", Static).content
            assert str(said) == "Context  Left out: it names what the video does not: 두레반[/]칼국수."
            assert app.search_screen.query_one("#context").display
            await press(pilot, "down")
            assert not app.search_screen.query_one("#context").display

    @pytest.mark.campaign(part="app")
    async def test_it_goes_with_the_scene_that_has_none(self, app_of: MakeApp) -> None:
        app = app_of(scenes=[scene(1, context="국수를 삶는다"), scene(2)])
        async with running(app, "국수", size=(120, 40)) as (_, pilot):
            assert app.search_screen.query_one("#context").display
            await press(pilot, "down")
            assert not app.search_screen.query_one("#context").display

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

    @pytest.mark.campaign(part="app")
    def test_picture(self, app_of: MakeApp, snap_compare: Any) -> None:
        async def search(pilot: AppPilot) -> None:
            await settle(pilot)
            await typed(pilot, "치킨")
            app.background.show(writing(taken=40, seconds=600.0))
            await settle(pilot)

        own = scene(
            title="바삭한 이야기",
            context="초벌로 튀긴 치킨을 매운 소스에 찍어 먹으며 앞에서 만든 두 가지 소스의 맛을 견주는 장면이다. "
            "진행자는 '느린 부엌'의 양념보다 덜 달다고 말한다.",
            overlap_before="그 앞의 장면에서 한 말",
        )
        app = app_of(scenes=[own, *(scene(number, title=f"{number}편") for number in range(2, 9))], show_times=False)
        assert snap_compare(app, terminal_size=(120, 40), run_before=search)


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
        row = stage_progress_rows(None, {"contexts": progress}, 118)["contexts"].plain
        assert "  reading 12,400 tokens · 1:12 of about 8:20 · 1.0 windows/s" in row
        answered = ContextWritten("v", "제목", "w", 0, "문맥", False, left_out=False, prompt_tokens=50, tokens=5, ms=9)
        assert context_brief(progress.after(answered, 172.5))[1] == "1.0 windows/s"

    @pytest.mark.parametrize("language", ["en", "ko"])
    def test_a_request_is_told_whole_in_80_columns(self, language: str) -> None:
        i18n.activate(language)
        for request in (
            ModelRequest("v", "제목", "reading", 12_400, 500),
            ModelRequest("v", "제목", "waiting", seconds=20, attempt=3),
        ):
            progress = writing(taken=40, seconds=39.0).after(request, 0.0).at(12.0)
            row = stage_progress_rows(None, {"contexts": progress}, 78)["contexts"].plain
            assert " · ".join(request_notes(request, 12.0)) in row
            assert cell_len(row) <= 78 or row.endswith(request_notes(request, 12.0)[-1]), "the row wraps"

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
            ({"windows": 0, "state": "failed", "error": LlmError("llm_not_running", host="x")}, ""),
        ],
    )
    def test_a_run_that_ended_or_failed_tells_what_it_lacks(self, changes: dict[str, Any], told: str) -> None:
        rows = stage_progress_rows(None, {"contexts": replace(writing(), **changes)}, 118)
        assert rows["contexts"].plain == told if told else not rows

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

    def test_a_new_prompt_tells_what_it_writes_anew_until_the_first_context(self) -> None:
        counts = ContextCounts(windows=100, written=100, empty=0, suspect=0, prompt_tokens=0, tokens=0, ms=0)
        due = ContextsDue(1, 100, by_other_prompts=90, seconds=720)
        progress = ContextProgress.of(counts, "ax").after(due, 0.0)
        assert (
            "new prompt: 90 contexts anew · about 12 min"
            in stage_progress_rows(None, {"contexts": progress}, 120)["contexts"].plain
        )
        answered = ContextWritten("v", "제목", "w", 0, "문맥", False, left_out=False, prompt_tokens=50, tokens=5, ms=9)
        assert (
            "new prompt"
            not in stage_progress_rows(None, {"contexts": progress.after(answered, 1.0)}, 120)["contexts"].plain
        )

    def test_an_overviews_sections_are_counted_and_part_of_the_time_left(self) -> None:
        counts = ContextCounts(windows=100, written=0, empty=0, suspect=0, prompt_tokens=0, tokens=0, ms=0)
        progress = ContextProgress.of(counts, "ax").after(ContextsDue(1, 100, 24), 0.0)
        for section in range(1, 8):
            written = OverviewWritten("v", "제목", section, 24, "시장에서 국수를 먹는다.", 3_500, 60, 9)
            progress = progress.after(written, 60.0 * section)
        assert progress.overview == (7, 24)
        assert context_brief(progress)[1:3] == ["overview 7/24", "overviews: about 17 min left"]
        row = stage_progress_rows(None, {"contexts": replace(progress, state="working")}, 120)["contexts"].plain
        assert "overview 7/24 · overviews: about 17 min left" in row
        answered = ContextWritten("v", "제목", "w", 0, "문맥", False, left_out=False, prompt_tokens=50, tokens=5, ms=9)
        for second in range(21):
            progress = progress.after(answered, 420.0 + second)
        assert progress.overview is None
        assert progress.remaining_s == 79 + 17 * 60
        assert "overview" not in " ".join(context_brief(progress))
