#!/usr/bin/env python3
"""Draw the pictures of the documentation, docs/*.svg, in Korean, and the film at the top of README.

The app runs without a terminal on a library of the sample captions in a temporary folder, and the answer is one that
the tests' stand-in of Ollama gives. Nothing on the pictures depends on when, where and how fast they are made.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib.resources import files
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
from subtitle_rag import config, player  # noqa: E402
from subtitle_rag.installation.extras import Extra  # noqa: E402
from subtitle_rag.library.app_state import forget_searches  # noqa: E402
from subtitle_rag.retrieval.korean.keyboard import hangul  # noqa: E402
from subtitle_rag.runtime import Runtime  # noqa: E402
from subtitle_rag.tui.app import SubtitleApp  # noqa: E402
from subtitle_rag.tui.screens import live_search  # noqa: E402
from subtitle_rag.tui.screens.answer_screen import AnswerScreen  # noqa: E402
from subtitle_rag.tui.widgets import preview, result_pane  # noqa: E402
from tests.stand_ins.ollama import Model, StandIn  # noqa: E402

SIZE = (120, 34)
MODEL = "a.x-4.0-light:q4_k_m"
ANSWER = (
    "신메뉴에서는 청귤간장 소스가 나왔고 [4], 조합은 이 소스에 찍어 먹는 쪽을 골랐습니다 [2]. "
    "김장 영상에서는 올해 김치 맛이 제일 좋다고 합니다 [1]. 소스는 14일 동안 숙성합니다 [4]."
)
FILM = "demo"
FILM_SIZE = (100, 26)
TYPED_KEYS = "thtmdp Wlrdj ajrsms clzls"
"""On the two-set keyboard: 소스에 찍어 먹는 치킨."""
CONSONANTS = dict(zip("rRseEfaqQtTdwWczxvg", "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", strict=True))
KEY_S, WORD_S, LOOK_S, END_S = 0.14, 0.3, 1.4, 3.0
"""How long the film rests on a key, between words, on what was found, and on the jump."""
Steps = Callable[[Pilot[object]], Awaitable[None]]


async def settled(pilot: Pilot[object]) -> None:
    """Wait until nothing is under way."""
    await pilot.pause()
    while running := [worker for worker in pilot.app.workers if not worker.is_finished]:
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete(running)
        await pilot.pause()
    await pilot.pause()


def typing(query: str) -> Steps:
    """Return the steps that type a query."""

    async def steps(pilot: Pilot[object]) -> None:
        await pilot.press(*query)

    return steps


async def answer(pilot: Pilot[object]) -> None:
    await pilot.press(*"소스 뭐가 제일 맛있대?")
    await settled(pilot)
    await pilot.press("f3")
    await settled(pilot)
    await pilot.press("enter")
    screen = pilot.app.screen
    assert isinstance(screen, AnswerScreen)
    while screen.dialogue.running:
        await pilot.pause(0.05)
    await pilot.press("down", "down")


async def explain(pilot: Pilot[object]) -> None:
    await pilot.press(*"소스에 찍어 먹는 치킨")
    await settled(pilot)
    await pilot.press("down", "f2")


async def filters(pilot: Pilot[object]) -> None:
    await pilot.press(*"종류:영상 치킨")
    await settled(pilot)
    await pilot.press("ctrl+f")
    await settled(pilot)
    await pilot.press(*"캠핑")


async def library(pilot: Pilot[object]) -> None:
    await pilot.press("f4")
    await settled(pilot)
    await pilot.press("tab", "down")


async def marks(pilot: Pilot[object]) -> None:
    await pilot.press(*"소스에 찍어 먹는 치킨")
    await settled(pilot)
    for note, tag in (("소스 비율", "요리"), ("", "가 볼 곳"), *(("", ""),) * 8):
        await pilot.press("ctrl+a")
        await settled(pilot)
        if tag:
            await pilot.press("ctrl+a", *note, "tab", *tag, "enter")
            await settled(pilot)
        await pilot.press("down")
    await pilot.press("ctrl+l")


async def export(pilot: Pilot[object]) -> None:
    await pilot.press(*"소스에 찍어 먹는 치킨")
    await settled(pilot)
    await pilot.press("ctrl+e", "down")


async def help_page(pilot: Pilot[object]) -> None:
    await pilot.press("f1")


PICTURES: dict[str, Steps] = {
    "search": typing("치킨 소스 찍어 먹는 장면"),
    "search-spaces": typing("맵단짠 치킨"),
    "explain": explain,
    "filters": filters,
    "library": library,
    "answer": answer,
    "help": help_page,
    "marks": marks,
    "export": export,
}


@contextmanager
def answering(runtime: Runtime) -> Iterator[None]:
    """With an Ollama that answers questions, and has nothing to say of contexts."""
    with StandIn() as ollama:
        ollama.add(Model(MODEL, behaviour=lambda sent: "" if "<구간>" in str(sent["messages"]) else ANSWER))
        settings = runtime.settings
        runtime.settings = replace(settings, llm=replace(settings.llm, hosts=(ollama.base,), model=MODEL))
        yield
        runtime.settings = settings


async def draw(runtime: Runtime, name: str, steps: Steps, folder: Path) -> None:
    app = SubtitleApp(runtime, show_times=False)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await steps(pilot)
        await settled(pilot)
        picture = folder / f"{name}.svg"
        picture.write_text(_svg.still(_svg.screen_of(app), SIZE), encoding="utf-8")
        print(picture.relative_to(folder.parent))


def composed(keys: str) -> str:
    """Return the text that an input method makes of the keys of a word, the last syllable unfinished."""
    return hangul(keys) or (hangul(keys[:-1]) or "") + CONSONANTS[keys[-1]]


async def film(pilot: Pilot[object]) -> list[_svg.Frame]:
    """Type a query as an input method composes it, choose a scene, and play it."""
    app = pilot.app
    frames = [_svg.Frame(_svg.screen_of(app), LOOK_S / 2)]
    for word in TYPED_KEYS.split():
        committed = ""
        for count in range(1, len(word) + 1):
            text = composed(word[:count])
            await pilot.press(*text[len(committed) : -1])
            committed = text[:-1]
            await settled(pilot)
            frames.append(_svg.Frame(_svg.composing(app, text[-1]), KEY_S))
        await pilot.press(text[-1], *([] if TYPED_KEYS.endswith(word) else ["space"]))
        await settled(pilot)
        frames.append(_svg.Frame(_svg.screen_of(app), WORD_S))
    frames[-1] = _svg.Frame(frames[-1].screen, LOOK_S)
    for key, seconds in (("down", LOOK_S), ("enter", END_S)):
        await pilot.press(key)
        await settled(pilot)
        frames.append(_svg.Frame(_svg.screen_of(app), seconds))
    return frames


@contextmanager
def staged() -> Iterator[None]:
    """Play nothing, wait for no typist, and have no package of search by meaning, as after the first start."""
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


async def draw_film(runtime: Runtime, folder: Path) -> None:
    app = SubtitleApp(runtime, show_times=False)
    async with app.run_test(size=FILM_SIZE, notifications=True) as pilot:
        await settled(pilot)
        frames = await film(pilot)
    picture = folder / f"{FILM}.svg"
    picture.write_text(_svg.film(frames, FILM_SIZE), encoding="utf-8")
    print(picture.relative_to(folder.parent))


def main() -> None:
    folder = ROOT / "docs"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        os.environ[config.HOME_VARIABLE] = home
        with Runtime(config.load(language="ko")) as runtime:
            list(runtime.indexer.index([Path(str(files("subtitle_rag") / "sample"))]))
            with staged():
                asyncio.run(draw_film(runtime, folder))  # before there are marks
            forget_searches(runtime.library)
            for name, steps in PICTURES.items():
                with answering(runtime) if name == "answer" else nullcontext():
                    asyncio.run(draw(runtime, name, steps, folder))
        end_host(Path(home))  # it writes into the folder that is about to be deleted


if __name__ == "__main__":
    main()
