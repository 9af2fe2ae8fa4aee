"""Prompt files of contexts: what is refused, what a request is made of, and what captions cannot do."""

import os
import sys
import unicodedata
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.contexts import prompt_layout
from subtitle_rag.contexts.context_prompt import PromptPlan, plan
from subtitle_rag.contexts.prompt_layout import BUILT_IN, VERSION, ContextPrompt
from tests.support.failures import failing
from tests.support.invented import WORDS, video, window

OWN = "요리 영상입니다.\n{title}\n{glossary}\n{transcript}\n\n이 구간:\n{window}\n짧게 쓰세요."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own.txt"


def read(file: Path, text: str | bytes) -> ContextPrompt:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return ContextPrompt.read(file)


def plan_of(prompt: ContextPrompt, *texts: str, largest: int = 16_384, title: str = "국수") -> PromptPlan:
    windows = [window("v", at, text) for at, text in enumerate(texts)]
    return plan(video(title=title), windows, glossary=["청귤"], prompt=prompt, largest=largest)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("{window}", None, "{transcript} is missing"),
        ("{transcript}", None, "{window} is missing"),
        ("", None, "{transcript} is missing"),
        ("a\n{transcrpt}\n{transcript}\n{window}", 2, "there is no place {transcrpt}"),
        ("{transcript}\n{자막} {window}", 2, "there is no place {자막}"),
        ("{transcript}\n{window}\n{window}", 3, "{window} stands there twice"),
        ("a\r\n{window}\r\n{transcript}", 2, "{window} must stand behind {transcript}"),
        ("{transcript}\n{window}\n{title}", 2, "{window} must stand behind {title}"),
        ("{transcript}\n{window}\n{rules}", 2, "{window} must stand behind {rules}"),
        ("{transcript}\n{window}\x1b[31m", 2, "control character"),
        pytest.param(
            *("가" * 3000 + "{transcript}{window}", None, "its words are about 2,250 tokens, and may be 1,600"),
            id="too many words",
        ),
        pytest.param(
            *("{transcript}\n\n{window}" + "가" * 300, 3, "of {window} are about 225 tokens, and may be 160"),
            id="too many words beside the window",
        ),
        (b"{transcript}\n\n\xff{window}", 3, "it is not UTF-8"),
        pytest.param("{transcript}\n{window}" + " " * 100_000, None, "it is larger than 0.1 MB", id="too large"),
    ],
)
def test_a_faulty_file_is_refused_with_its_line(file: Path, text: str | bytes, line: int | None, reason: str) -> None:
    with failing("bad_prompt", UsageError) as caught:
        read(file, text)
    assert caught.value.details["place"] == (f"{file}:{line}" if line else str(file))
    assert reason in caught.value.details["reason"]


def test_a_missing_file_and_a_folder_are_refused(file: Path) -> None:
    for path in (file, file.parent):
        with pytest.raises(UsageError) as caught:
            ContextPrompt.read(path)
        assert (caught.value.code, caught.value.details["place"]) == ("bad_prompt", str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are POSIX's")
def test_a_pipe_is_refused_and_not_waited_for(file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(UsageError) as caught:
        ContextPrompt.read(file)
    assert (caught.value.code, caught.value.details["reason"]) == ("bad_prompt", "it is not a regular file")


def test_every_mistake_of_a_file_is_listed(file: Path) -> None:
    file.write_text("{on}\n{window}\n{window}")
    found = [
        (mistake.line, mistake.key) for mistake in prompt_layout.check_context_prompt(file, "prompts.contexts").mistakes
    ]
    assert found == [(1, "prompts.contexts"), (3, "prompts.contexts"), (None, "prompts.contexts")]


@pytest.mark.parametrize("largest", [4_096, 16_384])
def test_the_printed_file_makes_the_requests_of_the_built_in_prompt(file: Path, largest: int) -> None:
    texts = [" ".join([*WORDS, str(at)]) for at in range(90)]
    for text in (
        prompt_layout.CONTEXT_PROMPT_TEXT,
        f"\ufeff{prompt_layout.CONTEXT_PROMPT_TEXT}".replace("\n", "\r\n"),
        "{rules}\n{title}\n",
    ):
        if text.startswith("{rules}"):
            text += prompt_layout.CONTEXT_PROMPT_TEXT.partition("{title}\n")[2]
        own = read(file, unicodedata.normalize("NFD", text))
        assert own.version == VERSION
        usual, by_file = plan_of(BUILT_IN, *texts, largest=largest), plan_of(own, *texts, largest=largest)
        assert [by_file.messages(at) for at in range(90)] == [usual.messages(at) for at in range(90)]


def test_a_file_gives_every_window_of_a_video_the_same_beginning(file: Path) -> None:
    own = read(file, OWN)
    first, second = (plan_of(own, "국수를 삶아요", "이걸 넣어요").messages(at) for at in range(2))
    assert first.system == second.system
    assert first.system == (
        "요리 영상입니다.\n제목: 국수\n채널: 느린 부엌\n고유명사: 청귤\n<자막>\n국수를 삶아요\n이걸 넣어요\n</자막>"
    )
    assert second.user == "이 구간:\n<구간>\n이걸 넣어요\n</구간>\n짧게 쓰세요."
    assert own.version not in (VERSION, read(file, OWN + "!").version)
    assert own.version == read(file, f"\n{OWN}\n\n").version


@pytest.mark.parametrize(
    ("text", "system", "user"),
    [
        ("{transcript}\n말\n{window}", "말", "<구간>"),
        ("{transcript} 말 {window}", "</자막>", "말 <구간>"),
        ('{transcript}\n\n{"a": {}}\n\n{window}', '{"a": {}}', "<구간>"),
    ],
)
def test_the_window_begins_its_own_message(file: Path, text: str, system: str, user: str) -> None:
    messages = plan_of(read(file, text), "국수").messages(0)
    assert messages.system.endswith(system)
    assert messages.user.startswith(user)


def test_braces_in_titles_and_captions_are_never_expanded(file: Path) -> None:
    hostile = "{window} {transcript} {rules} {title} {0} {window.__class__}"
    messages = plan_of(read(file, OWN), hostile, "국수", title=hostile).messages(0)
    assert (messages.system.count(hostile), messages.user.count(hostile)) == (2, 1)
    assert messages.system.count("국수") == 1
    assert "당신은" not in messages.system


def test_sections_of_long_videos_are_the_same_beside_any_file(file: Path) -> None:
    texts = [" ".join([*WORDS * 3, str(at)]) for at in range(200)]
    own = read(file, "규칙 " * 400 + "{scope}\n{transcript}\n\n{window}")
    by_file, usual = (plan_of(prompt, *texts, largest=8_192) for prompt in (own, BUILT_IN))
    assert (by_file.scope, by_file.overview_requests()) == ("block", usual.overview_requests())
    assert "<개요>\n끝\n</개요>\n<자막>" in by_file.with_overview("끝").messages(0).system
