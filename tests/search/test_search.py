import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.base.vectors.points import SparseVector
from subtitle_rag.korean.lexical import LexicalQuery, unknown_words
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.fusion import MAX_MERGED
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import SearchResult
from tests.support.cases import cases
from tests.support.searchable import FILLER, LINE_MS, LINES, Minutes, Searchable, video

CRAB = replace(video("crabmarket1", "꽃게 시장 구경", "느긋한 식탁", "2026-01-10"), kind="video")
STEW = replace(video("stewkitchen", "된장 끓이는 날", "느긋한 식탁", "2026-02-20"), kind="short")
CAR = video("file-0123456789", "전기차 타 보기", "달리는 골목", "2026-03-30", "ch-골목")
LONG = video("longtalk000", "긴 수다", "달리는 골목", channel_id="ch-골목")
VIDEOS: Mapping[Video, Minutes] = {
    CRAB: [
        ["오늘은 꽃게를 샀어요"],
        ["시장에서 꽃게찜을 먹었어요", "소스에 찍어 먹으면 돼요"],
        ["새우도 있고 꽃게도 있어요"],
    ],
    STEW: [
        ["된장에 두부를 넣어요"],
        ["이건 광고 아니에요", "간장을 조금 부어요"],
        ["École 에서 배운 소스예요"],
        ["꽃게 육수를 내요"],
    ],
    CAR: [
        ["블루투스가 안 돼요", "배터리를 충전해요"],
        ["불루투스 다시 연결했어요"],
        ["소스는 안 먹어요 찍어서 먹어 봐요"],
    ],
    LONG: [[f"수박을 잘라요 {n}번째"] for n in range(8)],
}


def find(made: Searchable, query: str, limit: int = 20) -> SearchResult:
    return made.searcher.search(parse_query(query), limit=limit)


def found(made: Searchable, query: str) -> set[str]:
    return {scene.video.id for scene in find(made, query).scenes}


def marks(scene: Scene) -> list[str]:
    return [scene.text[a:b] for a, b in scene.highlights]


def refused(made: Searchable, query: str) -> tuple[str, dict[str, object]]:
    with pytest.raises(UsageError) as caught:
        find(made, query)
    return caught.value.code, caught.value.details


# What is found and marked


def test_a_word_is_found_with_its_particles_and_in_compounds(made: Searchable) -> None:
    best = find(made, "꽃게").scenes[0]
    assert best.video == CRAB
    assert (best.start_ms, best.end_ms) == (0, 2 * 60_000 + LINES * LINE_MS)
    assert marks(best) == ["꽃게"] * 3
    assert found(made, "꽃게") == {CRAB.id, STEW.id}


def test_a_verb_is_found_and_marked_in_its_inflected_forms(made: Searchable) -> None:
    assert "먹었어요" in marks(next(s for s in find(made, "먹었").scenes if s.video == CRAB))


def test_a_misheard_word_is_found_after_the_right_one(made: Searchable) -> None:
    lists = made.searcher.rank(parse_query("블루투스"))
    assert [(r.video_id, r.ordinal) for r in lists[:2]] == [(CAR.id, 0), (CAR.id, 1)]
    assert marks(find(made, "블루투스 video:전기차").scenes[0]) == ["블루투스", "불루투스"]


def test_decomposed_hangul_finds_the_same(made: Searchable) -> None:
    assert find(made, unicodedata.normalize("NFD", "꽃게 시장")).scenes == find(made, "꽃게 시장").scenes


def test_what_nobody_says_is_not_found(made: Searchable) -> None:
    result = find(made, "xyzzy")
    assert (result.scenes, result.more) == ((), False)


@pytest.mark.parametrize(
    "query", ["꽃게*", "'꽃게", "꽃게%", "꽃게_", "(꽃게)", "꽃게 시장 AND", "\\꽃게", "🔥꽃게", "[꽃게", "^꽃게$"]
)
def test_marks_of_other_search_languages_mean_nothing(made: Searchable, query: str) -> None:
    assert find(made, query).scenes[0].video == CRAB


# Phrases, exclusions, filters


@pytest.mark.parametrize("query", ['"찍어 먹"', '"찍어먹"', '소스 "찍 어 먹"', "소스 “찍어 먹”"])
def test_a_phrase_is_found_whatever_its_spaces(made: Searchable, query: str) -> None:
    assert [marks(s) != [] and "찍어 먹으면" in s.text for s in find(made, query).scenes] == [True]


def test_all_phrases_must_be_there(made: Searchable) -> None:
    assert found(made, '"찍어 먹" "꽃게찜"') == {CRAB.id}
    assert found(made, '"찍어 먹" "두부"') == set()


def test_a_phrase_may_begin_with_any_letter(made: Searchable) -> None:
    assert found(made, '소스 "École"') == found(made, '소스 "ÉCOLE"') == {STEW.id}


