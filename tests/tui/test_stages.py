"""What is under way in the library, in the border of its videos, and when a time can be told."""

from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag import i18n
from subtitle_rag.domain.errors import AppError, LlmError
from subtitle_rag.domain.events import Resting, VideoFailed
from subtitle_rag.library.connection import busy_error
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.stage_progress import ContextProgress, Stages, VectorProgress, WindowProgress
from subtitle_rag.tui.text import job_lines, library_text
from subtitle_rag.tui.text.content import Rows
from subtitle_rag.tui.text.stage_lines import context_brief


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


def told(job: Job | None, *progress: WindowProgress | None) -> list[str]:
    stages: Stages = {one.stage: one for one in progress if one}
    return list(library_text.progress_briefs(job, stages))


def test_what_is_under_way_is_told_with_counts_and_time_the_job_first() -> None:
    said = told(fetching(), writing(), making())
    assert said == [
        "Fetching captions 37/128 · about 25 min left",
        "Contexts 3,102/9,412 · about 50 min left",
        "Vectors 3,102/9,412 · about 46 min left",
    ]


@pytest.mark.parametrize(("processed", "rate"), [(4, False), (5, True)])
def test_a_time_is_told_after_five_windows(processed: int, rate: bool) -> None:
    (said,) = told(None, writing(processed))
    assert ("left" in said) is rate


@pytest.mark.parametrize(("new", "known"), [(4, False), (5, True)])
def test_videos_tell_a_time_after_five(new: int, known: bool) -> None:
    assert ("left" in told(fetching(new))[0]) is known


def test_slow_models_are_told_by_the_minute() -> None:
    assert "6.3/min" in context_brief(writing(40, seconds=40 / 0.108))


def test_files_are_counted_and_their_windows_set_the_time() -> None:
    job = Job("자막", videos=2, done=frozenset("a"), windows=100, searchable=50, seconds=10.0)
    assert told(job) == ["Indexing 1/2 · less than a minute left"]
    assert told(replace(job, searchable=19)) == ["Indexing 1/2"]


def test_what_is_paused_or_failed_has_the_key_that_goes_on() -> None:
    said = told(fetching(ended=True, stopped=True), writing(state="paused"), making(state="waiting"))
    assert said == ["Stopped: 느린 부엌  Ctrl+R resumes", "paused; Ctrl+T resumes"]
    error = LlmError("llm_model_missing", model="ax-light:q4", host="x")
    stages = {"contexts": writing(state="failed", error=error), "vectors": making()}
    (notice,) = library_text.stage_notices(stages)  # type: ignore[arg-type]
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
        (None, writing(state="done", missing=0, processed=0), making(state="done", missing=0, processed=0)),
    ],
)
def test_nothing_is_shown_where_nothing_is_under_way(state: tuple[object, ...]) -> None:
    assert told(*state) == []  # type: ignore[arg-type]


def test_outside_text_is_one_clean_line() -> None:
    said = told(fetching(source="[red]느린\u202e\x1b[2J\n부엌", videos=0))
    assert said == ["Asking YouTube for [red]느린[2J 부엌"]
