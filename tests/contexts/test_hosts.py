"""What a run tells of its requests while it waits for them."""

import threading

import pytest

from subtitle_rag.contexts.hosts import SPEED_TOKENS
from subtitle_rag.domain.events import ContextWritten, ModelRequest
from subtitle_rag.library.context_store import WindowSelection
from tests.contexts.desk import Desk, talk


def requests(desk: Desk) -> list[ModelRequest]:
    return [event for event in desk.events if isinstance(event, ModelRequest)]


def test_the_first_prompt_of_a_video_is_told_before_its_answer_and_later_ones_without_its_captions(desk: Desk) -> None:
    desk.put("a", talk(30))
    hold = desk.ollama.hold()
    told: list[object] = []
    with desk.writer() as writer:
        for event in writer.run(WindowSelection(limit=2)):
            told.append(event)
            if isinstance(event, ModelRequest):
                hold.release()  # the model has not answered anything yet
    states = [each.state if isinstance(each, ModelRequest) else type(each).__name__ for each in told]
    assert states == ["ContextsDue", *(["reading", "writing", "ContextWritten"] * 2), "ContextReport"]
    first, second = (each for each in told if isinstance(each, ModelRequest) and each.state == "reading")
    (sent, _later) = desk.chats()
    assert first.tokens > sum(len(message["content"]) for message in sent.messages) // 2
    assert first.video == "a"
    assert second.tokens < first.tokens / 4
    assert first.seconds == 0, "nothing was read before"


@pytest.mark.campaign(part="flows")
def test_the_time_of_reading_follows_from_what_was_read_before(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.put(name, talk(3, seed=ord(name), words=30))
    desk.write()
    long = [each for each in requests(desk) if each.state == "reading" and each.tokens >= SPEED_TOKENS]
    assert [each.seconds > 0 for each in long] == [False, True]
    read = next(each for each in desk.contexts() if each.video_id == long[0].video)
    assert long[1].seconds == pytest.approx(long[1].tokens * read.prompt_ms / read.prompt_tokens / 1000, abs=1)


def test_a_retry_is_told_with_its_number_and_its_wait(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.refuse("chat", 500, times=2)
    stop = threading.Event()
    with desk.writer(stop=stop, pause=20) as writer:
        for event in writer.run():
            desk.events.append(event)
            if isinstance(event, ModelRequest) and event.state == "waiting":
                stop.set()
    assert [(each.state, each.attempt, each.seconds) for each in requests(desk)] == [
        ("reading", 1, 0),
        ("waiting", 2, 20),
    ]
    desk.write()
    states = [(each.state, each.attempt) for each in requests(desk)]
    assert states == [("reading", 1), ("waiting", 2), ("reading", 2), ("writing", 2)]
    assert isinstance(desk.written[0], ContextWritten)
