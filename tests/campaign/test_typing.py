"""200 words of Korean in every list and screen, and while the app starts: no command runs, no letter is lost."""

import json
import os
import pty
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual import events
from textual.widgets import Input

from subtitle_rag.base.config import settings as config
from subtitle_rag.korean.keyboard import key_sequence
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from tests.campaign.figures import Say, count, say
from tests.campaign.typed_places import PLACES, QUERY, fill, go_to, in_letters, words
from tests.support.invented import came_true, end_hosts
from tests.tui.conftest import running, without_models

__all__ = ["say"]

WORDS = words(count("SUBTITLE_RAG_WORDS", 8))
QUIET = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'
MOMENTS = (0.0, 0.2, 0.4, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0)
"""Seconds after the start of the process."""
PATIENCE_S = 30.0
TRIES = 10
"""Most times that a word is typed until the terminal delivers it."""
WAYS: dict[str, Callable[[str], str]] = {"syllables": str, "letters": in_letters}
"""What a terminal delivers with an input method, and without one."""
DESK = ("Xvfb", "xterm", "kitty", "xdotool", "ibus-daemon", "ibus", "dbus-daemon")


KITTY_SIZE = ("-o", "remember_window_size=no", "-o", "initial_window_width=130c", "-o", "initial_window_height=40c")


def has_text(text: str, state: dict[str, Any]) -> bool:
    return bool(state.get("text") == text)


def is_open_with(text: str, is_sample: bool, state: dict[str, Any]) -> bool:
    """Whether the library is open, and the text is in the field."""
    return has_text(text, state) and bool(state["ready"]) and state["sample"] is is_sample


@dataclass
class Typed:
    """What came of the words of one place."""

    lost: list[tuple[str, str | None]] = field(default_factory=list)
    """A word, and what is in the field in its place."""
    commands: list[str] = field(default_factory=list)

    def note(self, word: str, text: str | None, commands: list[str]) -> None:
        if text != word:
            self.lost.append((word, text))
        self.commands += commands

    def check(self, say: Say, where: str) -> None:
        say(f"{where}: {len(WORDS)} words, {len(self.commands)} commands run, {len(self.lost)} not whole")
        assert (self.commands, self.lost) == ([], [])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a library with a row in every list."""
    home = tmp_path_factory.mktemp("typing")
    (home / "config.toml").write_text(QUIET)
    with Runtime(without_models(config.load(home=home, language="ko"))) as runtime:
        fill(runtime)
    yield home
    end_hosts([runtime.settings.paths.index])


# --- by the pilot, which is quick ---


@pytest.mark.campaign(part="typing")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
async def test_words_at_once(home: Path, place: str, way: str, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []
    run_action = SubtitleApp.run_action

    async def record(app: SubtitleApp, action: Any, default_namespace: Any = None, *rest: Any) -> bool:
        done = await run_action(app, action, default_namespace, *rest)
        if done and not isinstance(default_namespace, Input):
            commands.append(str(action))
        return done

    monkeypatch.setattr(SubtitleApp, "run_action", record)
    typed = Typed()
    with Runtime(without_models(config.load(home=home, language="ko"))) as runtime:
        async with running(SubtitleApp(runtime), size=(120, 40)) as (app, pilot):
            for word in map(WAYS[way], WORDS):
                await go_to(app, place)
                commands.clear()
                for character in word:
                    app.post_message(events.Key("space" if character == " " else character, character))
                await pilot.pause()
                while app.key_router.waits:
                    await pilot.pause(0.01)
                await pilot.pause()
                text = app.focused.value if isinstance(app.focused, Input) else None
                typed.note(word, text and text.removeprefix(QUERY), commands)
    typed.check(say, f"{place}, {way}")


# --- on terminals ---


def own_size() -> dict[str, str]:
    """Return the variables of a terminal that tells its size itself."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