@pytest.mark.parametrize("phrase", ["%", "_", "찍어%먹", "찍_어", "' OR 1=1 --", "*"])
def test_a_phrase_is_no_pattern(made: Searchable, phrase: str) -> None:
    assert found(made, f'소스 "{phrase}a"') == set()


def test_an_excluded_word_leaves_its_windows_out(made: Searchable) -> None:
    assert any("간장" in s.text for s in find(made, "간장").scenes)
    assert not any("간장" in s.text for s in find(made, "간장 -광고").scenes)
    assert found(made, "소스 -École") == {CRAB.id, CAR.id}
    assert all("찍어서 먹어" not in s.text for s in find(made, '소스 -"찍어서 먹"').scenes)


def test_a_scene_never_holds_what_was_excluded(made: Searchable) -> None:
    scenes = find(made, "수박 -3번째", limit=50).scenes
    assert scenes
    assert all("3번째" not in scene.text for scene in scenes)


@cases(
    ("filters", "expected"),
    [
        ("channel:느긋한식탁", {CRAB.id, STEW.id}),
        ('channel:"느긋한 식탁"', {CRAB.id, STEW.id}),
        ("채널:골목", {CAR.id}),
        ("channel:CH-골목", {CAR.id}),
        ("channel:골목 channel:느긋", {CRAB.id, STEW.id, CAR.id}),
        ("video:crabmarket1", {CRAB.id}),
        ("video:꽃게시장", {CRAB.id}),
        ("영상:전기차 video:된장", {CAR.id, STEW.id}),
        ("channel:느긋 video:전기차", set()),
        ("after:2026-02-20", {STEW.id, CAR.id}),
        ("before:2026-02-20", {CRAB.id, STEW.id}),
        ("after:2026-02-20 before:2026-02-20", {STEW.id}),
        ("이후:2026-02-21 이전:2026-02-20", set()),
        ("after:2026-02-01 channel:느긋", {STEW.id}),
        ('channel:""', {CRAB.id, STEW.id, CAR.id}),
        ("kind:video", {CRAB.id}),
        ("종류:쇼츠", {STEW.id}),
        ("kind:short 종류:영상", {CRAB.id, STEW.id}),
        ("kind:stream", set()),
        ("kind:short video:된장", {STEW.id}),
        ("kind:short video:꽃게", set()),
        ("kind:stream video:꽃게", set()),
        ('kind:short "소스에 찍어"', set()),
        ("kind:video channel:느긋 after:2026-01-01", {CRAB.id}),
    ],
)
def test_filters_leave_what_they_say(made: Searchable, filters: str, expected: set[str]) -> None:
    assert found(made, f"소스 {filters}") == expected


def test_a_video_without_a_date_is_in_no_range_of_dates(made: Searchable) -> None:
    assert found(made, "수박") >= {LONG.id}
    assert LONG.id not in found(made, "수박 after:2000-01-01") | found(made, "수박 before:2100-01-01")


def test_a_video_of_unknown_kind_is_of_no_kind(made: Searchable) -> None:
    assert CAR.kind == ""
    assert CAR.id not in found(made, "소스 kind:video kind:short kind:stream")


def test_the_kind_that_the_library_knows_last_counts(made: Searchable) -> None:
    """No index needs to be made anew for it."""
    with made.library.database.write() as db:
        db.execute("UPDATE video SET kind = 'stream' WHERE id = ?", (CRAB.id,))
    try:
        assert found(made, "소스 종류:라이브") == {CRAB.id}
        assert found(made, "소스 종류:영상") == set()
    finally:
        with made.library.database.write() as db:
            db.execute("UPDATE video SET kind = 'video' WHERE id = ?", (CRAB.id,))


def test_a_filter_that_names_nothing_says_so(made: Searchable) -> None:
    for query, kind, name in (
        ("channel:없는채널", "channel", "없는채널"),
        ("video:없는영상", "video or scene", "없는영상"),
    ):
        code, details = refused(made, f"소스 {query}")
        assert (code, details["kind"], details["name"]) == ("unknown", kind, name)


