"""The writer's run: what is asked, what is kept, and what search makes of it; failures are in test_writer_failures."""

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.events import ContextsDue, ContextWritten
from subtitle_rag.contexts.answer_check import COPY_REMINDER, UNRELATED_REMINDER
from subtitle_rag.contexts.context_prompt import INSTRUCTIONS
from subtitle_rag.contexts.context_text import left_out_reason
from subtitle_rag.contexts.prompt_layout import VERSION
from subtitle_rag.contexts.sentence_filters import SCRIPT_REMINDER
from subtitle_rag.library.context_store import TRIES, WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.search.query import parse_query
from tests.contexts.desk import NAME, Desk, meanwhile, talk, windows_asked
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.support.failures import failing
from tests.support.searchable import LINES, video

ONLY_IN_CONTEXT = "두레반 삼촌이 기차에서 국수를 먹으며 그림을 보여 주는 장면입니다."


@pytest.fixture
def second() -> Iterator[StandIn]:
    with StandIn() as server:
        server.add(Model(NAME))
        yield server


def test_the_newest_video_is_written_first_and_each_as_a_whole(desk: Desk) -> None:
    desk.put("old", talk(2, seed=1), published="2025-01-01")
    desk.put("unknown", talk(2, seed=2))
    desk.put("new", talk(2, seed=3), published="2026-01-01")
    report = desk.write()
    assert desk.events[0] == ContextsDue(videos=3, windows=6)
    assert [(event.video, event.ordinal) for event in desk.written] == [
        (id, ordinal) for id in ("new", "old", "unknown") for ordinal in (0, 1)
    ]
    assert (report.written, report.empty, report.failed, report.blocked) == (6, 0, 0, None)


def test_a_context_is_kept_with_all_that_it_came_from(desk: Desk) -> None:
    own = desk.put("a", talk(2))
    report = desk.write()
    for context, window, asked in zip(desk.contexts("a"), own, desk.chats(), strict=True):
        assert (context.window_id, context.video_id, context.model) == (window.id, "a", NAME)
        assert (context.digest, context.prompt) == (Model(NAME).digest, VERSION)
        assert (context.scope, context.seed, context.tries, context.stale) == ("full", 7, 1, False)
        assert context.prompt_tokens == asked.cached + asked.evaluated
        assert context.raw == f'{{"context": "{context.text}"}}'
        assert context.tokens > 0
        assert context.ms > context.prompt_ms > 0
        assert context.written_at > 1_700_000_000
    assert report.prompt_tokens == sum(context.prompt_tokens for context in desk.contexts("a"))
    assert report.tokens == sum(context.tokens for context in desk.contexts("a"))


def test_each_context_is_stored_before_the_next_window_is_asked_about(desk: Desk) -> None:
    desk.put("a", talk(4))
    stored: list[int] = []

    def counted(sent: object) -> str:
        with closing(Library(desk.place.library.path)) as other:
            stored.append(other.contexts.counts().written)
        return f"{ONLY_IN_CONTEXT} 국수를 {['냄비', '접시', '쟁반', '그릇'][len(stored) - 1]}에 담습니다."

    desk.ollama.answer(*[counted] * 4)
    desk.write()
    assert stored == [0, 1, 2, 3]


def test_a_scene_is_found_by_its_context_as_soon_as_that_is_told(desk: Desk) -> None:
    own = desk.put("a", talk(3))
    assert desk.search("두레반") == ()
    desk.ollama.answer("국수를 삶기 시작하는 장면입니다.", ONLY_IN_CONTEXT)
    with desk.writer() as writer:
        for event in writer.run():
            if isinstance(event, ContextWritten) and event.window == own[1].id:
                best = desk.search("두레반")[0]
                assert (best.id, best.context) == (own[1].id, ONLY_IN_CONTEXT)
                break
        else:
            pytest.fail("nothing was told")