class Terminal:
    """An app on a terminal, and what it tells of itself."""

    last_keys: ClassVar[tuple[str, ...]] = ()
    """Keys that follow a word."""

    def __init__(self, home: Path, folder: Path, *, language: str = "ko") -> None:
        self._record = folder / "record.json"
        self._record.unlink(missing_ok=True)
        arguments = ("--home", str(home), "--language", language)
        self.command = [sys.executable, "-m", "tests.campaign.typed_app", str(self._record), *arguments]
        self.process: subprocess.Popen[bytes]

    def state(self) -> dict[str, Any]:
        return json.loads(self._record.read_text()) if self._record.exists() else {}

    def wait_for(self, holds: Callable[[dict[str, Any]], object], seconds: float = PATIENCE_S) -> dict[str, Any]:
        came_true(lambda: bool(holds(self.state())), seconds)
        return self.state()

    def go_to(self, place: str) -> None:
        go, part = self._record.with_suffix(".go"), self._record.with_suffix(".place")
        part.write_text(place)
        part.replace(go)
        assert came_true(lambda: not go.exists(), PATIENCE_S)

    def type(self, word: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class Pty(Terminal):
    """A terminal that delivers what is typed as bytes, at once."""

    def __init__(self, home: Path, folder: Path, **options: str) -> None:
        super().__init__(home, folder, **options)
        self._end, tty = pty.openpty()
        termios.tcsetwinsize(tty, (40, 130))
        self.process = subprocess.Popen(
            self.command, env=own_size(), stdin=tty, stdout=tty, stderr=tty, start_new_session=True
        )
        os.close(tty)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        """Read what the app draws, until it ends, or it would wait."""
        try:
            while os.read(self._end, 2**16):
                pass
        except OSError:  # the other end is closed
            return

    def type(self, word: str) -> None:
        os.write(self._end, word.encode())

    def close(self) -> None:
        super().close()
        os.close(self._end)


class Windowed(Terminal):
    """A terminal in a window, where an input method makes syllables of the keys of a keyboard."""

    last_keys = ("right",)
    PROGRAMS: ClassVar = {
        "xterm": ("xterm", "-u8", "-geometry", "130x40", "-e"),
        "kitty": ("kitty", "--config", "NONE", "-o", "confirm_os_window_close=0", *KITTY_SIZE),
    }

    def __init__(self, name: str, home: Path, folder: Path, desk: dict[str, str]) -> None:
        super().__init__(home, folder)
        self._desk = desk
        command = [*self.PROGRAMS[name], *self.command]
        self.process = subprocess.Popen(command, env=desk, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert self.wait_for(lambda state: state.get("ready"), 2 * PATIENCE_S), "the app is not there"
        window = self._do("search", "--onlyvisible", "--class", name).split()[-1]
        self._do("windowfocus", "--sync", window)
        assert any(self._writes_hangul() for _ in range(10)), "the input method does not compose"

    def _writes_hangul(self) -> bool:
        """Turn from Latin letters to Hangul, and return whether the terminal, which may ask late for it, has heard."""
        self._do("key", "shift+space")
        self.go_to("scenes")
        self.type("아")
        return has_text("아", self.wait_for(partial(has_text, "아"), PATIENCE_S / 10))

    def _do(self, *arguments: str) -> str:
        done = subprocess.run(["xdotool", *arguments], env=self._desk, check=True, capture_output=True, text=True)
        return done.stdout

    def type(self, word: str) -> None:
        """Press the keys of a word, and one that ends the composition of its last syllable."""
        keys = [f"shift+{key.lower()}" if key.isupper() else key for key in key_sequence(word).replace("\0", "")]
        self._do("key", "--delay", "30", *("space" if key == " " else key for key in keys), "Right")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables of a desktop without a screen, on which ibus-hangul composes."""
    folder = tmp_path_factory.mktemp("desk")
    folder.chmod(0o700)
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout
    number = server.stdout.readline().decode().strip()
    variables = {
        **own_size(),
        "DISPLAY": f":{number}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",  # kitty is a program of the system's Python
        "XMODIFIERS": "@im=ibus",
        "GLFW_IM_MODULE": "ibus",
        "IBUS_ENABLE_SYNC_MODE": "1",  # else a key may overtake the syllable that it ends, before any terminal has it
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address=1"], env=variables, stdout=subprocess.PIPE
    )
    assert bus.stdout
    variables["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
    method = subprocess.Popen(["ibus-daemon", "--xim", "--panel=disable"], env=variables, stderr=subprocess.DEVNULL)
    try:
        engine = ["ibus", "engine", "hangul"]
        assert came_true(lambda: subprocess.run(engine, env=variables, check=False).returncode == 0, PATIENCE_S)
        yield variables
    finally:
        for process in (method, bus, server):
            process.terminate()
            process.communicate()  # which closes its pipe


def come_whole(terminal: Terminal, place: str, word: str) -> dict[str, Any]:
    """Type a word, again if the terminal did not deliver it: on a busy machine keys overtake syllables before that."""
    keys, state = [*word, *terminal.last_keys], dict[str, Any]()

    def is_typed(state: dict[str, Any]) -> bool:
        return len(state["delivered"]) >= len(keys) and (has_text(word, state) or state["delivered"] != keys)

    for _ in range(TRIES):
        terminal.go_to(place)
        terminal.type(word)
        state = terminal.wait_for(is_typed, PATIENCE_S / 3)
        if state["delivered"] == keys:
            return state
    raise AssertionError(f"{place}: the terminal delivers {state['delivered']} of {word}")


def type_everywhere(terminal: Terminal, say: Say, name: str) -> None:
    for place in PLACES:
        typed = Typed()
        for word in WORDS:
            state = come_whole(terminal, place, word)
            commands = [each for each in state["commands"] if "cursor_right" not in each]
            typed.note(word, state["text"], commands)
        typed.check(say, f"{name}, {place}")


@pytest.mark.hosts
@pytest.mark.campaign(part="typing")
def test_words_on_a_terminal_without_an_input_method(home: Path, tmp_path: Path, say: Say) -> None:
    terminal = Pty(home, tmp_path)
    try:
        assert terminal.wait_for(lambda state: state.get("ready"), 2 * PATIENCE_S), "the app is not there"
        type_everywhere(terminal, say, "pty")
    finally:
        terminal.close()


@pytest.mark.hosts
@pytest.mark.campaign(part="typing")
@pytest.mark.parametrize("library", ["filled", "empty", "sample"])
def test_words_while_the_app_starts(home: Path, tmp_path: Path, say: Say, library: str) -> None:
    """`sample`: Ctrl+D comes first, which an empty library has open the sample."""
    per_moment = max(1, len(WORDS) // len(MOMENTS))
    typed = Typed()
    for number, moment in enumerate(MOMENTS):
        own = home if library == "filled" else tmp_path / str(number)
        if library != "filled":
            own.mkdir()
            (own / "config.toml").write_text(QUIET)
        words = " ".join(WORDS[number * per_moment : (number + 1) * per_moment])
        terminal = Pty(own, tmp_path)
        try:
            time.sleep(moment)
            terminal.type("\x04" + words if library == "sample" else words)
            is_there = terminal.wait_for(
                partial(is_open_with, words, library == "sample"),
                2 * PATIENCE_S,
            )
        finally:
            terminal.close()
            if library != "filled":
                end_hosts([own])
        run = [each for each in is_there.get("commands", ()) if each != "switch_library"]
        typed.note(words, is_there.get("text"), run)
    typed.check(say, f"while starting, {library}")


@pytest.mark.hosts
@pytest.mark.programs(*DESK)
@pytest.mark.campaign(part="input")
@pytest.mark.parametrize("name", Windowed.PROGRAMS)
def test_words_through_an_input_method(home: Path, tmp_path: Path, desk: dict[str, str], say: Say, name: str) -> None:
    terminal = Windowed(name, home, tmp_path, desk)
    try:
        type_everywhere(terminal, say, name)
    finally:
        terminal.close()
