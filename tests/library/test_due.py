"""Which videos are due: listed ones, refused ones whose time has come, and never what is there or comes from files."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from subtitle_rag.base.domain.values import Details
from subtitle_rag.library import sources as module
from subtitle_rag.library.rows import VideoState
from subtitle_rag.library.sources import FetchState, SourceOptions
from subtitle_rag.library.store import Library
from tests.support.invented import RULE, analysis, dump, track, video, windows

NOW = 1_700_000_000


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the clock by which failures are written down."""

    def to(seconds: int) -> None:
        monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: seconds))

    to(NOW)
    return to


def follow(library: Library, url: str = "https://x") -> int:
    return library.sources.follow(url, name="느린 부엌", channel_id=None, options=SourceOptions()).id


def put(library: Library, id: str, **changes: object) -> None:
    own = windows(id, 2)
    library.put_video(video(id, **changes), track(), own, RULE)
    library.put_indexed("kiwi-1", {window.id: ("s", analysis("국수")) for window in own})


def refuse(library: Library, id: str, code: str = "network", retry_at: int | None = NOW + 60) -> None:
    library.sources.put_refused(video(id), code, {"title": id, "retry_at": retry_at}, retry_at)


def written(library: Library, id: str) -> tuple[object, ...]:
    """(state, failure, since, tries, retry_at) of a video's captions."""
    columns = "state, failure, since, tries, retry_at"
    with closing(sqlite3.connect(library.path)) as db:
        row: tuple[object, ...] = db.execute(f"SELECT {columns} FROM stage WHERE video_id = ?", (id,)).fetchone()
        return row


def test_listed_videos_are_due_in_the_order_of_the_lists(library: Library) -> None:
    first, second = follow(library), follow(library, "https://y")
    library.sources.put_listed(first, [video("z"), video("a")])
    library.sources.put_listed(second, [video("m"), video("a"), video("b")])
    library.sources.put_listed(first, [video("c")])
    assert library.sources.due(NOW) == ["z", "a", "m", "b", "c"]
    assert library.sources.due(NOW, source_id=first) == ["z", "a", "c"]
    assert library.sources.due(NOW, source_id=second) == ["a", "m", "b"]
    assert library.sources.due(NOW, source_id=99) == []
    assert library.sources.stage("z") == FetchState("due")
    assert library.sources.stage("never listed") is None


def test_a_due_video_is_shown_as_such(library: Library) -> None:
    listed = video("a", title="만두", url="https://www.youtube.com/watch?v=a", kind="short", duration_ms=59_000)
    library.sources.put_listed(follow(library), [listed])
    assert library.video("a") == listed
    assert library.videos() == [VideoState(listed, 0, 0, True, None, {}, None)]
    assert (library.counts().videos, library.counts().due, library.counts().failed) == (1, 1, 0)


def test_a_video_that_is_listed_again_is_left_as_it_is(library: Library) -> None:
    source = follow(library)
    put(library, "done", title="국수")
    library.sources.put_listed(source, [video("due", title="만두")])
    refuse(library, "failed", "private", None)
    before = dump(library.path)
    again = [video(id, title="Noodles", channel_id="other") for id in ("done", "due", "failed")]
    library.sources.put_listed(source, again)
    library.sources.put_listed(source, again)
    after = dump(library.path)
    assert {table: rows for table, rows in after.items() if table != "listed"} == {
        table: rows for table, rows in before.items() if table != "listed"
    }
    assert library.sources.listed(source, ["done", "due", "failed", "other"]) == {"done", "due", "failed"}
    assert library.sources.due(NOW) == ["due"]


def test_what_is_passed_over_is_known_and_no_video(library: Library) -> None:
    source = follow(library)
    library.sources.put_listed(source, [], passed_over=["a", "b"])
    assert library.sources.listed(source, ["a", "b", "c"]) == {"a", "b"}
    assert (library.videos(), library.sources.due(NOW, all_failed=True)) == ([], [])
    assert library.sources.followed()[0].videos == 2


def test_a_refused_video_is_due_when_its_time_comes(library: Library) -> None:
    refuse(library, "soon", retry_at=NOW + 60)
    refuse(library, "later", retry_at=NOW + 3_600)
    refuse(library, "never", "private", None)
    assert library.sources.due(NOW + 59) == []
    assert library.sources.due(NOW + 60) == ["soon"]
    assert library.sources.due(NOW + 10**9) == ["soon", "later"]
    assert library.sources.due(NOW, all_failed=True) == ["soon", "later", "never"]


def test_all_that_failed_of_one_source_is_no_other_sources(library: Library) -> None:
    source = follow(library)
    for id in ("own", "other"):
        refuse(library, id, "private", None)
    library.sources.put_listed(source, [video("own")])
    assert library.sources.due(NOW, source_id=source) == []
    assert library.sources.due(NOW, source_id=source, all_failed=True) == ["own"]


def test_videos_from_files_are_never_due(library: Library) -> None:
    library.put_failure(video("bad", source="/자막/bad.vtt"), "no_cues", {"path": "x"})
    put(library, "good", source="/자막/good.vtt")
    source = follow(library)
    library.sources.put_listed(source, [video("bad"), video("good")])
    assert library.sources.due(NOW, all_failed=True) == []
    assert library.sources.due(NOW, source_id=source, all_failed=True) == []
    assert library.video("bad") == video("bad", source="/자막/bad.vtt")


