#!/usr/bin/env python3
"""Draw the documentation's pictures in Korean, docs/*.svg, and the film at the top of README.

The app runs without a terminal, with the sample captions in a temporary folder; the tests' stand-in for Ollama writes
the answer. The pictures do not depend on when, where and how fast they are made.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
os.environ["SUBTITLE_RAG_OLLAMA"] = ""
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ["COLORTERM"] = "truecolor"
os.environ.pop("NO_COLOR", None)

from textual.pilot import Pilot  # noqa: E402 - it reads the environment above
from textual.worker import WorkerCancelled  # noqa: E402

from scripts import _svg  # noqa: E402
from scripts.benchmarks._corpus import end_host  # noqa: E402
from subtitle_rag.base.config import settings as config_settings  # noqa: E402
from subtitle_rag.base.config.settings import HOME_VARIABLE  # noqa: E402
from subtitle_rag.base.installation.extras import Extra  # noqa: E402
from subtitle_rag.korean.keyboard import hangul  # noqa: E402
from subtitle_rag.library.app_state import forget_searches  # noqa: E402
from subtitle_rag.runtime import Runtime  # noqa: E402
from subtitle_rag.sharing import player  # noqa: E402
from subtitle_rag.tui.app import SubtitleApp  # noqa: E402
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen  # noqa: E402
from subtitle_rag.tui.screens.search import live_search  # noqa: E402
from subtitle_rag.tui.shared.scenes import preview, result_pane  # noqa: E402
from tests.stand_ins.ollama import Model, StandIn  # noqa: E402

MODEL = "a.x-4.0-light:q4_k_m"
ANSWER = (
    "식은 치킨은 까만 것에 찍으면 고기에 쏙 배어 장조림 같고, 식은 게 더 낫다고 합니다 [1]. "
    "살을 찢어 밥에 올리고 계란 노른자와 국물 두 숟갈을 더해 떠먹기도 합니다 [1]. "
    "캠핑에서는 양념이 굳어서 강정처럼 됐다고 합니다 [2]. "
    "늦게 먹을 거면 가루 말고 찍어 먹는 것을 사라고 합니다 [4]."
)
"""Each sentence is in the scene that it cites."""
FILM = "demo"
TYPED_KEYS = "thtmdp Wlrdj ajrsms clzls"
"""On the two-set keyboard: 소스에 찍어 먹는 치킨."""
CONSONANTS = dict(zip("rRseEfaqQtTdwWczxvg", "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", strict=True))
KEY_S, WORD_S, LOOK_S, END_S = 0.14, 0.3, 1.4, 3.0
"""Seconds the film rests on a key, between words, on the results, and on the jump."""
QUERY = "소스에 찍어 먹는 치킨"
MARKED = (("소스 비율", "요리"), ("", "가 볼 곳"), *[("", "")] * 8)
"""Note and tag of each mark."""
PICTURES: dict[str, Sequence[Sequence[str]]] = {
    "search": ["치킨 소스 찍어 먹는 장면"],
    "search-spaces": ["맵단짠 치킨"],
    "filters": ["종류:영상 치킨", ["enter", "f"], "캠핑"],
    "library": [["ctrl+l"], ["tab", "down"]],
    "answer": ["식은 치킨은 어떻게 먹어?", ["enter", "a"], ["enter"], ["down", "down"]],
    "help": [["f1"]],
    "marks": [
        QUERY,
        ["enter"],
        *chain.from_iterable(
            (["space"], ["space", *note, "tab", *tag, "enter"] if tag else [], ["down"]) for note, tag in MARKED
        ),
        ["m"],
    ],
    "export": [QUERY, ["enter", "e", "down"]],
}
"""Name → the keys to press, step by step."""


async def settled(pilot: Pilot[object]) -> None:
    """Wait until nothing is running, and no answer is being written."""
    await pilot.pause()
    while isinstance(screen := pilot.app.screen, AnswerScreen) and screen.page.dialogue.running:
        await pilot.pause(0.05)
    while running := [worker for worker in pilot.app.workers if not worker.is_finished]:
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete(running)
        await pilot.pause()
    await pilot.pause()


@contextmanager
def answering(runtime: Runtime) -> Iterator[None]:
    """Run a stand-in for Ollama that answers questions, but writes no contexts."""
    with StandIn() as ollama:
        ollama.add(Model(MODEL, behaviour=lambda sent: "" if "<구간>" in str(sent["messages"]) else ANSWER))
        settings = runtime.settings
        runtime.settings = replace(settings, llm=replace(settings.llm, hosts=(ollama.base,), model=MODEL))
        yield
        runtime.settings = settings


async def still(pilot: Pilot[object], steps: Sequence[Sequence[str]]) -> str:
    for keys in steps:
        await pilot.press(*keys)
        await settled(pilot)
    return _svg.still(_svg.screen_of(pilot.app), pilot.app.size)


def composed(keys: str) -> str:
    """Return the text that an input method composes from a word's keys, with an unfinished last syllable."""
    return hangul(keys) or (hangul(keys[:-1]) or "") + CONSONANTS[keys[-1]]


