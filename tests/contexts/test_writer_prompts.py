"""Contexts by prompt files: what a change writes anew, what it says first, and what it leaves alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import LlmSettings, Paths, PromptSettings, Settings
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.events import ContextsDue, OverviewWritten
from subtitle_rag.contexts.prompt_layout import BUILT_IN, VERSION, ContextPrompt, configured_prompt
from subtitle_rag.library.context_store import GIVEN, WindowSelection
from tests.contexts.desk import Desk, talk
from tests.stand_ins.ollama import Model, shared_prefix
from tests.support.failures import failing

OWN = ContextPrompt.of("요리 영상입니다.\n{title}\n{transcript}\n\n{window}\n짧게 쓰세요.")


def due(desk: Desk) -> ContextsDue:
    assert isinstance(desk.events[0], ContextsDue)
    return desk.events[0]


def slowly(desk: Desk, ms: int) -> None:
    """As if each context had taken so long."""
    for context in desk.contexts():
        desk.place.library.contexts.put(replace(context, ms=ms))


def test_a_changed_prompt_tells_how_much_it_writes_anew_and_old_contexts_stay_until_then(desk: Desk) -> None:
    desk.put("a", talk(3))
    desk.write()
    slowly(desk, 40_000)
    desk.ollama.clear()
    desk.write(WindowSelection(limit=1), prompt=OWN)
    assert due(desk) == ContextsDue(1, 1, by_other_prompts=1, seconds=40)
    assert [context.prompt for context in desk.contexts()] == [OWN.version, VERSION, VERSION]
    desk.write(prompt=OWN)
    assert (due(desk).windows, due(desk).by_other_prompts) == (2, 2)
    assert {context.prompt for context in desk.contexts()} == {OWN.version}
    assert all(asked.messages[0]["content"].startswith("요리 영상입니다.\n제목: ") for asked in desk.chats())
    assert shared_prefix(desk.chats()) > 0.7
    desk.write(prompt=OWN)
    assert due(desk) == ContextsDue(0, 0)


def test_a_window_without_a_usable_answer_by_the_new_prompt_is_counted_no_more(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.write()
    desk.ollama.answer("", "")
    desk.write(prompt=OWN)
    desk.write(prompt=OWN)
    assert due(desk) == ContextsDue(0, 0)
    assert desk.contexts()[0].prompt == VERSION


def test_an_imported_context_stays_and_is_not_counted(desk: Desk) -> None:
    desk.put("a", talk(3))
    desk.write(WindowSelection(limit=2))
    first = desk.contexts()[0]
    desk.place.library.contexts.put(replace(first, key=f"{GIVEN}-a", digest=GIVEN, prompt=""))
    desk.write(prompt=OWN)
    assert (due(desk).windows, due(desk).by_other_prompts) == (2, 1)


def test_a_changed_prompt_does_not_summarise_long_videos_again(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(30, words=6))
    desk.write(WindowSelection(limit=1), model="small:q4")
    desk.write(WindowSelection(limit=1), model="small:q4", prompt=OWN)
    assert due(desk).sections == 0
    assert not [event for event in desk.events if isinstance(event, OverviewWritten)]


def settings_of(folder: Path, **names: object) -> Settings:
    return Settings(Paths.under(folder), "ko", llm=LlmSettings(hosts=()), prompts=PromptSettings(**names))  # type: ignore[arg-type]


def test_a_file_is_found_beside_the_config_or_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("하나\n{transcript}\n\n{window}", encoding="utf-8")
    for name in ("a.txt", str(file)):
        assert configured_prompt(settings_of(tmp_path, contexts=name)).system.startswith("하나\n")
    assert configured_prompt(settings_of(tmp_path)) is BUILT_IN


@pytest.mark.parametrize("name", ["missing.txt", "~nobody-here/x.txt"])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with failing("bad_prompt", UsageError) as caught:
        configured_prompt(settings_of(tmp_path, contexts=name))
    assert name in caught.value.details["place"]
