"""What is under way in the library, in the border of its videos, and when a time can be told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.errors import AppError, LlmError
from subtitle_rag.base.domain.events import Resting, VideoFailed
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.library.connection import busy_error
from subtitle_rag.tui.screens.library import library_text
from subtitle_rag.tui.shared.content import Rows
from subtitle_rag.tui.shared.jobs import job_lines
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.progress.stage import Stage, Stages, StageState


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.activate("en")


def fetching(done: int = 37, **changes: object) -> Job:
    ids = frozenset(map(str, range(done)))
    captions = Progress("captions", done, 128, rate=done / 600, left_s=1_500.0)
    own = Job("느린 부엌", True, captions, Progress("windows", 9_000, 9_412), done=ids, new=done)
    return replace(own, **changes)  # type: ignore[arg-type]


def writing(state: StageState = "working", **changes: Any) -> Stage:
    return Stage("contexts", state, replace(Progress("contexts", 3_102, 9_412, left_s=3_000.0), **changes))


def making(state: StageState = "working", **changes: Any) -> Stage:
    return Stage("vectors", state, replace(Progress("vectors", 3_102, 9_412, left_s=2_740.0), **changes))


def told(job: Job | None, *stages: Stage | None) -> list[str]:
    return list(library_text.progress_briefs(job, {one.name: one for one in stages if one}))


def test_what_is_under_way_is_told_with_counts_and_time_the_job_first() -> None:
    said = told(fetching(), writing(), making())
    assert said == [
        "Fetching captions 37/128 · about 25 min left",
        "Contexts 3,102/9,412 · about 50 min left",
        "Vectors 3,102/9,412 · about 46 min left",
    ]


def test_files_are_counted_and_their_windows_set_the_time() -> None:
    job = Job("자막", captions=Progress("captions", 1, 2), windows=Progress("windows", 50, 100, left_s=10.0))
    assert told(job) == ["Indexing 1/2 · less than a minute left"]
    assert told(replace(job, windows=None)) == ["Indexing 1/2"]


def test_what_is_paused_or_failed_has_the_key_that_goes_on() -> None:
    said = told(fetching(ended=True, stopped=True), writing(state="paused"), making(state="done"))
    assert said == ["Stopped: 느린 부엌  Ctrl+R resumes", "paused; Ctrl+T resumes"]
    error = LlmError("llm_model_missing", model="ax-light:q4", host="x")
    stages: Stages = {"contexts": replace(writing("failed"), error=error), "vectors": making()}
    (notice,) = library_text.stage_notices(stages)
    assert notice.startswith("! ")
    assert notice.endswith("Ctrl+T tries again")


def drawn(rows: Rows) -> str:
    return "\n".join(row if isinstance(row, str) else str(row[0]) for row in rows)


def test_the_reason_of_a_rest_stands_once_in_the_library_and_in_the_line_of_other_screens() -> None:
    resting = Resting(1_795_230_000, "rate_limited", {"title": "x"}, goes_on=True)
    failures = (
        VideoFailed("x", "제목", "members_only", {"title": "제목"}),
        VideoFailed("y", "제목", "network", {"title": "제목", "reason": "timed out"}),
    )
    job = fetching(resting=resting, failures=failures, waiting=2)
    (said,) = told(job)
    assert "then it resumes by itself" in said
    assert "left" not in said
    assert "too many requests (429)" in job_lines.job_line(job)
    below = drawn(library_text.shortfalls(job))
    assert below.startswith("! " + AppError("rate_limited", title="x").message)
    assert "– Skipped: members only 1" in below
    assert below.count("members") == 1
    assert below.count("제목") == 1


def test_the_reason_of_a_stop_stands_once_in_the_library_and_in_the_line_of_other_screens() -> None:
    error = busy_error(Path("/x"), "youtube")
    job = fetching(ended=True, stopped=True, reason=error)
    assert told(job)[0].startswith(error.message)
    assert drawn(library_text.shortfalls(job)).startswith(f"! {error.message}")
    assert job_lines.job_line(job).startswith(error.message)


@pytest.mark.parametrize(
    "state",
    [
        (None, None, None),
        (fetching(ended=True), None, None),
        (None, writing("done", done=9_412), making("done", done=9_412)),
    ],
)
def test_nothing_is_shown_where_nothing_is_under_way(state: tuple[object, ...]) -> None:
    assert told(*state) == []  # type: ignore[arg-type]


def test_outside_text_is_one_clean_line() -> None:
    said = told(fetching(source="[red]느린\u202e\x1b[2J\n부엌", captions=None))
    assert said == ["Asking YouTube for [red]느린[2J 부엌"]
