"""What the library keeps of the videos' summaries, and which of them count."""

from dataclasses import replace
from datetime import date
from typing import Any

from subtitle_rag.library.context_store import Recipe, WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.library.summary_store import SummaryCounts, VideoSummary
from tests.support.invented import RULE, track, video, windows

RECIPE = Recipe("digest-1", "ko1")


def put(library: Library, id: str, *, raw: bytes = b"one", **changes: Any) -> None:
    library.put_video(video(id, **changes), track(raw + id.encode()), windows(id, 2), RULE)


def summary(video_id: str, text: str = "국수를 삶습니다.", **changes: Any) -> VideoSummary:
    made = VideoSummary(
        video_id, text, "writer:q4", RECIPE.digest, RECIPE.prompt, 1, True, 100, 10, 1_500, 1_800_000_000
    )
    return replace(made, **changes)


def test_summaries_come_back_by_video(library: Library) -> None:
    for id in ("a", "b", "c"):
        put(library, id)
    assert library.summaries.put(summary("a"))
    assert library.summaries.put(summary("b", "", tries=2))
    assert library.summaries.of(["a", "b", "absent"]) == {"a": "국수를 삶습니다."}
    assert library.summaries.get("a") == summary("a")
    assert library.summaries.get("c") is None
    assert library.summaries.counts() == SummaryCounts(videos=3, written=1, empty=1)
    assert library.summaries.counts().due == 1


def test_a_video_without_captions_has_none(library: Library) -> None:
    library.sources.put_due(video("due"))
    assert not library.summaries.put(summary("due"))
    assert not library.summaries.put(summary("absent"))
    assert library.summaries.missing(RECIPE) == {}


def test_other_captions_make_a_summary_invalid(library: Library) -> None:
    put(library, "a")
    before = library.contexts.transcript("a")
    library.summaries.put(summary("a"), before)
    put(library, "a", raw=b"two")
    assert library.summaries.of(["a"]) == {}
    assert library.summaries.missing(RECIPE) == {"a": 0}
    assert not library.summaries.put(summary("a"), before)
    assert library.summaries.put(summary("a", "", tries=1, settled=False))
    assert library.summaries.of(["a"]) == {}, "a text of the captions before must not come back"


def test_a_removed_video_takes_its_summary_along(library: Library) -> None:
    put(library, "a")
    library.summaries.put(summary("a"))
    library.remove_videos(["a"])
    put(library, "a")
    assert library.summaries.of(["a"]) == {}


def test_missing_are_those_not_settled_by_this_recipe_the_newest_first(library: Library) -> None:
    put(library, "old", published=date(2025, 1, 1), channel_id="c1")
    put(library, "new", published=date(2026, 1, 1), channel_id="c2")
    assert list(library.summaries.missing(RECIPE).items()) == [("new", 0), ("old", 0)]
    assert library.summaries.missing(RECIPE, WindowSelection(channels=("c1",))) == {"old": 0}
    assert library.summaries.missing(RECIPE, WindowSelection(videos=("new", "absent"))) == {"new": 0}
    library.summaries.put(summary("old", "", tries=1, settled=False))
    library.summaries.put(summary("new"))
    assert library.summaries.missing(RECIPE) == {"old": 1}
    assert library.summaries.missing(Recipe("digest-2", "ko1")) == {"new": 0, "old": 0}
    assert library.summaries.missing(Recipe("digest-1", "ko2")) == {"new": 0, "old": 0}


def test_a_summary_stays_until_it_is_replaced_by_another_text(library: Library) -> None:
    put(library, "a")
    library.summaries.put(summary("a"))
    library.summaries.redo(WindowSelection(videos=("absent",)))
    assert library.summaries.missing(RECIPE) == {}
    library.summaries.redo(WindowSelection(channels=(video("a").channel_id,)))
    assert library.summaries.missing(RECIPE) == {"a": 0}
    library.summaries.put(summary("a", "", model="other:q4", digest="digest-2", tries=2))
    assert library.summaries.of(["a"]) == {"a": "국수를 삶습니다."}
    kept = library.summaries.get("a")
    assert kept is not None
    assert (kept.model, kept.digest) == ("writer:q4", "digest-2")
    assert library.summaries.missing(Recipe("digest-2", "ko1")) == {}
    library.summaries.put(summary("a", "다른 요약입니다."))
    assert library.summaries.of(["a"]) == {"a": "다른 요약입니다."}
