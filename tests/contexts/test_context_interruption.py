"""kill -9 at random moments of writing contexts, and Ollama going away; the next run goes on where that one was.

`SUBTITLE_RAG_KILLS` sets the number of moments (4).
"""

import json
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.stand_ins.ollama import Asked, Model, StandIn, Turn
from tests.stand_ins.ollama_models import Json
from tests.support.invented import end_hosts
from tests.support.processes import command_line, kill_when, needs_sigkill, start

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 4)
NAME = "writer:q4"
VIDEOS, MINUTES = 5, 10
WINDOWS = VIDEOS * MINUTES
WRITE = ("contexts", "write", "--model", NAME)

pytestmark = [
    pytest.mark.campaign(part="kills"),
    pytest.mark.hosts,
    needs_sigkill,
]


WORDS = (
    "사과 포도 딸기 수박 참외 복숭아 자두 살구 감귤 바나나 토마토 당근 오이 "
    "호박 가지 감자 고구마 양파 마늘 생강 배추 상추 시금치 미나리 콩나물 버섯 "
    "두부 우유 치즈 버터 연필 공책 지우개 가방 모자 장갑 우산 안경 시계 "
    "거울 의자 책상 침대 이불 베개 냄비 주전자 접시 숟가락 젓가락"
)
THINGS = WORDS.split()
NATURE = (
    "고래 상어 문어 거북 악어 기린 사자 여우 늑대 토끼 다람쥐 고양이 강아지 염소 당나귀 "
    "두루미 까치 제비 부엉이 독수리 잠자리 나비 개미 매미 거미 소나무 대나무 진달래 "
    "개나리 민들레 해바라기 강물 바다 호수 폭포 사막 화산 동굴 절벽 언덕 구름 무지개 "
    "번개 서리 안개 노을 새벽 달빛 별자리 은하수"
)
PASSWORDS = NATURE.split()
assert len(set(THINGS)) == len(set(PASSWORDS)) == WINDOWS


def thing(number: int) -> str:
    """What only the context of a window names."""
    return THINGS[number % WINDOWS]


def password(number: int) -> str:
    """What the captions of this window alone name."""
    return PASSWORDS[number % WINDOWS]


def context(sent: Json) -> Turn:
    """Says what is in the window, and a thing that its captions do not name."""
    content = sent["messages"][-1]["content"]
    if is_summary(sent):
        (title,) = re.findall(r"제목: (.+)", sent["messages"][0]["content"])
        return Turn(f"{title} 영상에서 손님이 차례로 암호를 말하며 국수를 삶아 먹습니다.", pace=0.002)
    found = re.search(r"암호는 (\d+)", content)
    if found is None:
        return Turn(f"긴 방송에서 국수를 또 삶으며 오늘의 암호로 {thing(len(content))} 이야기를 합니다.", pace=0.02)
    number = int(found[1])
    text = f"손님이 암호 {number} {password(number)}, 이 둘을 대고 {thing(number)} 옆에서 국수를 삶아 먹습니다."
    return Turn(text, pace=0.002)