async def film(pilot: Pilot[object]) -> str:
    """Record the film: type a query through an input method, choose a scene, play it; start at the first results."""
    app = pilot.app
    frames: list[_svg.Frame] = []
    for word in TYPED_KEYS.split():
        committed = ""
        for count in range(1, len(word) + 1):
            text = composed(word[:count])
            await pilot.press(*text[len(committed) : -1])
            committed = text[:-1]
            await settled(pilot)
            if committed or frames:
                frames.append(_svg.Frame(_svg.composing(app, text[-1]), KEY_S))
        await pilot.press(text[-1], *([] if TYPED_KEYS.endswith(word) else ["space"]))
        await settled(pilot)
        frames.append(_svg.Frame(_svg.screen_of(app), WORD_S))
    frames[-1] = _svg.Frame(frames[-1].screen, LOOK_S)
    for key, seconds in (("down", LOOK_S), ("enter", END_S)):
        await pilot.press(key)
        await settled(pilot)
        frames.append(_svg.Frame(_svg.screen_of(app), seconds))
    return _svg.film(frames, app.size)


@contextmanager
def staged() -> Iterator[None]:
    """Play nothing, type without pauses, and hide the packages for search by meaning, as after the first start."""
    replacements: list[tuple[object, str, object]] = [
        (Extra, "is_installed", False),
        (player, "can_show", lambda: True),
        (player, "play", lambda *_asked, **_how: None),
        (preview, "REST_S", 0.01),
        (preview, "TYPED_REST_S", 0.01),
        (live_search, "DEBOUNCE_S", 0.01),
        (live_search, "PAUSE_S", 0.01),
        (result_pane, "DIM_S", 60.0),
    ]
    with ExitStack() as stack:
        for module, name, value in replacements:
            stack.enter_context(patch.object(module, name, value))
        yield


async def draw(
    runtime: Runtime, name: str, size: tuple[int, int], work: Callable[[Pilot[object]], Awaitable[str]]
) -> None:
    app = SubtitleApp(runtime, show_times=False)
    async with app.run_test(size=size, notifications=name == FILM) as pilot:
        await settled(pilot)
        svg = await work(pilot)
    picture = ROOT / "docs" / f"{name}.svg"
    picture.write_text(svg, encoding="utf-8")
    print(picture.relative_to(ROOT))


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ[HOME_VARIABLE] = home
        with Runtime(config_settings.load(language="ko")) as runtime:
            list(runtime.indexer.index([Path(str(files("subtitle_rag") / "sample"))]))
            with staged():
                asyncio.run(draw(runtime, FILM, (100, 26), film))  # before there are marks
            forget_searches(runtime.library)
            for name, steps in PICTURES.items():
                with answering(runtime) if name == "answer" else nullcontext():
                    asyncio.run(draw(runtime, name, (120, 34), partial(still, steps=steps)))
        end_host(Path(home))  # it writes into the folder that is about to be deleted


if __name__ == "__main__":
    main()
