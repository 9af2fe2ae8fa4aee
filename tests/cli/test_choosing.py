"""`index` of a list of channels: shown, counted and chosen from before anything is fetched."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.stand_ins.youtube import Channel, Clip, StandIn, stand_in
from tests.support.commandline import Run

QUICK = "[youtube]\npause_min = 0\npause_max = 0\npause_request = 0\nback_off = 0\nrest = 1000\n"
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


def listed(result: dict[str, list[dict[str, object]]]) -> list[tuple[object, object, object]]:
    return [(each["name"], each["videos"], each["followed"]) for each in result["choice"]]


def test_a_list_is_shown_and_nothing_is_fetched_before_the_choice(run: Run, youtube: StandIn, takeout: Path) -> None:
    shown = run("index", takeout)
    assert shown.code == 0
    assert [line.split()[0] for line in shown.out.splitlines()] == ["1", "2", "3"]
    assert shown.out.count("unknown") == 3
    assert "Nothing is fetched yet" in shown.err
    assert youtube.count() == 0

    assert listed(run("index", takeout, "--json").result) == [
        ("느린 부엌", None, False),
        ("숲길", None, False),
        ("없는 채널", None, False),
    ]
    indexed = run("index", "--choose", "2", "--json").result
    assert indexed["videos"]["new"] == 2
    assert [name for name, _videos, _followed in listed(run("index", takeout, "--json").result)] == [
        "느린 부엌",
        "숲길",
        "없는 채널",
    ]
    assert [each["followed"] for each in run("index", takeout, "--json").result["choice"]] == [False, True, False]


def test_videos_are_counted_where_one_asks_and_only_once(run: Run, youtube: StandIn, takeout: Path) -> None:
    counted = run("index", takeout, "--count")
    assert counted.code == 0
    assert "3 videos" in counted.out
    assert "less than a minute" in counted.out
    assert "about 5 videos" in counted.err
    requests = youtube.count()
    assert [each.path for each in youtube.asked()][:3] == ["/playlist"] * 3  # one for each channel that is there
    result = run("index", takeout, "--json").result
    assert listed(result) == [("느린 부엌", 3, False), ("숲길", 2, False), ("없는 채널", None, False)]
    assert result["choice"][2]["failure"] == "not_found"
    assert youtube.count() == requests


def test_a_block_ends_the_counting_and_is_a_rest_for_all(run: Run, youtube: StandIn, takeout: Path) -> None:
    youtube.refuse(None, 429, times=None)
    blocked = run("index", takeout, "--count")
    assert "! " in blocked.err
    assert run("status", "--json").result["rest"]["code"] == "rate_limited"
    before = youtube.count()
    run("index", "--count")
    assert youtube.count() == before


def test_all_that_are_not_followed_come_with_yes(run: Run, youtube: StandIn, takeout: Path) -> None:
    assert run("index", f"https://www.youtube.com/channel/{KITCHEN}").code == 0
    indexed = run("index", takeout, "--yes", "--json")
    assert indexed.document["result"]["videos"]["new"] == 2


def test_a_list_on_stdin_and_a_choice_by_name(run: Run, youtube: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"https://www.youtube.com/channel/{KITCHEN}\n@숲길\nhttps://example.org\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))
    shown = run("index", "-")
    assert "1 other address is left out" in shown.err
    assert run("index", "--choose", "숲", "--json").result["videos"]["new"] == 2


def test_a_list_without_names_keeps_those_of_an_earlier_one(
    run: Run, youtube: StandIn, takeout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("index", takeout).code == 0
    text = f"https://www.youtube.com/channel/{KITCHEN}\nhttps://www.youtube.com/channel/{FOREST}\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))
    assert {each["name"] for each in run("index", "-", "--json").result["choice"]} == {"느린 부엌", "숲길"}


def test_a_terminal_is_asked_and_enter_keeps_the_list(
    run: Run, youtube: StandIn, takeout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("\n"))
    assert run("index", takeout).code == 0
    assert youtube.count() == 0
    monkeypatch.setattr(sys, "stdin", Terminal("1, 숲길\n"))
    assert "5 new videos" in run("index", takeout).out


@pytest.mark.parametrize("wanted", ["4", "0", "2-1", "없는 이름", "1,-"])
def test_a_choice_that_names_nothing_is_refused(run: Run, takeout: Path, wanted: str) -> None:
    assert run("index", takeout, "--choose", wanted, "--json").failure == "unknown_choice"


def test_without_a_list_there_is_no_choice(run: Run, takeout: Path, tmp_path: Path) -> None:
    assert run("index", "--choose", "1", "--json").failure == "no_choice"
    assert run("index").code == 2
    assert run("index", takeout, tmp_path).code == 2
    (tmp_path / "x.html").write_text("<a href='javascript:alert(1)'>x</a>")
    assert run("index", tmp_path / "x.html", "--json").failure == "list_empty"
