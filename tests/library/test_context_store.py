"""What the library keeps of contexts, and which of them count."""

from datetime import date
from typing import Any

import pytest

from subtitle_rag.base.domain.values import Window
from subtitle_rag.library.context_store import GIVEN, TRIES, Context, ContextCounts, ModelCost, Recipe, WindowSelection
from subtitle_rag.library.store import Library
from tests.support import invented
from tests.support.invented import RULE, analysis, dump, track, video, windows

RECIPE = Recipe("digest-1", "ko1")
ENCODER = "kiwi-1"


def put(library: Library, id: str, count: int = 2, *, raw: bytes = b"one", **changes: Any) -> list[Window]:
    own = windows(id, count)
    library.put_video(video(id, **changes), track(raw + id.encode()), own, RULE)
    return own


def context(window: Window, **changes: Any) -> Context:
    key = f"{changes.get('digest', RECIPE.digest)} {changes.get('prompt', RECIPE.prompt)} {window.id}"
    text = f"{window.ordinal}번째 국수를 삶는 장면입니다."
    return invented.context(window.id, window.video_id, **{"key": key, "text": text, "raw": "그대로", **changes})


def write(library: Library, *made: Context) -> None:
    for one in made:
        assert library.contexts.put(one)


def texts(library: Library, id: str) -> list[str]:
    return [one.text for _id, one in sorted(library.contexts.of_video(id).items())]


def note(library: Library, window: Window, key: str = "") -> None:
    library.put_indexed(ENCODER, {window.id: (f"digest/{key}", analysis("국수"))})


