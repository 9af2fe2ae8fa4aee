"""The end of a long job, told outside of the app: when, to which terminal, and nothing that could steer it."""

import unicodedata
from dataclasses import replace

import pytest
from textual import events

from subtitle_rag.config.settings import TuiSettings
from subtitle_rag.domain import Found, IndexReport, VideoDone
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import terminal
from subtitle_rag.tui.state.job import Job
from tests.tui.conftest import AppPilot, running

HOSTILE = "\x1b]0;pwned\x07\x9d\x1b\\ 가;나\u202e"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the app writes to its terminal beside its screens: a headless driver writes nothing."""
    from textual.drivers.headless_driver import HeadlessDriver

    told: list[str] = []

    def write(_driver: HeadlessDriver, data: str) -> None:
        if not data.startswith("\x1b]22;"):  # the pointer's shape, which is Textual's
            told.append(data)

    monkeypatch.setattr(HeadlessDriver, "write", write)
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("STY", raising=False)
    return told


@pytest.fixture
def notifying(unindexed: Runtime) -> Runtime:
    unindexed.settings = replace(unindexed.settings, tui=TuiSettings(notify=True))
    return unindexed


def under_way(seconds: float, source: str = "느린 부엌") -> Job:
    job = Job(source, fetches=True).after(Found(128), 1.0)
    for number in range(37):
        job = job.after(VideoDone(f"v{number}", "편", "new", 8), seconds)
    return job


async def blur(pilot: AppPilot) -> None:
    pilot.app.post_message(events.AppBlur())
    await pilot.pause()


async def look(pilot: AppPilot) -> None:
    pilot.app.post_message(events.AppFocus())
    await pilot.pause()


class TestTheApp:
    @pytest.mark.campaign(part="app")
    async def test_progress_stands_in_the_title_and_the_end_rings_for_who_is_away(
        self, notifying: Runtime, written: list[str]
    ) -> None:
        async with running(SubtitleApp(notifying)) as (app, pilot):
            await blur(pilot)
            app.job = under_way(61.0)
            await pilot.pause()
            assert written == ["\x1b[22;2t\x1b]2;37/128 – subtitle-rag\a"]
            app.job = app.job.after(IndexReport(), 61.0)
            await pilot.pause()
            title, bell = written[1:]
            assert title == "\x1b]2;37 new videos can be searched now. – subtitle-rag\a"
            assert bell == "\a\x1b]9;subtitle-rag: 37 new videos can be searched now.\a"
            await look(pilot)
            assert written[3:] == ["\x1b]2;subtitle-rag\a\x1b[23;2t"]

    @pytest.mark.campaign(part="app")
    async def test_a_short_job_or_somebody_who_looks_is_left_alone(
        self, notifying: Runtime, written: list[str]
    ) -> None:
        async with running(SubtitleApp(notifying)) as (app, pilot):
            await blur(pilot)
            app.job = under_way(59.0).after(IndexReport(), 59.0)
            await look(pilot)
            app.job = under_way(3_600.0)
            app.job = app.job.after(IndexReport(), 3_600.0)
            await pilot.pause()
            assert not [one for one in written if "\a" in one and not one.startswith("\x1b")]
            assert not [one for one in written if "\x1b]9;" in one]
            assert written[-1].endswith("\x1b[23;2t")

    @pytest.mark.campaign(part="app")
    async def test_unasked_nothing_is_written(self, unindexed: Runtime, written: list[str]) -> None:
        async with running(SubtitleApp(unindexed)) as (app, pilot):
            await blur(pilot)
            app.job = under_way(61.0)
            app.job = app.job.after(IndexReport(), 61.0)
            await look(pilot)
        assert written == []

    @pytest.mark.campaign(part="app")
    async def test_the_title_is_given_back_when_the_app_ends(self, notifying: Runtime, written: list[str]) -> None:
        async with running(SubtitleApp(notifying)) as (app, pilot):
            app.job = under_way(61.0)
            await pilot.pause()
        assert written[-1] == "\x1b]2;subtitle-rag\a\x1b[23;2t"

    @pytest.mark.campaign(part="app")
    async def test_names_from_outside_steer_no_terminal(self, notifying: Runtime, written: list[str]) -> None:
        async with running(SubtitleApp(notifying)) as (app, pilot):
            await blur(pilot)
            app.job = replace(under_way(61.0, HOSTILE), ended=True, stopped=True)
            await pilot.pause()
            title, bell = written
            assert title.startswith("\x1b[22;2t\x1b]2;")
            assert plain(title.removeprefix("\x1b[22;2t\x1b]2;").removesuffix("\a"))
            assert plain(bell.removeprefix("\a\x1b]9;").removesuffix("\a"))


def plain(said: str) -> bool:
    return bool(said) and not any(unicodedata.category(c)[0] == "C" for c in said)


class TestTerminals:
    @pytest.mark.parametrize(
        ("environment", "sequence"),
        [
            ({"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, "\x1b]9;subtitle-rag: 됐어요, 끝\a"),
            ({"TERM_PROGRAM": "WezTerm"}, "\x1b]777;notify;subtitle-rag;됐어요, 끝\x1b\\"),
            ({"TERM_PROGRAM": "ghostty"}, "\x1b]777;notify;subtitle-rag;됐어요, 끝\x1b\\"),
            ({"TERM": "foot"}, "\x1b]777;notify;subtitle-rag;됐어요, 끝\x1b\\"),
            ({"TERM": "xterm-kitty"}, "\x1b]99;;subtitle-rag: 됐어요, 끝\x1b\\"),
            ({"TERM": "xterm-256color"}, ""),
            ({"TERM_PROGRAM": "Apple_Terminal"}, ""),
            ({"TERM_PROGRAM": "vscode"}, ""),
            ({"TERM_PROGRAM": "WezTerm", "TMUX": "/tmp/tmux,1,0"}, ""),
            ({"TERM": "xterm-kitty", "STY": "1.pts"}, ""),
            ({}, ""),
        ],
    )
    def test_a_notice_is_shown_by_those_that_are_known_to(self, environment: dict[str, str], sequence: str) -> None:
        assert terminal.notice("됐어요; 끝", environment) == sequence

    def test_a_notice_is_one_sequence_of_plain_text(self) -> None:
        sequence = terminal.notice(HOSTILE * 100, {"TERM": "foot"})
        body = sequence.removeprefix("\x1b]777;notify;subtitle-rag;").removesuffix("\x1b\\")
        assert plain(body)
        assert ";" not in body
        assert len(body) <= terminal.LONGEST
