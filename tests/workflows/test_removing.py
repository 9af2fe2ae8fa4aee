"""A removal as a use case, without a face: what it takes, what it notes, and who may go on with it."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.app_state import RemovalNote, put_unfinished_removals, unfinished_removals
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.workflows import removing
from subtitle_rag.workflows.removing import RemovalPlan, RemovalTarget
from tests.support.invented import caption_folder
from tests.support.place import Place, removal_cut_short

URL = "https://www.youtube.com/playlist?list=PL"


@pytest.fixture
def listed(tmp_path: Path, analyzer: Analyzer) -> Place:
    """Two videos, both on a playlist."""
    place = Place.at(tmp_path / "home", analyzer)
    place.run(caption_folder(tmp_path / "captions", 2, minutes=1))
    sources = place.library.sources
    source = sources.follow(URL, name="모음", channel_id=None, options=SourceOptions())
    sources.put_listed(source.id, [state.video for state in place.library.videos()])
    return place


def run(place: Place, plan: RemovalPlan) -> None:
    removing.remove(place.library, place.indexer, plan)


def test_all_that_is_planned_leaves(listed: Place) -> None:
    ids = {state.video.id for state in listed.library.videos()}
    plan = removing.plan_named_removal(listed.library, ["모음"])
    assert (set(plan.titles), plan.urls) == (ids, (URL,))
    run(listed, plan)
    assert (listed.library.videos(), listed.library.sources.followed()) == ([], [])
    assert listed.index.count() == 0
    assert unfinished_removals(listed.library) == []


def test_a_row_and_a_name_are_planned_alike(listed: Place) -> None:
    (source,) = listed.library.sources.followed()
    of_row = removing.plan_removal(listed.library, RemovalTarget("모음", sources=(source.id,)))
    assert of_row == removing.plan_named_removal(listed.library, ["모음"])


def test_an_app_that_is_killed_on_the_way_follows_nothing_of_it(listed: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = listed.library.sources.followed()
    plan = removing.plan_removal(listed.library, RemovalTarget("모음", sources=(source.id,)))
    with removal_cut_short(monkeypatch):
        run(listed, plan)
    assert listed.library.sources.followed() == []
    (note,) = unfinished_removals(listed.library)
    assert (note.names, note.urls, set(note.titles)) == (["모음"], [URL], set(plan.titles))
    again = removing.plan_named_removal(listed.library, ["모음"])
    assert (again.titles, again.urls) == (plan.titles, (URL,))
    run(listed, again)
    assert unfinished_removals(listed.library) == []


def test_a_killed_removal_s_name_means_nobody_else(listed: Place) -> None:
    put_unfinished_removals(listed.library, [RemovalNote(["모"], {"gone": "갔다"}, [])])
    plan = removing.plan_named_removal(listed.library, ["모"])
    assert (plan.titles, plan.urls) == ({"gone": "갔다"}, ())


def test_one_video_of_a_killed_removal_is_not_all_of_them(listed: Place) -> None:
    note = RemovalNote(["이름"], {"gone": "갔다", "other": "다른"}, [])
    put_unfinished_removals(listed.library, [note])
    plan = removing.plan_named_removal(listed.library, ["gone"])
    assert plan.titles == {"gone": "갔다"}
    run(listed, plan)
    assert unfinished_removals(listed.library) == [RemovalNote(["이름"], {"other": "다른"}, [])]


def test_nothing_is_noted_before_another_process_lets_go(listed: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.index.indexing.INTERACTIVE_TIMEOUT_S", 0.05)
    plan = removing.plan_named_removal(listed.library, ["모음"])
    with hold_lock(listed.library.path.parent, "library"), pytest.raises(BusyError):
        run(listed, plan)
    assert unfinished_removals(listed.library) == []
    assert len(listed.library.sources.followed()) == 1
