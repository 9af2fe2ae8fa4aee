"""The library's methods, one by one; its failures are in test_store_failures, its counts in test_store_counts."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import date
from sqlite3 import connect as sqlite_connect

import pytest

from subtitle_rag.base.domain.values import Chapter, Details, Heat, Line, Morphemes, Window
from subtitle_rag.library.rows import Counts, VideoState
from subtitle_rag.library.store import Library
from tests.support.invented import RULE, analysis, dump, track, video, window, windows

ENCODER = "kiwi-1"


def put(library: Library, id: str = "video-00001", count: int = 2, **changes: object) -> list[Window]:
    own = windows(id, count)
    library.put_video(video(id, **changes), track(id.encode()), own, RULE)
    return own


def note(library: Library, *ids: str, forms: tuple[str, ...] = ("국수", "먹")) -> None:
    library.put_indexed(ENCODER, {id: ("source", analysis(*forms)) for id in ids})


def pending(library: Library) -> dict[str, list[str]]:
    return {video.id: [window.id for window in own] for video, own in library.pending()}


def test_an_empty_library_answers_everything_with_nothing(library: Library) -> None:
    assert library.counts() == Counts(0, 0, 0, 0, 0, 0)
    assert (library.videos(), library.channels(), library.pending_index_deletes(), library.find_videos("국수")) == (
        [],
        [],
        [],
        [],
    )
    assert (library.video("v"), library.track("v"), library.window("w"), library.windows_of("v")) == (None,) * 3 + ([],)
    assert (library.windows(["w"]), library.morphemes(["w"]), library.term_counts(["국수"])) == ({}, {}, {})
    assert library.containing(["국수"]) == frozenset()
    assert library.vocabulary(letters=1) == []
    assert pending(library) == {}


def test_places_are_read_without_the_texts(library: Library) -> None:
    own = put(library)
    asked: list[str] = []
    with library.database.read() as db:
        db.set_trace_callback(asked.append)
        assert library.places([own[1].id, "gone"]) == {own[1].id: (own[1].video_id, 1)}
        db.set_trace_callback(None)
        plan = [row[3] for statement in asked for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert "SEARCH window USING COVERING INDEX window_place (id=?)" in plan


def test_a_video_comes_back_as_it_was_put(library: Library) -> None:
    known = video(
        title='"따옴표"와 😀',
        url="https://www.youtube.com/watch?v=video-00001",
        published=date(2026, 5, 31),
        duration_ms=90_500,
        chapters=(Chapter(0, "처음"), Chapter(60_000, "끝")),
        source="/자막/국수.vtt",
        kind="short",
    )
    raw = replace(track(b"\x00\xffWEBVTT"), kind="asr", format="json3", flag="dub")
    own = [
        Window("w0", known.id, 0, 0, 60_000, "국수 먹고", (Line(0, 0), Line(3, 2_000)), "", "커피 마시고"),
        Window("w1", known.id, 1, 60_000, 90_000, "커피 마시고", (Line(0, 60_000),), "국수 먹고", ""),
    ]
    library.put_video(known, raw, own, RULE)
    assert library.video(known.id) == known
    assert library.track(known.id) == raw
    assert library.windows_of(known.id) == own
    assert library.window("w1") == own[1]
    assert library.windows(["w1", "gone", "w0"]) == {"w0": own[0], "w1": own[1]}
    assert library.videos() == [VideoState(known, 2, 0, False, None, {}, None)]
    assert library.counts() == Counts(channels=1, videos=1, due=0, failed=0, windows=2, searchable=0)


DETAILS = Details(
    description='첫 줄\n\n"둘째" 😀',
    thumbnail="https://i.ytimg.com/vi/a/hq720.jpg",
    heatmap=(Heat(0, 3_510, 1.0), Heat(3_510, 7_020, 0.1234)),
)


@pytest.mark.parametrize("details", [Details(), DETAILS])
def test_details_come_back_as_they_were_put(library: Library, details: Details) -> None:
    library.put_video(video(), track(), [], RULE, details)
    assert library.details("video-00001") == details


def test_details_stay_until_newer_ones_or_the_videos_end(library: Library) -> None:
    assert library.details("video-00001") == Details()
    library.put_video(video(), track(), [], RULE, DETAILS)
    put(library)
    assert library.details("video-00001") == DETAILS
    library.put_video(video(), track(), [], RULE, Details("다른 설명"))
    assert library.details("video-00001") == Details("다른 설명")
    library.remove_videos(["video-00001"])
    assert library.details("video-00001") == Details()
    assert dump(library.path)["detail"] == []


def test_windows_of_another_rule_are_stale_until_it_is_noted_that_there_are_none(library: Library) -> None:
    assert library.stale("rule-2") == []
    put(library, "video-00001")
    put(library, "video-00002", count=0)
    library.put_video(video("video-00003"), track(), windows("video-00003", 1), "rule-2")
    assert library.stale("rule-2") == ["video-00001", "video-00002"]
    assert set(library.stale(RULE)) == {"video-00002", "video-00003"}
    library.put_video(video("video-00001"), track(), windows("video-00001", 1), "rule-2")
    library.put_rule("rule-2")
    assert library.stale("rule-2") == []
    assert set(library.stale("rule-3")) == {"video-00001", "video-00002", "video-00003"}


def test_what_is_there_survives_closing(library: Library) -> None:
    own = put(library)
    library.close()
    with closing(Library(library.path)) as again:
        assert again.windows_of("video-00001") == own
    assert library.windows_of("video-00001") == own  # a closed library opens anew


def test_has_tells_an_unchanged_video_from_every_change(library: Library) -> None:
    known, raw = video(), track(b"video-00001")
    assert library.has(known, raw.sha256, RULE) is None
    put(library, count=2)
    assert library.has(known, raw.sha256, RULE) == 2
    assert library.has(known, "other bytes", RULE) is None
    assert library.has(known, raw.sha256, "rule-2") is None
    assert library.has(video(title="새 제목"), raw.sha256, RULE) is None
    assert library.has(video(published=date(2026, 1, 1)), raw.sha256, RULE) is None
    assert library.has(video(channel="다른 이름"), raw.sha256, RULE) is None


def test_has_knows_a_video_without_windows(library: Library) -> None:
    put(library, count=0)
    assert library.has(video(), track(b"video-00001").sha256, "any rule") == 0


def test_has_takes_no_failed_video_for_an_unchanged_one(library: Library) -> None:
    put(library)
    library.put_failure(video(), "no_cues", {"path": "x"})
    assert library.has(video(), track(b"video-00001").sha256, RULE) is None


def test_a_replaced_video_leaves_no_window_term_or_analysis_of_before(library: Library) -> None:
    before = put(library, count=3)
    note(library, *(w.id for w in before), forms=("국수", "먹"))
    library.put_video(video(title="새 제목"), track(b"new"), [window("video-00001", 7, "만두")], RULE)
    assert library.video("video-00001") == video(title="새 제목")
    assert library.track("video-00001") == track(b"new")
    assert [w.ordinal for w in library.windows_of("video-00001")] == [7]
    assert library.morphemes([w.id for w in before]) == {}
    assert library.term_counts(["국수", "먹"]) == {}
    assert library.counts() == Counts(1, 1, 0, 0, 1, 0)
    assert library.pending_index_deletes() == ["video-00001"]


def test_a_channel_takes_its_newest_name(library: Library) -> None:
    put(library, "video-00001", channel="옛 이름")
    put(library, "video-00002", channel="새 이름")
    assert library.channels() == [("channel", "새 이름")]


def test_a_failure_is_told_and_leaves_what_was_there(library: Library) -> None:
    own = put(library)
    library.put_failure(video(title="새 제목"), "not_captions", {"path": "/가.vtt", "reason": "빈 파일"})
    (state,) = library.videos()
    assert (state.failure, state.details) == ("not_captions", {"path": "/가.vtt", "reason": "빈 파일"})
    assert (state.video, state.windows) == (video(), 2)
    assert library.windows_of("video-00001") == own
    assert library.counts().failed == 1


def test_a_video_that_only_ever_failed_is_listed(library: Library) -> None:
    library.put_failure(video(), "no_cues", {})
    assert library.videos() == [VideoState(video(), 0, 0, False, "no_cues", {}, None)]
    assert library.track("video-00001") is None


def test_a_known_failure_writes_nothing(library: Library) -> None:
    library.put_failure(video(), "no_cues", {"path": "a"})
    with closing(sqlite_connect(library.path)) as watcher:

        def wrote(code: str, path: str) -> bool:
            before = watcher.execute("PRAGMA data_version").fetchone()
            library.put_failure(video(), code, {"path": path})
            return bool(watcher.execute("PRAGMA data_version").fetchone() != before)

        rows = dump(library.path)
        assert not wrote("no_cues", "a")
        assert dump(library.path) == rows
        assert wrote("no_cues", "b")
        assert wrote("not_captions", "b")
        assert watcher.execute("SELECT tries FROM stage").fetchall() == [(3,)]


def test_a_removed_video_takes_all_of_itself_along(library: Library) -> None:
    own = put(library, "video-00001")
    put(library, "video-00002", channel_id="other")
    note(library, *(w.id for w in own))
    library.remove_videos(["video-00001"])
    library.remove_videos(["never there"])
    left = dump(library.path)
    assert library.pending_index_deletes() == ["video-00001"]
    assert [row[0] for row in left["video"]] == ["video-00002"]
    assert [row[0] for row in left["channel"]] == ["other"]
    assert [row[0] for row in left["track"]] == ["video-00002"]
    assert {row[1] for row in left["window"]} == {"video-00002"}
    assert (left["indexed"], left["analysis"], left["term"]) == ([], [], [])


def test_videos_come_by_channel_newest_first(library: Library) -> None:
    put(library, "video-b-old", channel_id="b", channel="나", published=date(2020, 1, 1))
    put(library, "video-b-new", channel_id="b", channel="나", published=date(2026, 1, 1))
    put(library, "video-a", channel_id="a", channel="가")
    assert [state.video.id for state in library.videos()] == ["video-a", "video-b-new", "video-b-old"]
    assert library.channels() == [("a", "가"), ("b", "나")]


@pytest.mark.parametrize(
    "typed", ["매운 국수", "매운국수", " 매 운 국 수 ", "매운\u3000국수", "Kitchen", "KITCHEN 매운", "É"]
)
def test_a_video_is_found_by_any_part_of_its_title(library: Library, typed: str) -> None:
    put(library, "video-00001", title="É kitchen 매운 국수")
    put(library, "video-00002", title="순한 만두")
    assert library.find_videos(typed) == ["video-00001"]


@pytest.mark.parametrize("typed", ["없는 말", "", "  ", "%", "_", "*", "' OR 1=1 --", "é"])
def test_nothing_else_finds_a_video(library: Library, typed: str) -> None:
    put(library, title="É kitchen 매운 국수")
    assert library.find_videos(typed) == []


def test_an_id_finds_its_own_video_before_any_title_does(library: Library) -> None:
    put(library, "video-00001", title="국수")
    put(library, "video-00002", title="about video-00001")
    assert library.find_videos("video-00001") == ["video-00001"]
    assert library.find_videos("VIDEO-00001") == ["video-00002"]


@pytest.mark.parametrize(
    ("phrases", "found"),
    [
        (["국수를 먹"], {0}),
        (["국수를먹"], {0}),
        (["수 를"], {0}),
        (["python"], {1}),
        (["ÉCOLE"], {1}),
        (["국수", "매워요"], {0}),
        (["국수", "python"], set()),
        (["%"], set()),
        (["어요"], {0, 1}),
    ],
)
def test_phrases_are_found_whatever_the_spaces(library: Library, phrases: list[str], found: set[int]) -> None:
    texts = ["국수를 먹었어요 매워요", "Python ÉCOLE 봤 어요"]
    own = [window("v", ordinal, text) for ordinal, text in enumerate(texts)]
    library.put_video(video("v"), track(), own, RULE)
    assert library.containing(phrases) == {own[ordinal].id for ordinal in found}


def test_windows_have_whole_morphemes(library: Library) -> None:
    own = [window("v", ordinal, text) for ordinal, text in enumerate(["국수 먹", "보", "", "국수"])]
    library.put_video(video("v"), track(), own, RULE)
    for each, said in zip(own, [("국수", "먹"), ("보", "먹"), (), ("국수",)], strict=True):
        note(library, each.id, forms=said)
    ids = [own[0].id, own[1].id, own[2].id]
    assert library.forms(ids) == {ids[0]: "\n국수\n먹\n", ids[1]: "\n보\n먹\n", ids[2]: "\n\n"}
    assert library.texts(ids[:2]) == {own[0].id: "국수 먹", own[1].id: "보"}


def test_pending_is_what_this_encoder_has_not_done(library: Library) -> None:
    first = [w.id for w in put(library, "video-00001")]
    second = [w.id for w in put(library, "video-00002")]
    assert pending(library) == {"video-00001": first, "video-00002": second}
    note(library, *first, second[0])
    assert pending(library) == {"video-00002": second}  # whole videos: a window's vector names its neighbours
    note(library, second[1])
    assert pending(library) == {}
    known = {video.id: [window.id for window in own] for video, own in library.with_windows()}
    assert known == {"video-00001": first, "video-00002": second}
    assert library.counts().searchable == 4


def test_analyses_come_back_as_they_were_noted(library: Library) -> None:
    own = put(library)
    found = Morphemes(("국수", "😀", "국수"), (0, 3, 70_000), (2, 4, 70_002))
    library.put_indexed(ENCODER, {own[0].id: ("s", found), own[1].id: ("s", Morphemes((), (), ()))})
    assert library.morphemes([w.id for w in own]) == {own[0].id: found, own[1].id: Morphemes((), (), ())}


def test_the_vocabulary_holds_long_forms_that_stand_somewhere(library: Library) -> None:
    first, second = put(library)
    note(library, first.id, forms=("칼국수", "국수", "먹"))
    note(library, second.id, forms=("수제비",))
    assert set(library.vocabulary(letters=3)) == {"칼국수", "수제비"}
    assert set(library.vocabulary(letters=2)) == {"칼국수", "수제비", "국수"}
    library.put_indexed(ENCODER, {first.id: ("s", analysis("만두피"))})
    assert set(library.vocabulary(letters=3)) == {"만두피", "수제비"}


def test_terms_of_contexts_are_in_the_vocabulary_as_long_as_their_windows(library: Library) -> None:
    first, second = put(library)
    noted = {each.id: ("s", analysis("국수")) for each in (first, second)}
    library.put_indexed(ENCODER, noted, {first.id: ["르메르", "다온"], second.id: ["르메르"], "gone": ["자켓"]})
    assert library.term_counts(["국수", "르메르", "다온", "자켓"]) == {"국수": 2, "르메르": 2, "다온": 1}
    assert library.vocabulary(letters=3) == ["르메르"]
    library.put_source_hashes({first.id: "t"}, {first.id: ["소매"]})
    assert library.term_counts(["국수", "르메르", "다온", "소매"]) == {"국수": 2, "르메르": 1, "소매": 1}
    library.remove_videos([first.video_id])
    assert library.vocabulary(letters=1) == []
    with library.database.read() as db:
        assert db.execute("SELECT count(*) FROM context_term").fetchone() == (0,)


def test_threads_write_and_read_one_library(library: Library) -> None:
    def work(number: int) -> int:
        id = f"video-{number:05d}"
        own = put(library, id, count=3)
        note(library, *(w.id for w in own))
        found = len(library.windows_of(id))
        library.close()
        return found

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(24))) == [3] * 24
    assert library.counts() == Counts(1, 24, 0, 0, 72, 72)
    assert library.term_counts(["국수", "먹"]) == {"국수": 72, "먹": 72}