def test_a_refusal_counts_its_tries_and_keeps_its_beginning_while_it_stays(
    library: Library, now: Callable[[int], None]
) -> None:
    refuse(library, "a", "network", NOW + 60)
    assert written(library, "a") == ("failed", "network", NOW, 1, NOW + 60)
    now(NOW + 100)
    refuse(library, "a", "network", NOW + 300)
    assert written(library, "a") == ("failed", "network", NOW, 2, NOW + 300)
    now(NOW + 400)
    refuse(library, "a", "private", None)
    assert written(library, "a") == ("failed", "private", NOW + 400, 1, None)
    assert library.sources.stage("a") == FetchState("failed", 1, None, "private")
    assert library.videos() == [VideoState(video("a"), 0, 0, False, "private", {"title": "a", "retry_at": None}, None)]


def test_a_due_video_that_is_refused_has_failed_once(library: Library, now: Callable[[int], None]) -> None:
    library.sources.put_listed(follow(library), [video("a")])
    refuse(library, "a")
    assert written(library, "a") == ("failed", "network", NOW, 1, NOW + 60)
    assert (library.counts().due, library.counts().failed) == (0, 1)
    assert library.videos()[0].retry_at == NOW + 60


def test_a_refusal_leaves_what_is_stored_of_a_video(library: Library, now: Callable[[int], None]) -> None:
    put(library, "a", title="국수")
    refuse(library, "a")
    assert library.video("a") == video("a", title="국수")
    assert written(library, "a") == ("failed", "network", NOW, 1, NOW + 60)
    (state,) = library.videos()
    assert (state.windows, state.searchable, state.failure) == (2, 2, "network")
    assert library.track("a") == track()


def test_captions_end_a_failure_and_its_tries(library: Library, now: Callable[[int], None]) -> None:
    for _try in range(3):
        refuse(library, "a")
    put(library, "a")
    assert written(library, "a") == ("done", None, None, 0, None)
    assert library.sources.due(NOW + 10**9, all_failed=True) == []
    now(NOW + 500)
    refuse(library, "a")
    assert written(library, "a") == ("failed", "network", NOW + 500, 1, NOW + 60)


def test_details_of_a_refusal_may_be_anything(library: Library) -> None:
    details = {"title": '"따옴표" 😀 {x}', "reason": "a\nb", "path": Path("/자막")}
    library.sources.put_refused(video("a"), "network", details, None)
    assert library.videos()[0].details == details | {"path": "/자막"}


def test_a_video_that_turned_out_unwanted_does_not_come_back(library: Library) -> None:
    source = follow(library)
    library.sources.put_listed(source, [video("a", channel_id="only here"), video("b")])
    library.sources.pass_over("a")
    library.sources.pass_over("never there")
    assert (library.video("a"), library.sources.stage("a")) == (None, None)
    assert library.sources.listed(source, ["a"]) == {"a"}
    assert library.channels() == [("channel", "느린 부엌")]
    assert library.sources.due(NOW) == ["b"]


def test_a_removed_video_stays_listed_so_that_it_does_not_come_back(library: Library) -> None:
    source = follow(library)
    library.sources.put_listed(source, [video("a")])
    put(library, "a")
    library.remove_videos(["a"])
    assert library.sources.listed(source, ["a"]) == {"a"}
    assert library.sources.followed()[0].videos == 1
    assert (library.videos(), library.sources.stage("a"), library.sources.due(NOW, all_failed=True)) == ([], None, [])


Change = Callable[[Library, int], object]
CHANGES: dict[str, tuple[str, Change]] = {
    "follow": ("alias", lambda library, _: follow(library, "https://new")),
    "follow otherwise": (
        "alias",
        lambda library, _: library.sources.follow(
            "https://x", name="n", channel_id=None, options=SourceOptions(limit=1)
        ),
    ),
    "put_listed": ("stage", lambda library, source: library.sources.put_listed(source, [video("new")])),
    "put_refused": ("stage", lambda library, _: refuse(library, "new")),
    "put_video": (
        "window",
        lambda library, _: library.put_video(video("done"), track(b"new"), windows("done", 3), RULE, Details("새")),
    ),
    "put_video's end": (
        "stage",
        lambda library, _: library.put_video(video("new"), track(), windows("new", 3), RULE, Details("새")),
    ),
}


@pytest.mark.parametrize(("table", "change"), CHANGES.values(), ids=CHANGES)
def test_a_change_that_breaks_off_in_the_middle_leaves_nothing(library: Library, table: str, change: Change) -> None:
    source = follow(library)
    library.sources.put_listed(source, [video("due")], passed_over=["over"])
    put(library, "done")
    before = dump(library.path)
    with closing(sqlite3.connect(library.path)) as db:
        db.execute(f"CREATE TRIGGER stop BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'stopped'); END")
    with pytest.raises(sqlite3.IntegrityError, match="stopped"):
        change(library, source)
    assert dump(library.path) == before
    with closing(sqlite3.connect(library.path)) as db:
        db.execute("DROP TRIGGER stop")
    change(library, source)
    assert dump(library.path) != before
