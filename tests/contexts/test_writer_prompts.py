"""Contexts by prompt files: what a change writes anew, what it says first, and what it leaves alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.config.settings import LlmSettings, Paths, PromptSettings, Settings
from subtitle_rag.contexts.prompt_layout import VERSION, ContextPrompt, ContextPrompts
from subtitle_rag.domain import ContextsDue, OverviewWritten, UsageError
from subtitle_rag.library.context_store import GIVEN, WindowSelection
from tests.contexts.desk import Desk, talk
from tests.stand_ins.ollama import Model, shared_prefix
from tests.support.failures import failing

OWN = ContextPrompt.of("요리 영상입니다.\n{title}\n{transcript}\n\n{window}\n짧게 쓰세요.")
OTHER = ContextPrompt.of("여행 영상입니다.\n{title}\n{transcript}\n\n{window}\n짧게 쓰세요.")


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
    desk.write(WindowSelection(limit=1), prompts=ContextPrompts(OWN))
    assert due(desk) == ContextsDue(1, 1, by_other_prompts=1, seconds=40)
    assert [context.prompt for context in desk.contexts()] == [OWN.version, VERSION, VERSION]
    desk.write(prompts=ContextPrompts(OWN))
    assert (due(desk).windows, due(desk).by_other_prompts) == (2, 2)
    assert {context.prompt for context in desk.contexts()} == {OWN.version}
    assert all(asked.messages[0]["content"].startswith("요리 영상입니다.\n제목: ") for asked in desk.chats())
    assert shared_prefix(desk.chats()) > 0.7
    desk.write(prompts=ContextPrompts(OWN))
    assert due(desk) == ContextsDue(0, 0)


def test_a_window_without_a_usable_answer_by_the_new_prompt_is_counted_no_more(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.write()
    desk.ollama.answer("", "")
    desk.write(prompts=ContextPrompts(OWN))
    desk.write(prompts=ContextPrompts(OWN))
    assert due(desk) == ContextsDue(0, 0)
    assert desk.contexts()[0].prompt == VERSION


def test_an_imported_context_stays_and_is_not_counted(desk: Desk) -> None:
    desk.put("a", talk(3))
    desk.write(WindowSelection(limit=2))
    first = desk.contexts()[0]
    desk.place.library.contexts.put(replace(first, key=f"{GIVEN}-a", digest=GIVEN, prompt=""))
    desk.write(prompts=ContextPrompts(OWN))
    assert (due(desk).windows, due(desk).by_other_prompts) == (2, 1)


def test_a_channel_with_a_prompt_of_its_own_is_redone_alone(desk: Desk) -> None:
    desk.put("a", talk(2, seed=1))
    desk.put("b", talk(2, seed=2), channel="빠른 부엌")
    desk.write()
    desk.ollama.clear()
    desk.write(prompts=ContextPrompts(by_channel={"빠른 부엌": OTHER}))
    assert (due(desk).windows, due(desk).by_other_prompts) == (2, 2)
    assert {asked.messages[0]["content"].split("\n")[0] for asked in desk.chats()} == {"여행 영상입니다."}
    assert {context.prompt for context in desk.contexts("a")} == {VERSION}


@pytest.mark.campaign(part="flows")
def test_two_prompts_in_one_run_load_the_model_once(desk: Desk) -> None:
    desk.put("a", talk(14, seed=1, words=14))
    desk.put("b", talk(2, seed=2), channel="빠른 부엌")
    desk.write(prompts=ContextPrompts(OWN, {"빠른 부엌": OTHER}))
    assert [asked.options["num_ctx"] for asked in desk.chats()] == [8192] * 16
    assert sum(asked.reloaded for asked in desk.chats()) == 1


def test_a_changed_prompt_does_not_summarise_long_videos_again(desk: Desk) -> None:
    desk.ollama.add(Model("small:q4", context_length=4_096))
    desk.put("long", talk(30, words=6))
    desk.write(WindowSelection(limit=1), model="small:q4")
    desk.write(WindowSelection(limit=1), model="small:q4", prompts=ContextPrompts(OWN))
    assert due(desk).sections == 0
    assert not [event for event in desk.events if isinstance(event, OverviewWritten)]


def settings_of(folder: Path, **names: object) -> Settings:
    return Settings(Paths.under(folder), "ko", llm=LlmSettings(hosts=()), prompts=PromptSettings(**names))  # type: ignore[arg-type]


def test_files_are_found_beside_the_config_and_channels_by_id_or_name(tmp_path: Path) -> None:
    for name, text in (("a.txt", "하나"), ("b.txt", "둘")):
        (tmp_path / name).write_text(f"{text}\n{{transcript}}\n\n{{window}}", encoding="utf-8")
    channels = [("UC1", "Slow Kitchen"), ("UC2", "빠른 부엌"), ("UC3", "셋")]
    named = {"slowkitchen": "b.txt", "UC2": str(tmp_path / "b.txt"), "없는 채널": "b.txt"}
    prompts = ContextPrompts.read(settings_of(tmp_path, contexts="a.txt", channels=named), channels)
    assert [prompts.of(id).system.split("\n")[0] for id, _name in channels] == ["둘", "둘", "하나"]
    assert [ids for _prompt, ids in prompts.groups(["UC3", "UC1", "UC2"])] == [("UC3",), ("UC1", "UC2")]


@pytest.mark.parametrize("name", ["missing.txt", "~nobody-here/x.txt"])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with failing("bad_prompt", UsageError) as caught:
        ContextPrompts.read(settings_of(tmp_path, contexts=name), ())
    assert name in caught.value.details["place"]