@pytest.mark.parametrize(
    ("name", "reason"), [("dense", "no model has made vectors for it"), ("colbert", "it is unknown")]
)
def test_a_retriever_that_cannot_be_asked_is_named(made: Searchable, name: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        made.searcher.search(parse_query("소스"), retrievers=("bm25", name))
    assert caught.value.code == "retriever_not_ready"
    assert caught.value.details == {"name": name, "reason": reason, "ready": "bm25"}


# Scenes


def test_neighbours_become_one_scene_of_three_at_most(made: Searchable) -> None:
    scenes = find(made, "수박 video:수다").scenes
    assert [s.rank for s in scenes] == list(range(1, len(scenes) + 1))
    assert sum(s.text.count("수박") for s in scenes) == 8
    assert all(1 <= len(s.lines) // LINES <= MAX_MERGED for s in scenes)
    assert [s.score for s in scenes] == sorted((s.score for s in scenes), reverse=True)
    assert any(len(s.lines) // LINES == MAX_MERGED for s in scenes)


@pytest.mark.parametrize("query", ["수박", "꽃게", "소스 먹었", "블루투스 배터리"])
def test_a_merged_scenes_offsets_point_into_its_text(made: Searchable, query: str) -> None:
    for scene in find(made, query).scenes:
        offsets = [line.offset for line in scene.lines]
        lines = [scene.text[a:b].strip() for a, b in pairwise([*offsets, len(scene.text)])]
        minutes = VIDEOS[scene.video]
        for line, text in zip(scene.lines, lines, strict=True):
            minute, at = divmod(line.start_ms, 60_000)
            said = [*minutes[minute], *[FILLER] * LINES][at // LINE_MS]
            assert text == said
        assert (scene.start_ms, scene.end_ms) == (scene.lines[0].start_ms, scene.lines[-1].start_ms + LINE_MS)
        assert all(mark.strip() == mark for mark in marks(scene))


def test_the_jump_goes_to_the_line_that_says_it(made: Searchable) -> None:
    (scene,) = find(made, '"간장을 조금"').scenes
    assert scene.at_ms == 60_000 + LINE_MS
    assert scene.jump_url == "https://youtu.be/stewkitchen?t=66"
    assert scene.url == "https://youtu.be/stewkitchen?t=60"
    assert scene.scores["bm25"].rank == 1


def test_a_video_from_a_nameless_file_has_no_link(made: Searchable) -> None:
    scene = find(made, "배터리").scenes[0]
    assert (scene.video, scene.url, scene.jump_url) == (CAR, None, None)


def test_the_speech_around_a_scene_is_kept_apart(made: Searchable) -> None:
    scene = next(s for s in find(made, '"간장을 조금"').scenes)
    assert scene.overlap_before == FILLER
    assert scene.overlap_after.startswith("École")
    assert "École" not in scene.text


def test_a_smaller_limit_shows_the_beginning_of_the_same_list(made: Searchable) -> None:
    everything = find(made, "수박 꽃게 소스 블루투스 새우", limit=200)
    assert len(everything.scenes) > 4
    assert everything.more is False
    for limit in range(1, len(everything.scenes) + 1):
        result = find(made, "수박 꽃게 소스 블루투스 새우", limit=limit)
        assert result.scenes == everything.scenes[:limit]
        assert result.more is (limit < len(everything.scenes))


def test_the_order_of_arrival_does_not_matter(made: Searchable, tmp_path: Path, analyzer: Analyzer) -> None:
    other = Searchable(tmp_path, analyzer, dict(reversed(list(VIDEOS.items()))))
    for query in ("꽃게", "수박", "소스 먹었"):
        for here, there in zip(find(other, query).scenes, find(made, query).scenes, strict=True):
            assert replace(here, score=0.0, scores={}) == replace(there, score=0.0, scores={})
            assert here.score == pytest.approx(there.score)  # the engine adds up in another order
    other.close()


def test_an_empty_library_finds_nothing(tmp_path: Path, analyzer: Analyzer) -> None:
    empty = Searchable(tmp_path, analyzer, {})
    assert find(empty, "꽃게 -광고").scenes == find(empty, '"꽃게"').scenes == ()
    empty.close()


def test_a_video_that_left_the_library_takes_no_place(tmp_path: Path, analyzer: Analyzer) -> None:
    """The index holds its points until the next purge; here they are the best."""
    gone = video("gonegonegon", "꽃게 꽃게")
    made = Searchable(tmp_path, analyzer, {gone: [["꽃게 꽃게 꽃게"]] * 4, CRAB: VIDEOS[CRAB]})
    assert find(made, "꽃게").scenes[0].video == gone
    made.library.remove_videos([gone.id])
    result = find(made, "꽃게", limit=1)
    assert [(s.rank, s.video) for s in result.scenes] == [(1, CRAB)]
    assert result.more is False
    made.close()


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("꽃게 프로틴", ("프로틴",)),
        ("Zyxwv 소스", ("Zyxwv",)),
        ("꽃게를 샀어요", ()),  # said
        ("느긋한 꽃게", ()),  # said, and in the name of a channel
        ("구경", ()),  # in a title alone
        ("블루투", ()),  # the beginning of a word
        ("게찜", ()),  # inside another word
        ("나는 꽃게", ()),  # without content
        ("프로틴 -꽃게 “꽃게”", ("프로틴",)),
    ],
)
def test_typed_words_that_stand_nowhere_are_named(made: Searchable, query: str, unknown: tuple[str, ...]) -> None:
    assert find(made, query).unknown_words == unknown


def test_a_word_of_a_context_alone_is_none_of_them() -> None:
    lexical = LexicalQuery(SparseVector((), ()), frozenset(), (), words_not_in_library=("육수를", "Acne"))
    assert unknown_words(lexical, ["진한 육 수를 낸다", "새우"]) == ("Acne",)