def test_a_word_of_a_context_is_known_to_the_search(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.answer(ONLY_IN_CONTEXT)
    searcher = desk.place.searcher
    assert searcher.search(parse_query("두레반")).unknown_words == ("두레반",)
    desk.write()
    assert searcher.search(parse_query("두레반")).unknown_words == ()


def test_a_video_s_windows_are_read_once_for_all_of_its_contexts(desk: Desk) -> None:
    windows = [*desk.put("a", talk(3)), *desk.put("b", talk(3, seed=2))]
    desk.write()
    indexer, statements = desk.place.indexer, list[str]()
    with desk.place.library.database.read() as db:
        db.set_trace_callback(statements.append)
    queries = []
    for window in windows:
        statements.clear()
        indexer.add_contexts({window.video_id: [window.id]})
        reads = [statement for statement in statements if statement.startswith("SELECT")]
        queries.append((len(reads), sum("FROM window WHERE video_id" in statement for statement in reads)))
    assert [whole for _reads, whole in queries] == [1, 0, 0, 1, 0, 0]
    assert {reads for reads, whole in queries if not whole} == {queries[0][0] - 2}


def test_captions_that_changed_since_the_last_context_are_read_anew(desk: Desk) -> None:
    def sources() -> list[tuple[str]]:
        with desk.place.library.database.read() as db:
            return db.execute("SELECT source_hash FROM indexed ORDER BY window_id").fetchall()

    own = desk.put("a", talk(3))
    desk.write()
    indexer = desk.place.indexer
    indexer.add_contexts({"a": [own[0].id]})
    own = desk.put("a", talk(3, seed=5))
    desk.write()
    made = sources()
    indexer.add_contexts({"a": [window.id for window in own]})
    assert sources() == made


def test_speech_stays_speech(desk: Desk) -> None:
    (own,) = desk.put("a", talk(1))
    before = desk.search("번째 이야기")[0]
    desk.ollama.answer(ONLY_IN_CONTEXT)
    desk.write()
    after = desk.search("번째 이야기")[0]
    assert after.context == ONLY_IN_CONTEXT
    assert (after.text, after.lines, after.highlights) == (before.text, before.lines, before.highlights)
    assert desk.place.library.windows_of("a") == [own]
    assert desk.search("두레반")[0].highlights == ()


def test_what_is_written_is_not_asked_for_again(desk: Desk) -> None:
    desk.put("a", talk(2))
    desk.write()
    desk.put("b", talk(1, seed=2))
    desk.ollama.clear()
    assert desk.write().written == 1
    assert len(desk.chats()) == 1
    desk.ollama.clear()
    assert desk.write().written == 0
    assert desk.events[0] == ContextsDue(0, 0)
    assert desk.chats() == []


def test_another_model_writes_all_anew_while_the_old_contexts_count(desk: Desk) -> None:
    desk.ollama.add(Model("better:q4"))
    own = desk.put("a", talk(2))
    desk.write()
    old = [context.text for context in desk.contexts("a")]
    desk.ollama.answer(ONLY_IN_CONTEXT)
    desk.write(WindowSelection(limit=1), model="better:q4")
    assert [context.text for context in desk.contexts("a")] == [ONLY_IN_CONTEXT, old[1]]
    desk.write(model="better:q4")
    assert {context.model for context in desk.contexts("a")} == {"better:q4"}
    assert desk.search("두레반")[0].id == own[0].id


def test_captions_that_change_in_the_middle_are_begun_anew(desk: Desk) -> None:
    desk.put("a", talk(3, seed=1))
    hold = desk.ollama.hold()

    def change() -> None:
        hold.arrived.wait(20)
        desk.put_captions(video("a"), talk(3, seed=2))
        desk.place.library.close()
        hold.release()

    with meanwhile(change):
        desk.write()
    own = desk.place.library.windows_of("a")
    assert windows_asked(desk.chats())[1:] == [window.text for window in own]
    assert [context.window_id for context in desk.contexts("a")] == [window.id for window in own]
    for _made in desk.place.indexer.finish():
        pass
    assert desk.place.library.contexts.unindexed() == {}


def test_a_video_that_leaves_in_the_middle_is_left_alone(desk: Desk) -> None:
    desk.put("gone", talk(3, seed=1), published="2026-05-02")
    desk.put("stays", talk(2, seed=2), published="2026-05-01")
    hold = desk.ollama.hold()

    def remove() -> None:
        hold.arrived.wait(20)
        with closing(Library(desk.place.library.path)) as other:
            other.remove_videos(["gone"])
        hold.release()

    with meanwhile(remove):
        report = desk.write()
    assert (report.written, report.failed) == (2, 0)
    assert {context.video_id for context in desk.contexts()} == {"stays"}
    assert len(desk.chats()) == 3


def test_a_limit_counts_windows(desk: Desk) -> None:
    desk.put("a", talk(3, seed=1), published="2026-05-02")
    desk.put("b", talk(3, seed=2), published="2026-05-01")
    assert desk.write(WindowSelection(limit=4)).written == 4
    assert [event.video for event in desk.written] == ["a", "a", "a", "b"]
    assert len(desk.chats()) == 4


@pytest.mark.campaign(part="flows")
def test_a_limit_asks_for_nothing_more_not_even_an_overview(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("short", talk(2, seed=1), published="2026-05-02")
    desk.put("long", talk(14, seed=2, words=30), published="2026-05-01")
    desk.write(WindowSelection(limit=2), model="small:q4")
    assert len(desk.chats()) == 2


def test_channels_and_videos_can_be_chosen(desk: Desk) -> None:
    for number, channel in enumerate(("느린 부엌", "느린 부엌", "빠른 부엌")):
        desk.put(f"v{number}", talk(1, seed=number), channel=channel)
    assert desk.write(WindowSelection(channels=("빠른 부엌",))).written == 1
    assert desk.written[0].video == "v2"
    assert desk.write(WindowSelection(videos=("v1",))).written == 1
    assert desk.written[0].video == "v1"
    assert desk.write(WindowSelection(channels=("느린 부엌",), videos=("v2",))).written == 0


INVENTED = "'두레반칼국수'라는 가게에서 5000그릇을 파는 장면입니다."


def test_what_stands_nowhere_in_the_video_is_asked_for_once_more_by_its_name(desk: Desk) -> None:
    own = desk.put("a", talk(2))
    desk.ollama.answer(INVENTED, "국수를 삶아 먹는 장면입니다.")
    report = desk.write(WindowSelection(limit=1))
    assert (report.written, report.left_out, report.suspect) == (1, 0, 0)
    first, second = desk.chats()
    assert "두레반칼국수" in second.messages[-1]["content"]
    assert first.messages[0] == second.messages[0]
    assert [(each.window_id, each.text) for each in desk.contexts()] == [(own[0].id, "국수를 삶아 먹는 장면입니다.")]


def test_what_names_the_same_again_is_left_out_and_counted_apart(desk: Desk) -> None:
    own = desk.put("a", talk(3))
    desk.ollama.answer("국수를 삶아 먹는 장면입니다.", INVENTED, INVENTED)
    report = desk.write(WindowSelection(limit=2))
    assert (report.written, report.empty, report.left_out, report.suspect) == (1, 0, 1, 0)
    assert [event.left_out for event in desk.written] == [False, True]
    ((id, dropped),) = desk.place.library.contexts.left_out("a").items()
    assert (id, dropped.text, dropped.raw, dropped.tries) == (own[1].id, "", INVENTED, 2)
    assert {what for _kind, what in dropped.doubts} >= {"두레반칼국수"}
    assert {kind for kind, _what in dropped.doubts} >= {"number"}
    assert left_out_reason(dropped).startswith("it names what the video does not: ")
    counts = desk.place.library.contexts.counts()
    assert (counts.written, counts.empty, counts.left_out, counts.due) == (1, 0, 1, 1)
    desk.ollama.clear()
    assert desk.write().written == 1
    assert len(desk.chats()) == 1


def test_an_answer_that_copies_captions_title_or_prompt_is_asked_for_once_more_and_left_out(desk: Desk) -> None:
    windows = desk.put("a", talk(4))
    copies = [f"{window.text}입니다." for window in windows] + ["a 국수 이야기입니다."]
    desk.ollama.answer(copies[1], copies[3], "요리사가 국수를 삶는 장면입니다.", copies[4], copies[0])
    report = desk.write(WindowSelection(limit=3))
    assert (report.written, report.left_out, report.empty) == (1, 2, 0)
    assert COPY_REMINDER in desk.chats()[1].messages[-1]["content"]
    dropped = desk.place.library.contexts.left_out("a")
    assert {left_out_reason(each) for each in dropped.values()} == {
        "it only repeats the captions, the title or the instructions"
    }
    assert all(each.text not in copies for each in desk.contexts())


def test_an_answer_without_a_word_of_its_video_is_asked_for_once_more_and_left_out(desk: Desk) -> None:
    desk.put("a", talk(2))
    talk_of_the_task = "이 구간이 어떤 부분인지 한국어 한 문장으로만 쓴다."
    elsewhere = "이 층은 위층으로 올라가는 계단입니다."
    own = "요리사가 국수를 삶는 장면입니다."
    desk.ollama.answer(talk_of_the_task, f"{own} {elsewhere}", elsewhere, talk_of_the_task)
    report = desk.write()
    assert (report.written, report.left_out, report.empty) == (1, 1, 0)
    assert [context.text for context in desk.contexts() if context.text] == [own]
    assert UNRELATED_REMINDER in desk.chats()[1].messages[-1]["content"]
    (dropped,) = desk.place.library.contexts.left_out("a").values()
    assert left_out_reason(dropped) == "it has hardly a word of the video"


def test_an_answer_that_begins_as_a_copy_is_ended_before_it_is_whole(desk: Desk) -> None:
    windows = desk.put("a", talk(1, words=20))
    said = json.dumps({"context": windows[0].text[:290]}, ensure_ascii=False)
    desk.ollama.answer(Turn(said, pace=0.005), "요리사가 국수를 삶는 장면입니다.")
    report = desk.write()
    first, second = desk.chats()
    assert first.ended.wait(20)
    assert (first.outcome, second.outcome) == ("gone", "answered")
    assert COPY_REMINDER in second.messages[-1]["content"]
    assert report.written == 1


def test_a_korean_context_of_captions_in_another_language_needs_none_of_their_words(desk: Desk) -> None:
    desk.put_video(video("a", "A talk", "English", None), [["we cook noodles in the pot"] * LINES])
    desk.ollama.answer("요리사가 면을 삶는 장면입니다.")
    assert desk.write().written == 1


def test_no_sentence_of_the_prompt_s_rules_is_a_context(desk: Desk) -> None:
    """Each line before the title comes as the answer, in its turn."""
    desk.put("a", talk(1))
    desk.write()
    rules = desk.chats()[0].messages[0]["content"].partition("\n제목:")[0].splitlines()
    assert len(rules) > 8
    desk.put("b", talk(len(rules), seed=2))
    desk.ollama.answer(*(line for line in rules for _try in range(2)))
    assert desk.write(WindowSelection(videos=("b",))).written == 0


def test_a_summary_that_copies_its_instruction_is_none(desk: Desk) -> None:
    desk.put("a", talk(1))
    instruction = INSTRUCTIONS[-1]
    desk.ollama.answer("국수를 삶아 먹는 장면입니다.", instruction, instruction)
    desk.write(summaries=True)
    assert desk.place.library.summaries.all() == {}


def test_a_model_that_always_says_the_same_finds_no_window_but_one(desk: Desk) -> None:
    for number in range(2):
        desk.put(f"v{number}", talk(4, seed=number))
    desk.ollama.add(Model("same:q4", behaviour=lambda _sent: "유별난 두레반 국수를 먹는 장면입니다."))
    report = desk.write(model="same:q4")
    assert (report.written, report.left_out) == (1, 7)
    assert len(desk.chats()) == 1 + 2 * 7
    assert "다른 구간과 같은 설명" in desk.chats()[-1].messages[-1]["content"]
    assert len(desk.search("유별난")) == 1


def test_the_repetition_of_another_videos_context_in_another_order_is_one(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.put("b", talk(1, seed=2))
    desk.ollama.answer("국수를 삶아 먹는 장면입니다.", "삶아 먹는, 국수를 장면입니다!", "먹는 국수를 삶아 장면입니다.")
    desk.write(WindowSelection(videos=("a",)))
    assert desk.write(WindowSelection(videos=("b",))).left_out == 1


def test_a_context_may_say_what_its_window_has_had_before(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.answer("국수를 삶아 먹는 장면입니다.", "국수를 삶아 먹는 장면입니다.")
    desk.write()
    assert desk.write(WindowSelection(redo=True)).written == 1


def test_a_killed_run_asks_only_for_the_second_time(desk: Desk) -> None:
    desk.put("a", talk(1))
    stop = threading.Event()

    def last_words(_sent: object) -> str:
        stop.set()
        return INVENTED

    desk.ollama.answer(INVENTED, last_words)
    desk.write(stop=stop)
    assert desk.contexts() == []
    assert desk.place.library.contexts.left_out() == {}
    desk.ollama.clear()
    desk.ollama.answer("국수를 삶아 먹는 장면입니다.")
    assert desk.write().written == 1
    assert len(desk.chats()) == 1


def test_a_doubted_text_of_an_older_version_goes_when_it_is_written_anew(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.answer("두레반 국수를 먹는 장면입니다.")
    desk.write()
    with closing(sqlite3.connect(desk.place.library.path)) as db, db:
        db.execute("UPDATE context SET doubts = ?", (json.dumps([["name", "두레반"]]),))
    (before,) = desk.search("두레반")
    desk.ollama.answer(INVENTED, INVENTED)
    assert desk.write(WindowSelection(redo=True)).left_out == 1
    assert desk.contexts() == []
    assert before.reason == "context"
    assert desk.search("두레반") == ()
    (point,) = desk.place.index.points()
    assert point.payload["context"] is None


def test_a_left_out_context_leaves_the_index_that_an_older_version_kept_it_in(desk: Desk) -> None:
    desk.put("a", talk(2))
    desk.ollama.answer("두레반 국수를 먹는 장면입니다.", "바다를 보는 장면입니다.")
    desk.write()
    library = desk.place.library
    (context,) = [context for context in desk.contexts("a") if "두레반" in context.text]
    assert library.contexts.put(replace(context, doubts=(("name", "두레반"),)))
    assert library.contexts.put(replace(context, text="", doubts=(("name", "두레반"),), tries=TRIES))
    assert "두레반" in [str(point.payload["context"])[:3] for point in desk.place.index.points()]
    assert library.contexts.unindexed() == {"a": [context.window_id]}
    desk.write()
    assert "두레반" not in [str(point.payload["context"])[:3] for point in desk.place.index.points()]
    assert library.contexts.unindexed() == {}


def test_a_context_in_chinese_is_asked_for_once_more_in_hangul(desk: Desk) -> None:
    desk.put("a", talk(2))
    slip = "국수를 삶는 장면입니다. 동네의 '名物' 요리를 소개합니다."
    desk.ollama.answer("该公司位于首尔。", "국수를 삶아 먹는 장면입니다.", slip, slip)
    assert desk.write().written == 2
    assert [context.text for context in desk.contexts("a")] == [
        "국수를 삶아 먹는 장면입니다.",
        "국수를 삶는 장면입니다.",
    ]
    asked = [request.messages[-1]["content"] for request in desk.ollama.asked("chat")]
    assert [SCRIPT_REMINDER in content for content in asked] == [False, True, False, True]


def test_a_name_of_the_glossary_raises_no_doubt(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.place.library.contexts.put_glossary("느린 부엌", ["두레반칼국수"])
    desk.ollama.answer("'두레반칼국수'라는 가게에서 국수를 먹는 장면입니다.")
    assert desk.write().suspect == 0


def test_two_hosts_share_the_work(desk: Desk, second: StandIn) -> None:
    for number in range(4):
        desk.put(f"v{number}", talk(3, seed=number))
    holds = [server.hold() for server in (desk.ollama, second)]  # until both have begun

    def release() -> None:
        for hold in holds:
            hold.arrived.wait(20)
        for hold in holds:
            hold.release()

    with meanwhile(release):
        report = desk.write(servers=[desk.ollama, second])
    assert report.written == 12
    asked = [windows_asked(server.asked("chat")) for server in (desk.ollama, second)]
    assert min(map(len, asked)) >= 3
    assert set(Counter(asked[0] + asked[1]).values()) == {1}
    assert len(desk.contexts()) == 12
    videos = [{a.messages[0]["content"] for a in server.asked("chat")} for server in (desk.ollama, second)]
    assert videos[0].isdisjoint(videos[1])  # each video on one host


def test_a_host_with_another_version_of_the_model_is_left_out(desk: Desk, second: StandIn) -> None:
    second.add(Model(NAME, digest="f" * 64))
    for number in range(3):
        desk.put(f"v{number}", talk(2, seed=number))
    assert desk.write(servers=[desk.ollama, second]).written == 6
    assert second.asked("chat") == []


def test_a_second_writer_waits_its_turn(desk: Desk) -> None:
    desk.put("a", talk(2))
    with desk.writer() as one, desk.writer() as other:
        running = one.run()
        next(running)
        with failing("busy", BusyError):
            next(other.run())
        running.close()  # type: ignore[attr-defined]
        assert sum(isinstance(event, ContextWritten) for event in other.run()) > 0


def test_contexts_of_videos_that_are_not_searchable_yet_come_in_with_them(desk: Desk) -> None:
    desk.put_captions(video("a"), talk(2))
    desk.ollama.answer(ONLY_IN_CONTEXT)
    desk.write()
    for _made in desk.place.indexer.finish():
        pass
    assert desk.search("두레반")[0].context == ONLY_IN_CONTEXT


def test_the_next_run_takes_into_the_index_what_was_left_out(desk: Desk) -> None:
    own = desk.put("a", talk(1))
    desk.ollama.answer("국수를 삶는 장면입니다.")
    desk.write()
    (context,) = desk.contexts("a")
    library = desk.place.library
    assert library.contexts.put(replace(context, text=ONLY_IN_CONTEXT))  # and then the program was killed
    assert library.contexts.unindexed() == {"a": [own[0].id]}
    assert desk.search("두레반") == ()
    desk.write()
    assert desk.search("두레반")[0].id == own[0].id
    assert library.contexts.unindexed() == {}


@pytest.mark.parametrize(
    "behaviour", ["preamble", "thinks", "think_leak", "chinese", "empty", "refusal", "loop", "normal"]
)
def test_whatever_a_model_says_ends_in_a_clean_context_or_none(desk: Desk, behaviour: str) -> None:
    desk.ollama.add(Model("messy:q4", behaviour=behaviour, capabilities=("completion", "thinking")))
    desk.put("a", talk(2))
    report = desk.write(model="messy:q4")
    clean = behaviour in ("preamble", "thinks", "think_leak", "normal")
    assert (report.written, report.empty) == ((2, 0) if clean else (0, 2))
    assert len(desk.chats()) == (2 if clean else 4)
    for context in desk.contexts("a"):
        assert context.text.startswith("a 국수 이야기 영상에서 ")
        assert context.text.endswith("이야기를 하는 부분입니다.")
        assert not set("<>{}\n") & set(context.text)
    desk.ollama.clear()
    desk.write(model="messy:q4")
    assert desk.chats() == []


def test_a_context_that_falls_into_a_loop_is_dropped_and_asked_for_with_the_other_seed(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.answer("국수를 삶아 먹는 장면입니다. " * 30, "국수를 건져 찬물에 헹구는 장면입니다.")
    report = desk.write()
    assert [context.text for context in desk.contexts()] == ["국수를 건져 찬물에 헹구는 장면입니다."]
    assert [asked.options["seed"] for asked in desk.chats()] == [7, 1_234]
    assert (report.written, report.empty) == (1, 0)


def test_a_summary_that_falls_into_a_loop_is_asked_for_with_the_other_seed(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(30, words=6))
    desk.ollama.answer("손님들이 국수를 먹습니다. " * 30, "손님들이 시장에서 국수와 김밥을 먹습니다.")
    desk.write(WindowSelection(limit=1), model="small:q4")
    assert "손님들이 시장에서 국수와 김밥을 먹습니다." in desk.place.library.contexts.overview_sections("long").values()
    assert [asked.options["seed"] for asked in desk.chats()][:3] == [7, 1_234, 7]


def test_other_captions_of_one_video_redo_that_video_only(desk: Desk) -> None:
    desk.put("a", talk(2, seed=1))
    desk.put("b", talk(2, seed=2))
    desk.write()
    kept = desk.contexts("b")
    own = desk.put("a", talk(3, seed=3))
    assert desk.contexts() == kept
    desk.ollama.clear()
    assert desk.write().written == 3
    assert windows_asked(desk.chats()) == [window.text for window in own]
    assert desk.contexts("b") == kept
