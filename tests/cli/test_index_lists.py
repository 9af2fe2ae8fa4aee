"""`index` of lists of addresses: one question, with the number of channels, before anything is fetched."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.stand_ins.youtube import Channel, Clip, StandIn, stand_in
from tests.support.commandline import Run

QUICK = "[youtube]\npause = 0\nrest = 1000\n"
KITCHEN, FOREST, GONE = ("UC" + letter * 22 for letter in "abc")

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def run(isolated_home: Path, command: Run) -> Run:
    (isolated_home / "config.toml").write_text(QUICK)
    return command


@pytest.fixture
def youtube() -> Iterator[StandIn]:
    with stand_in() as youtube:
        youtube.add(
            Channel(KITCHEN, "@느린부엌", "느린 부엌", [Clip(f"slowcook{n:03d}", f"국수 {n}") for n in range(3)])
        )
        youtube.add(Channel(FOREST, "@숲길", "숲길", [Clip(f"forestwy{n:03d}", f"만두 {n}") for n in range(2)]))
        yield youtube


@pytest.fixture
def takeout(tmp_path: Path) -> Path:
    rows = ((KITCHEN, "느린 부엌"), (FOREST, "숲길"), (GONE, "없는 채널"))
    lines = [f"{id},http://www.youtube.com/channel/{id},{name}" for id, name in rows]
    path = tmp_path / "subscriptions.csv"
    path.write_text("\n".join(["채널 ID,채널 URL,채널 제목", *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a terminal was asked; its answers are `n`, then `y`."""
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "ny"[len(prompts) - 1]

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    return prompts


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))


def test_nothing_is_fetched_before_the_one_question(
    run: Run, youtube: StandIn, takeout: Path, asked: list[str]
) -> None:
    declined = run("index", takeout)
    assert (declined.code, declined.out, youtube.count()) == (0, "", 0)
    assert "The number of videos shows as their lists are read" in declined.err
    assert "Nothing was fetched." in declined.err
    assert asked == ["Fetch 3 channels? [y/N]: "]
    assert "5 new videos" in run("index", takeout).out


def test_without_a_terminal_yes_is_needed(run: Run, youtube: StandIn, takeout: Path) -> None:
    refused = run("index", takeout)
    assert (refused.code, youtube.count()) == (2, 0)
    assert "--yes" in refused.err
    assert run("index", takeout, "--yes", "--json").document["result"]["videos"]["new"] == 5


def test_what_is_in_the_library_is_left_out(run: Run, youtube: StandIn, takeout: Path, asked: list[str]) -> None:
    assert run("index", f"https://www.youtube.com/channel/{KITCHEN}").code == 0
    assert "1 other is in the library already." in run("index", takeout).err
    assert asked == ["Fetch 2 channels? [y/N]: "]
    assert "2 new videos" in run("index", takeout).out
    takeout.write_text(f"https://www.youtube.com/channel/{KITCHEN}\nhttps://www.youtube.com/channel/{FOREST}\n")
    requests = youtube.count()
    again = run("index", takeout)
    assert (again.code, youtube.count(), len(asked)) == (0, requests, 2)
    assert "Nothing was fetched." in again.err


def test_a_list_on_stdin_is_read_beside_other_sources(
    run: Run, youtube: StandIn, takeout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, f"https://www.youtube.com/channel/{KITCHEN}\n@숲길\nhttps://example.org\n")
    indexed = run("index", "-", takeout, "https://youtu.be/slowcook001", "--yes", "--json")
    assert "1 other address is left out" in indexed.err
    assert indexed.document["result"]["videos"]["new"] == 5


def test_what_is_no_list_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("index").code == 2
    (tmp_path / "x.html").write_text("<a href='javascript:alert(1)'>x</a>")
    assert run("index", tmp_path / "x.html", "--json").failure == "list_unreadable"
