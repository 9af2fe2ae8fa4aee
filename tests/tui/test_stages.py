"""The four stages: bars that stand under each other, what is said beside them, and when a time can be told."""

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.reactive import var
from textual.widgets import Static

from subtitle_rag import i18n
from subtitle_rag.domain import AppError, BusyError, LlmError, Resting, VideoFailed
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.stage_progress import ContextProgress, Stages, VectorProgress, WindowProgress
from subtitle_rag.tui.text import job_lines, library_text
from subtitle_rag.tui.text.content import Rows
from subtitle_rag.tui.text.stage_lines import context_brief, pace, stage_progress_rows
from subtitle_rag.tui.widgets.status_bars import StageRows

WIDE, NARROW = 112, 72


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.activate("en")


def fetching(done: int = 37, **changes: object) -> Job:
    ids = frozenset(map(str, range(done)))
    own = Job("느린 부엌", True, 128, done=ids, new=done, windows=9_412, searchable=9_000, seconds=600.0)
    return replace(own, **changes)  # type: ignore[arg-type]


def writing(processed: int = 690, **changes: object) -> ContextProgress:
    own = ContextProgress(
        "working", processed, model="ax-light:q4", windows=9_412, missing=7_000, seconds=processed / 2.1
    )
    return replace(own, **changes)  # type: ignore[arg-type]


def making(**changes: object) -> VectorProgress:
    own = VectorProgress("working", 690, model="BAAI/bge-m3", windows=9_412, missing=7_000, seconds=300.0)
    return replace(own, **changes)  # type: ignore[arg-type]


def told(*state: object, width: int = WIDE) -> dict[str, str]:
    job, *progress = state
    stages = {one.stage: one for one in progress if isinstance(one, WindowProgress)}
    return {name: said.plain for name, said in stage_progress_rows(job, stages, width).items()}  # type: ignore[arg-type]


def test_all_four_are_told_with_counts_pace_and_model() -> None:
    said = told(fetching(), writing(), making())
    assert list(said) == ["job", "captions", "windows", "contexts", "vectors"]
    assert said["job"] == "Captions from 느린 부엌"
    assert "37/128" in said["captions"]
    assert said["captions"].endswith("4 videos/min · about 25 min left")
    assert said["windows"].endswith("9,000/9,412")
    assert "3,102/9,412" in said["contexts"]
    assert said["contexts"].endswith("2.1 windows/s · about 50 min left · ax-light:q4")
    assert said["vectors"].endswith("2.3 windows/s · about 46 min left · BAAI/bge-m3")


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [NARROW, WIDE, 192])
def test_bars_stand_under_each_other_and_nothing_is_wider_than_the_screen(language: str, width: int) -> None:
    i18n.activate(language)
    said = told(fetching(), writing(), making(), width=width)
    del said["job"]
    assert {cell_len(row[: min(row.find("█"), row.find("░"))]) for row in said.values()} == {
        cell_len(said["captions"][: said["captions"].find("█")])
    }
    assert len({row.count("█") + row.count("░") for row in said.values()}) == 1
    assert all(cell_len(row) <= width for row in said.values())


@pytest.mark.parametrize(
    ("processed", "rate", "left"), [(4, False, False), (5, True, False), (19, True, False), (20, True, True)]
)
def test_a_rate_is_told_after_five_windows_and_a_time_after_twenty(processed: int, rate: bool, left: bool) -> None:
    said = told(None, writing(processed), None)["contexts"]
    assert ("windows/s" in said) is rate
    assert ("left" in said) is left


@pytest.mark.parametrize("processed", [4, 5, 19, 20, 200])
@pytest.mark.parametrize("seconds", [2.0, 30.0, 900.0])
def test_the_bar_of_the_search_screen_tells_the_same_rate_and_time(processed: int, seconds: float) -> None:
    progress = writing(processed, seconds=seconds)
    row, line = told(None, progress, None)["contexts"], "  ".join(context_brief(progress))
    for said in pace(progress):
        assert said in row
        assert said in line
    assert ("left" in row) is ("left" in line)


@pytest.mark.parametrize(("new", "known"), [(4, False), (5, True)])
def test_videos_tell_a_time_after_five(new: int, known: bool) -> None:
    assert ("left" in told(fetching(new), None, None)["captions"]) is known


def test_slow_models_are_told_by_the_minute() -> None:
    assert "6.3/min" in told(None, writing(40, seconds=40 / 0.108), None)["contexts"]