def test_windows_without_contexts_are_not_read_for_their_texts(library: Library) -> None:
    own = put(library, "v")
    write(library, context(own[0]))
    asked: list[str] = []
    with library.database.read() as db:
        db.set_trace_callback(asked.append)
        assert library.contexts.texts_of([window.id for window in own]) == {own[0].id: context(own[0]).text}
        db.set_trace_callback(None)
        plan = [row[3] for statement in asked for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert plan[0] == "SEARCH context USING INDEX context_window (window_id=?)"


def test_a_library_without_contexts_has_none(library: Library) -> None:
    contexts = library.contexts
    assert contexts.counts() == ContextCounts(0, 0, 0, 0, 0, 0, 0)
    assert (contexts.of_video("v"), contexts.of_windows(["w"]), contexts.suspects(), contexts.unindexed()) == ({},) * 4
    assert (contexts.missing("v", RECIPE), contexts.work(RECIPE), contexts.redo()) == ({}, {}, 0)
    assert (contexts.glossary("c"), contexts.overview("k"), contexts.tokens_per_character("d")) == ((), None, None)
    assert contexts.transcript("v") == ""


def test_a_context_comes_back_as_it_was_put(library: Library) -> None:
    own = put(library, "a")
    made = context(own[0], doubts=(("name", '"두레반"'), ("number", "5000")), text="따옴표 ' 와 😀.", scope="block")
    write(library, made)
    assert library.contexts.of_video("a") == {own[0].id: made}
    assert library.contexts.of_windows([own[1].id, own[0].id, "absent"]) == {own[0].id: made}
    assert library.contexts.of_windows([]) == {}


def test_the_latest_context_with_a_text_counts(library: Library) -> None:
    own = put(library, "a", 1)
    write(library, context(own[0], text="옛 문맥입니다."), context(own[0], digest="digest-2", text="새 문맥입니다."))
    assert texts(library, "a") == ["새 문맥입니다."]
    write(library, context(own[0], digest="digest-3", text="", tries=TRIES, written_at=1_900_000_000))
    assert texts(library, "a") == ["새 문맥입니다."]
    write(library, context(own[0], text="옛 모델이 다시 쓴 문맥입니다.", written_at=1_950_000_000))
    assert texts(library, "a") == ["옛 모델이 다시 쓴 문맥입니다."]


def test_a_window_that_is_not_there_gets_no_context(library: Library) -> None:
    own = put(library, "a")
    put(library, "a", 1, raw=b"two")
    assert library.contexts.put(context(own[1])) is False
    assert dump(library.database.path)["context"] == []


def test_a_context_of_captions_that_were_replaced_meanwhile_is_refused(library: Library) -> None:
    own = put(library, "a")
    shown = library.contexts.transcript("a")
    assert library.contexts.put(context(own[0]), shown)
    put(library, "a", raw=b"two")
    assert library.contexts.transcript("a") != shown
    assert library.contexts.put(context(own[0]), shown) is False
    assert library.contexts.of_video("a") == {}


def test_what_is_missing_goes_by_recipe_and_in_order(library: Library) -> None:
    own = put(library, "a", 3)
    write(library, context(own[1]))
    contexts = library.contexts
    assert list(contexts.missing("a", RECIPE).items()) == [(own[0].id, 0), (own[2].id, 0)]
    assert len(contexts.missing("a", Recipe("digest-2", "ko1"))) == 3
    assert len(contexts.missing("a", Recipe("digest-1", "ko2"))) == 3
    assert contexts.work(RECIPE) == {"a": 2}
    assert contexts.work(Recipe("digest-1", "ko2")) == {"a": 3}


def test_an_empty_answer_is_asked_for_once_more_and_then_no_more(library: Library) -> None:
    own = put(library, "a", 1)
    write(library, context(own[0], text="", tries=1))
    assert library.contexts.missing("a", RECIPE) == {own[0].id: 1}
    assert library.contexts.work(RECIPE) == {"a": 1}
    assert library.contexts.counts().empty == 0
    write(library, context(own[0], text="", tries=TRIES))
    assert (library.contexts.missing("a", RECIPE), library.contexts.work(RECIPE)) == ({}, {})
    assert (library.contexts.counts().empty, library.contexts.counts().written) == (1, 0)
    assert library.contexts.of_video("a") == {}


def test_work_is_the_newest_first_and_can_be_narrowed(library: Library) -> None:
    put(library, "old", published=date(2025, 1, 1))
    put(library, "unknown", channel_id="other", channel="빠른 부엌")
    put(library, "new", 3, published=date(2026, 1, 1))
    put(library, "silent", 0)
    contexts = library.contexts
    assert list(contexts.work(RECIPE).items()) == [("new", 3), ("old", 2), ("unknown", 2)]
    assert list(contexts.work(RECIPE, WindowSelection(channels=("other",)))) == ["unknown"]
    assert list(contexts.work(RECIPE, WindowSelection(videos=("old", "absent")))) == ["old"]
    assert contexts.work(RECIPE, WindowSelection(channels=("other",), videos=("old",))) == {}


def test_a_context_that_is_to_be_redone_counts_until_it_is_replaced(library: Library) -> None:
    own = put(library, "a")
    write(library, *map(context, own))
    before = texts(library, "a")
    assert library.contexts.redo() == 2
    assert library.contexts.redo() == 0
    assert texts(library, "a") == before
    assert library.contexts.work(RECIPE) == {"a": 2}
    write(library, context(own[0], text="다시 쓴 문맥입니다."))
    assert texts(library, "a") == ["다시 쓴 문맥입니다.", before[1]]
    assert library.contexts.missing("a", RECIPE) == {own[1].id: 0}


def test_a_text_is_not_replaced_by_nothing(library: Library) -> None:
    own = put(library, "a", 1)
    write(library, context(own[0]))
    before = texts(library, "a")
    library.contexts.redo()
    write(library, context(own[0], text="", tries=1))
    assert texts(library, "a") == before
    assert library.contexts.missing("a", RECIPE) == {own[0].id: 0}
    write(library, context(own[0], text="", tries=TRIES))
    assert texts(library, "a") == before
    assert library.contexts.missing("a", RECIPE) == {}
    assert (library.contexts.counts().written, library.contexts.counts().empty) == (1, 0)


def test_changed_captions_drop_what_was_written_of_that_video(library: Library) -> None:
    for id in ("a", "b"):
        write(library, *map(context, put(library, id)))
    put(library, "a", raw=b"two")
    assert library.contexts.of_video("a") == {}
    assert len(library.contexts.of_video("b")) == 2
    assert {row[2] for row in dump(library.database.path)["context"]} == {"b"}
    assert library.contexts.work(RECIPE) == {"a": 2}


def test_other_details_of_the_same_captions_keep_what_was_written(library: Library) -> None:
    write(library, *map(context, put(library, "a")))
    put(library, "a", title="다른 제목")
    assert len(library.contexts.of_video("a")) == 2


def test_windows_by_another_rule_drop_what_was_written(library: Library) -> None:
    own = put(library, "a")
    write(library, *map(context, own))
    library.put_windows("a", own, "rule-2")
    assert dump(library.database.path)["context"] == []


def test_a_removed_video_takes_its_contexts_with_it(library: Library) -> None:
    for id in ("a", "b"):
        write(library, *map(context, put(library, id)))
        library.contexts.put_overview(f"overview {id}", id, "개요입니다.")
    library.remove_videos(["a"])
    rows = dump(library.database.path)
    assert {row[2] for row in rows["context"]} == {"b"}
    assert [row[0] for row in rows["overview"]] == ["overview b"]


def test_a_context_that_the_index_has_not_is_told(library: Library) -> None:
    own = put(library, "a", 3)
    for window in own[:2]:
        note(library, window)
    write(library, *map(context, own))
    assert library.contexts.unindexed() == {"a": [own[0].id, own[1].id]}  # the third comes with its window
    note(library, own[0], key=context(own[0]).key)
    assert library.contexts.unindexed() == {"a": [own[1].id]}
    note(library, own[1], key=context(own[1]).key)
    assert library.contexts.unindexed() == {}


def test_the_index_is_behind_a_context_that_was_written_anew(library: Library) -> None:
    own = put(library, "a", 1)
    write(library, context(own[0]))
    note(library, own[0], key=context(own[0]).key)
    write(library, context(own[0], tokens=11))  # the same words
    assert library.contexts.unindexed() == {}
    write(library, context(own[0], text="같은 열쇠의 다른 문맥입니다."))
    assert library.contexts.unindexed() == {"a": [own[0].id]}
    note(library, own[0], key=context(own[0]).key)
    write(library, context(own[0], digest="digest-2", text="새 모델의 문맥입니다."))
    assert library.contexts.unindexed() == {"a": [own[0].id]}
    write(library, context(own[0], digest="digest-3", text="", tries=TRIES))
    note(library, own[0], key=context(own[0], digest="digest-2").key)
    assert library.contexts.unindexed() == {}


def test_counts_are_of_windows_and_costs_of_all_that_was_asked(library: Library) -> None:
    own = put(library, "a", 4)
    write(library, context(own[0]), context(own[0], digest="digest-2"), context(own[1], doubts=(("name", "두레반"),)))
    write(library, context(own[2], text="", tries=TRIES), context(own[1], digest="digest-2", text="", tries=TRIES))
    assert library.contexts.counts() == ContextCounts(4, 2, 1, 1, 500, 50, 7_500)


def test_a_models_cost_has_all_tries_and_how_much_of_the_prompts_was_read_before(library: Library) -> None:
    first, second = put(library, "a", 2), put(library, "b", 1)
    write(library, context(first[0], text=""), context(first[0], tries=TRIES), context(first[1]), context(second[0]))
    write(library, context(second[0], digest=GIVEN, prompt=GIVEN, ms=0))
    (cost,) = library.contexts.model_costs()
    assert cost == ModelCost("writer:q4", 3, 2, 3, 400, 40, 6_000, 400, 400)
    assert (cost.seconds_a_window, cost.tokens_a_video, cost.saved_share) == (2.0, 220, 0)


def test_what_the_servers_cache_saves_is_told_by_the_time_of_reading(library: Library) -> None:
    own = put(library, "a", 4)
    write(library, context(own[0]), *(context(window, prompt_ms=100) for window in own[1:]))
    (cost,) = library.contexts.model_costs()
    assert cost.saved_share == pytest.approx(0.675), "100 and three times 10 of 400 tokens"
    write(library, context(own[1], digest="ended early", prompt_tokens=0, prompt_ms=0))
    assert library.contexts.model_costs()[1].saved_share is None


def test_a_context_that_is_redone_costs_its_own_tries(library: Library) -> None:
    own = put(library, "a", 1)
    write(library, context(own[0]))
    library.contexts.redo()
    write(library, context(own[0]))
    assert [cost.prompt_tokens for cost in library.contexts.model_costs()] == [100]


def test_a_doubt_counts_only_of_the_context_that_counts(library: Library) -> None:
    own = put(library, "a", 2)
    doubtful = (("number", "5000"),)
    write(library, context(own[0], doubts=doubtful), context(own[1], doubts=doubtful))
    write(library, context(own[0], digest="digest-2"))
    assert list(library.contexts.suspects()) == [own[1].id]
    assert library.contexts.counts().suspect == 1


def test_glossaries_overviews_and_ratios_are_kept_and_replaced(library: Library) -> None:
    put(library, "a")
    contexts = library.contexts
    for names in (["청귤 국수", "두레반"], []):
        contexts.put_glossary("c", names)
        assert contexts.glossary("c") == tuple(names)
    for text in ("첫 개요", ""):
        contexts.put_overview("key", "a", text)
        assert contexts.overview("key") == text
    for ratio in (0.61234, 0.5):
        contexts.put_tokens_per_character("digest-1", ratio)
        assert contexts.tokens_per_character("digest-1") == pytest.approx(ratio, abs=1e-4)
    assert contexts.tokens_per_character("digest-2") is None