def is_summary(sent: Json) -> bool:
    """Whether a request is for the summary of a whole video."""
    return "영상 전체를 요약" in sent["messages"][-1]["content"]


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(NAME, behaviour=context))
    return ollama_server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library of windows each of which says a number that no other one says."""
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")
    folder, captions = tmp_path / "home", tmp_path / "captions"
    captions.mkdir()
    for video in range(VIDEOS):
        cues = []
        for minute in range(MINUTES):
            times = f"00:{2 * minute:02d}:00,000 --> 00:{2 * minute + 1:02d}:00,000"
            number = 7_000 + video * MINUTES + minute
            cues.append(f"{minute + 1}\n{times}\n오늘의 암호는 {number} {password(number)} 입니다 손님\n")
        (captions / f"국수 {video}.ko.srt").write_text("\n".join(cues), encoding="utf-8")
    with Runtime(config.load(folder)) as runtime:
        for _event in runtime.indexer.index([captions]):
            pass
        assert runtime.library.counts().searchable == WINDOWS
    yield folder
    end_hosts([config.Paths.under(folder).index])


def asked_again(ollama: StandIn) -> int:
    """How many requests were about a window or video that had been asked about."""
    counts = Counter(json.dumps(asked.messages) for asked in ollama.asked("chat"))
    return sum(count - 1 for count in counts.values())


def stored(home: Path) -> int:
    """How many contexts and summaries there are."""
    with Runtime(config.load(home)) as runtime:
        return runtime.library.contexts.counts().written + runtime.library.summaries.counts().written


def test_a_run_killed_again_and_again_loses_a_context_at_most_each_time(ollama: StandIn, home: Path) -> None:
    rng = random.Random(KILLS)
    moments = sorted(rng.sample(range(3, WINDOWS - 5), KILLS))
    killed = 0
    for number, moment in enumerate(moments):
        delay = rng.uniform(0, 0.05)
        stop = ollama.stop if number % 2 else lambda: None
        killed += kill_when(start(home, *WRITE), ollama.has_chats(moment), delay, stop)
        ollama.start()
        answered = sum(asked.outcome == "answered" for asked in ollama.asked("chat"))
        assert answered - stored(home) <= killed
    assert killed == KILLS
    assert start(home, *WRITE).wait() == 0
    assert asked_again(ollama) <= KILLS
    assert stored(home) == WINDOWS + VIDEOS
    with Runtime(config.load(home)) as runtime:
        assert runtime.library.contexts.unindexed() == {}
        for state in runtime.library.videos():
            for window in runtime.library.windows_of(state.video.id):
                said = int(window.text.split()[2])
                best = runtime.searcher.rank(parse_query(thing(said)))[0]
                assert best.window_id == window.id
    ollama.clear()
    assert start(home, *WRITE).wait() == 0
    assert ollama.count("chat") == 0


def test_what_was_stored_and_not_yet_searchable_is_taken_in_by_the_next_run(ollama: StandIn, home: Path) -> None:
    with Runtime(config.load(home)) as runtime:
        lock = runtime.indexer._working()  # as if another indexer were at work: contexts are stored, and no more
        with lock:
            kill_when(start(home, *WRITE), lambda: stored(home) >= 3)
        late = sum(map(len, runtime.library.contexts.unindexed().values()))
        assert late >= 3
    assert start(home, *WRITE).wait() == 0
    with Runtime(config.load(home)) as runtime:
        assert runtime.library.contexts.unindexed() == {}
        assert runtime.searcher.rank(parse_query(thing(7_000)))


SECTIONS = 24
"""Of ten minutes each: four hours."""


def test_a_run_killed_in_a_long_videos_overview_goes_on_behind_the_stored_sections(
    ollama: StandIn, home: Path, tmp_path: Path
) -> None:
    ollama.add(Model(NAME, behaviour=context, context_length=4_096))
    captions = tmp_path / "long"
    captions.mkdir()
    cues = []
    for number in range(SECTIONS * 5):
        begin, end = 2 * number, 2 * number + 1
        times = f"{begin // 60:02d}:{begin % 60:02d}:00,000 --> {end // 60:02d}:{end % 60:02d}:00,000"
        cues.append(
            f"{number + 1}\n{times}\n오늘의 암호는 {8_000 + number} {password(number)} 입니다 "
            f"{'국수를 삶고 또 삶는 긴 방송 ' * 4}\n"
        )
    (captions / "긴 방송.ko.srt").write_text("\n".join(cues), encoding="utf-8")
    with Runtime(config.load(home)) as runtime:
        for _event in runtime.indexer.index([captions]):
            pass
        (long,) = runtime.library.find_videos("긴 방송")
    arguments = (*WRITE, "--video", long, "--limit", "2")
    kill_when(start(home, *arguments), ollama.has_chats(13))
    assert len(overviews(ollama)) == 13
    with Runtime(config.load(home)) as runtime:
        assert len(runtime.library.contexts.overview_sections(long)) == 12
    ollama.clear()
    told = subprocess.run(command_line(home, *arguments, "--jsonl"), capture_output=True, check=True).stdout
    events = [json.loads(line) for line in told.decode().splitlines()]
    assert len(overviews(ollama)) == 12  # the one that the kill cut short, and the eleven behind it
    assert events[0]["sections"] == 12
    sections = [(event["section"], event["sections"]) for event in events if event["event"] == "overview_written"]
    assert sections == [(number, SECTIONS) for number in range(13, SECTIONS + 1)]
    ollama.clear()
    assert start(home, *arguments).wait() == 0
    assert (overviews(ollama), ollama.count("chat")) == ([], 2)


def overviews(ollama: StandIn) -> list[Asked]:
    """Requests for sections of an overview, by the stand-in's own count."""
    others = [asked for asked in ollama.asked("chat") if "<구간>" not in asked.messages[-1]["content"]]
    return [asked for asked in others if not is_summary(asked.sent)]


def test_a_run_killed_in_a_summary_asks_for_no_context_of_that_video_again(ollama: StandIn, home: Path) -> None:
    ollama.answer(*[context] * MINUTES, Turn("손님이 차례로 국수를 " * 40, pace=0.05))
    kill_when(start(home, *WRITE), ollama.has_chats(MINUTES + 1))
    cut_short = ollama.asked("chat")[-1]
    assert is_summary(cut_short.sent)
    ollama.clear()
    assert start(home, *WRITE).wait() == 0
    asked = ollama.asked("chat")
    assert len(asked) == WINDOWS - MINUTES + VIDEOS
    of_the_video = [each.messages for each in asked if each.messages[0] == cut_short.messages[0]]
    assert of_the_video == [cut_short.messages]
    assert stored(home) == WINDOWS + VIDEOS