def test_files_are_read_and_their_windows_set_the_pace() -> None:
    job = Job("자막", videos=2, done=frozenset("a"), windows=100, searchable=50, seconds=10.0)
    said = told(job, None, None)
    assert said["captions"].lstrip().startswith("read captions")
    assert said["captions"].endswith("1/2")
    assert "50/100" in said["windows"]
    assert said["windows"].endswith("5 windows/s · less than a minute left")
    assert "left" not in told(replace(job, searchable=19), None, None)["windows"]


def test_states_are_told_in_words() -> None:
    said = told(fetching(ended=True, stopped=True), writing(state="paused"), making(state="waiting"))
    assert said["job"] == "Stopped: 느린 부엌  Ctrl+R resumes"
    assert said["captions"].endswith("stopped")
    assert said["contexts"].endswith("paused; Ctrl+T resumes")
    assert "waiting for contexts" in said["vectors"]
    done = told(fetching(), writing(state="done", missing=0, processed=0), making())
    assert done["contexts"].split()[-2:] == ["9,412", "✓"]
    assert "░" not in done["contexts"]
    idle = told(fetching(), None, making(state="done", missing=9_412, processed=0))
    assert "vectors" not in idle, "nobody asked for vectors without an encoder"


def test_what_failed_has_a_sentence_and_no_bar() -> None:
    error = LlmError("llm_model_missing", model="ax-light:q4", host="x")
    said = told(None, writing(state="failed", error=error), making())
    assert said["contexts"].startswith("! ")
    assert said["contexts"].endswith("Ctrl+T tries again")
    assert "█" in said["vectors"]


def drawn(rows: Rows) -> str:
    return "\n".join(row if isinstance(row, str) else str(row[0]) for row in rows)


def test_the_reason_of_a_rest_stands_once_in_the_library_and_in_the_line_of_other_screens() -> None:
    resting = Resting(1_795_230_000, "rate_limited", {"title": "x"}, goes_on=True)
    failures = (
        VideoFailed("x", "제목", "members_only", {"title": "제목"}),
        VideoFailed("y", "제목", "network", {"title": "제목", "reason": "timed out"}),
    )
    job = fetching(resting=resting, failures=failures, waiting=2)
    said = told(job, None, None)
    assert "then it resumes by itself  – 1 skipped ! 1 failed  +2 waiting" in said["job"]
    assert "left" not in said["captions"]
    assert "too many requests (429)" in job_lines.job_line(job)
    below = drawn(library_text.shortfalls(job))
    assert below.startswith("! " + AppError("rate_limited", title="x").message)
    assert "– Skipped: members only 1" in below
    assert below.count("members") == 1
    assert below.count("제목") == 1


def test_the_reason_of_a_stop_stands_once_in_the_library_and_in_the_line_of_other_screens() -> None:
    error = BusyError("youtube_busy", path="/x")
    job = fetching(ended=True, stopped=True, reason=error)
    assert told(job, None, None)["job"].startswith("Stopped: 느린 부엌  ")
    assert drawn(library_text.shortfalls(job)).startswith(f"! {error.message}")
    assert job_lines.job_line(job).startswith(error.message)


@pytest.mark.parametrize(
    "state",
    [
        (None, None, None),
        (fetching(ended=True), None, None),
        (None, writing(state="done", missing=0, processed=0), making(state="done", missing=0, processed=0)),
        (None, writing(windows=0), making(windows=0)),
    ],
)
def test_nothing_is_shown_where_nothing_is_under_way(state: tuple[object, ...]) -> None:
    assert told(*state) == {}


def test_outside_text_is_one_clean_line() -> None:
    said = told(fetching(source="[red]느린\u202e\x1b[2J\n부엌"), writing(model="[b]x\x07"), None)
    assert said["job"] == "Captions from [red]느린[2J 부엌"
    assert said["contexts"].endswith("[b]x")


class Shown(App[None]):
    job: var[Job | None] = var(None)
    stages: var[Stages] = var(dict)

    def compose(self) -> ComposeResult:
        yield StageRows()


async def test_a_row_is_drawn_anew_only_where_it_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown()
    async with app.run_test(size=(120, 20)) as pilot:
        assert not app.query_one(StageRows).display
        app.job = fetching()
        app.stages = {"contexts": writing()}
        await pilot.pause()
        assert app.query_one(StageRows).display
        drawn: list[str | None] = []
        update = Static.update

        def note(row: Static, said: Any = "", **how: Any) -> None:
            drawn.append(row.id)
            update(row, said, **how)

        monkeypatch.setattr(Static, "update", note)
        app.stages = {"contexts": writing(691)}
        await pilot.pause()
        assert drawn == ["contexts"]
        app.stages = {}
        await pilot.pause()
        assert not app.query_one("#contexts").display
        app.job = None
        await pilot.pause()
        assert not app.query_one(StageRows).display
