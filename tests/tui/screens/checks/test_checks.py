"""F6: every check as it ends, none twice at once; the network only for whoever asks, and nothing held up by one that
hangs."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from textual.widgets import Static

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.checks.check_list import CheckList, CheckRow
from subtitle_rag.tui.screens.checks.checks_screen import ChecksScreen
from subtitle_rag.workflows import checks as doctor
from tests.stand_ins.youtube import stand_in
from tests.tui.conftest import AppPilot, MakeApp, border, commands, drawn_by, run_command, running, settle, typed, until

DEVICE_S = 60
"""PyTorch's import included, on a machine with much else to do."""


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each probe was run."""
    counted: Counter[str] = Counter()
    probe = doctor.probe

    def counting(name: str, *arguments: object) -> doctor.Check:
        counted[name] += 1
        return probe(name, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(doctor, "probe", counting)
    return counted


@pytest.fixture
def silent() -> Iterator[str]:
    """A place where somebody answers the telephone and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def rows(app: SubtitleApp) -> dict[str, str]:
    """What each row says, by the name of its check."""
    return {
        str(row.id).removeprefix("check-"): " ".join(str(part.content) for part in row.query(Static))
        for row in app.screen.query(CheckRow)
    }


def title(app: SubtitleApp) -> str:
    return border(app.screen.query_one("#all-checks"))


async def ended(pilot: AppPilot) -> None:
    await until(pilot, lambda: not pilot.app.screen.query_one(CheckList).busy, DEVICE_S)
    await settle(pilot)


class TestScreen:
    @pytest.mark.campaign(part="app")
    async def test_all_are_made_and_nothing_is_sent(self, app_of: MakeApp, looked: Counter[str]) -> None:
        async with running(app_of(), size=(120, 50)) as (app, pilot):
            with stand_in() as youtube:
                await run_command(pilot, "app.checks")
                await ended(pilot)
                assert youtube.count() == 0
            assert looked == dict.fromkeys(doctor.OFFLINE, 1)
            told = rows(app)
            assert set(told) == doctor.OFFLINE
            assert told["library"].startswith("✓ Library 9 videos, 75 windows in ")
            assert told["ollama"].startswith("! Ollama ")
            assert "\n→ Optional:" in told["ollama"]
            assert told["device"].startswith("✓ Device cpu (")
            assert "to fix, or to leave" in title(app)

    @pytest.mark.campaign(part="app")
    async def test_keys_check_again_ask_youtube_and_close(self, app_of: MakeApp, looked: Counter[str]) -> None:
        async with running(app_of("ko"), "치킨", size=(80, 24)) as (app, pilot):
            await run_command(pilot, "app.checks")
            await ended(pilot)
            with stand_in() as youtube:
                await run_command(pilot, "checks.network")
                await ended(pilot)
                assert youtube.count() == 1
                assert "YouTube" in drawn_by(app)
                await pilot.press("ㄱ")
                await ended(pilot)
                assert youtube.count() == 1  # nobody asked again
            assert looked["network"] == 1
            assert looked["terminal"] == 2
            assert rows(app)["network"].startswith("✓ YouTube")
            await pilot.press("escape")
            assert app.screen is app.search_screen
            assert app.search_screen.query_line.value == "치킨"

    @pytest.mark.campaign(part="app")
    async def test_one_that_hangs_holds_up_no_other_and_is_not_made_twice(
        self, app_of: MakeApp, runtime: Runtime, looked: Counter[str], silent: str
    ) -> None:
        app = app_of()
        runtime.settings = replace(runtime.settings, llm=LlmSettings(hosts=(silent,)))
        async with running(app, size=(120, 50)) as (_, pilot):
            await run_command(pilot, "app.checks")
            checks = app.screen.query_one(CheckList)
            await until(pilot, lambda: set(checks.results) == doctor.OFFLINE - {"ollama"}, DEVICE_S)
            assert rows(app)["ollama"].strip() == "… Ollama"
            assert f"{len(doctor.OFFLINE) - 1} of {len(doctor.OFFLINE)} done" in title(app)
            await pilot.press("r")
            await until(pilot, lambda: set(checks.results) == doctor.OFFLINE - {"ollama"}, DEVICE_S)
            assert (looked["ollama"], looked["terminal"]) == (1, 2)
            await pilot.press("escape")
            await typed(pilot, "치킨")
            assert app.search_screen.scenes.row_count

    @pytest.mark.campaign(part="app")
    async def test_a_screen_that_is_opened_again_begins_none_that_is_under_way(
        self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun: Counter[str] = Counter()
        ending = threading.Event()

        def probe(name: str, _runtime: Runtime) -> doctor.Check:
            begun[name] += 1
            ending.wait(60)
            return doctor.Check(name, "ok", "well")

        monkeypatch.setattr(doctor, "probe", probe)
        async with running(app_of(), size=(120, 50)) as (app, pilot):
            for _opening in range(3):
                await run_command(pilot, "app.checks")
                await until(pilot, lambda: len(begun) == 4)  # three threads, and the one of the doors
                await pilot.press("escape")
            assert set(begun.values()) == {1}
            first = set(begun)
            await run_command(pilot, "app.checks")
            ending.set()
            await ended(pilot)
            assert set(app.screen.query_one(CheckList).results) == doctor.OFFLINE
        assert {begun[name] for name in doctor.OFFLINE - first} == {1}

    @pytest.mark.campaign(part="app")
    async def test_the_palette_has_it_and_it_does_not_open_over_itself(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            assert "Go to: Checks" in commands(app)
            await run_command(pilot, "app.checks")
            assert isinstance(app.screen, ChecksScreen)
            assert "Go to: Checks" not in commands(app)
            await pilot.press("f1")
            assert len([screen for screen in app.screen_stack if isinstance(screen, ChecksScreen)]) == 1


class TestProbe:
    def test_what_a_probe_raises_is_its_finding(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _place: 1 / 0)
        found = doctor.probe("disk", runtime)
        assert (found.name, found.severity) == ("disk", "error")
        assert "ZeroDivisionError" in found.message
        assert found.remedy

    @pytest.mark.campaign(part="app")
    def test_a_device_is_told_in_the_language_of_who_asks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LANGUAGE", "ko")
        command = [sys.executable, "-m", "subtitle_rag.models.neural.device"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        severity, message, remedy = json.loads(done.stdout)
        assert (severity, remedy) == ("ok", None)
        assert re.search("[가-힣]", message)

    def test_a_process_that_cannot_tell_is_told(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        """As with a PyTorch that does not suit the machine: the process just ends."""
        monkeypatch.setattr(sys, "executable", shutil.which("false"))
        found = doctor.probe("device", runtime)
        assert (found.severity, found.message) == ("error", "PyTorch does not start. It said: exit 1")

    def test_every_check_has_a_name_for_people(self) -> None:
        from subtitle_rag.tui.screens.checks.check_list import LABELS

        assert set(LABELS) == set(doctor.PROBES)
        assert set(doctor.DOORS) <= doctor.OFFLINE
