"""What a run tells of its requests while it waits for them."""

import re
import threading
from collections.abc import Sequence

import pytest

from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.contexts.context_text import reading_text
from subtitle_rag.contexts.hosts import SPEED_TOKENS
from subtitle_rag.library.context_store import WindowSelection
from tests.contexts.desk import Desk, talk


def activities(events: Sequence[object]) -> list[str]:
    """What the model was doing, one after the other."""
    return [event.activity for event in events if isinstance(event, Progress) and event.since is not None]


def tokens(activity: str) -> int:
    number = re.search(r"reading ([\d,]+) tokens", activity)
    assert number
    return int(number[1].replace(",", ""))


def test_the_first_prompt_of_a_video_is_told_before_its_answer_and_later_ones_without_its_captions(desk: Desk) -> None:
    desk.put("a", talk(30))
    hold = desk.ollama.hold()
    told: list[object] = []
    with desk.writer() as writer:
        for event in writer.run(WindowSelection(limit=2)):
            told.append(event)
            if activities([event]):
                hold.release()  # the model has not answered anything yet
    reading, writing, next_reading, next_writing = activities(told)
    assert (writing, next_writing) == ("the model writes", "the model writes")
    (sent, _later) = desk.chats()
    assert reading == reading_text(tokens(reading)), "no time, since nothing was read before"
    assert tokens(reading) > sum(len(message["content"]) for message in sent.messages) // 2
    assert tokens(next_reading) < tokens(reading) / 4
    progress = [event for event in told if isinstance(event, Progress)]
    assert {event.text for event in progress[1:]} == {"a 국수 이야기"}
    assert [event.done for event in progress] == [0, 0, 0, 1, 1, 1, 2]


@pytest.mark.campaign(part="flows")
def test_the_time_of_reading_follows_from_what_was_read_before(desk: Desk) -> None:
    for name in ("a", "b"):
        desk.put(name, talk(3, seed=ord(name), words=30))
    desk.write()
    told = [each for each in activities(desk.events) if each.startswith("reading")]
    first, second = (each for each in told if tokens(each) >= SPEED_TOKENS)
    assert "about" not in first
    read = desk.contexts()[0]
    expected = tokens(second) * read.prompt_ms / read.prompt_tokens / 1000
    minutes, seconds = map(int, second.rpartition("about ")[2].split(":"))
    assert 60 * minutes + seconds == pytest.approx(expected, abs=1)


def test_a_retry_is_told_with_its_number_and_its_wait(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.refuse("chat", 500, times=2)
    stop = threading.Event()
    with desk.writer(stop=stop, pause=20) as writer:
        for event in writer.run():
            desk.events.append(event)
            if isinstance(event, Progress) and event.activity.startswith("attempt"):
                stop.set()
    _reading, waiting = activities(desk.events)
    assert waiting == "attempt 2 in 20 s"
    desk.write()
    reading, waiting, second, writing = activities(desk.events)
    assert (waiting, writing) == ("attempt 2 in 0 s", "the model writes")
    assert second == f"{reading}, attempt 2"
