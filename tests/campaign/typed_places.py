"""Places of the app where no field has the focus, and 200 words to type there."""

import asyncio
import re
from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from subtitle_rag.base.domain.answer_values import Answer, Evidence
from subtitle_rag.korean.keyboard import JAMO_BY_KEY, key_sequence
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp

SAMPLE = Path(str(files("subtitle_rag") / "sample"))
QUERY = "치킨"
PLACES = {
    "scenes": ("", "#scenes"),
    "preview": ("", "#transcript"),
    "channels": ("open_library", "#channels"),
    "videos": ("open_library", "#videos"),
    "marks": ("open_marks", "#marks"),
    "answers": ("ask", "#recent"),
    "transcript": ("open_transcript", "#transcript"),
    "overview": ("open_overview", "#overview-rows"),
    "checks": ("open_checks", ""),
    "settings": ("open_settings", "#settings-rows"),
}
"""The action of the app that opens the screen, and what has the focus there."""


def words(count: int) -> list[str]:
    """Words of the sample's captions, each once, some with a space or digits, and those that spell commands.

    None begins as `QUERY` does, behind which the search's field takes them.
    """
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted(SAMPLE.glob("*.vtt")))
    said = [word for word in dict.fromkeys(re.findall("[가-힣]{1,6}", text)) if not word.startswith(QUERY)]
    mixed = [f"{first} {second}{number}" for number, (first, second) in enumerate(pairwise(said))]
    pairs = zip(said, mixed, strict=False)
    chosen = ["오늘 이야기", "오", "삭제", "ㅋㅋㅋ", "ㅇㅇ", *(word for pair in pairs for word in pair)]
    return list(dict.fromkeys(chosen))[:count]


def in_letters(text: str) -> str:
    """What a terminal without an input method types of a text."""
    return "".join(JAMO_BY_KEY.get(key, key) for key in key_sequence(text).replace("\0", ""))


def fill(runtime: Runtime) -> None:
    """Make the sample a library in which each place has rows."""
    list(runtime.indexer.index([SAMPLE]))
    library = runtime.library
    video = library.videos()[0].video
    library.marks.add(video, 0, 5_000, 0, "소스")
    library.answers.put(Answer("물음?", "답입니다.", "m:q4", Evidence("search", ())), "ask1")


async def go_to(app: SubtitleApp, place: str) -> None:
    """Go to a place without a key, with the fields as at the start."""
    command, selector = PLACES[place]
    search = app.search_screen
    app._return_to(search)
    if search.query_line.value != QUERY or search.results.text != QUERY:
        search.page.search_for(QUERY)
        await _until(lambda: search.results.text == QUERY and search.preview.scene and search.preview.transcript.line)
    if answers := app.answers:
        answers.question.value = ""
    if command:
        await app.run_action(command)
        await _until(lambda: app.screen is not search and app.screen.is_mounted)
    if not selector:
        app.screen.set_focus(None)
        return
    widget = app.screen.query_one(selector)
    await _until(lambda: widget.focusable and widget.region)
    app.screen.set_focus(widget)


async def _until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.005)
