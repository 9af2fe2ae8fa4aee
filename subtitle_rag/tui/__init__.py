"""The terminal app, started by `run`, which imports Textual.

`prepare_textual` must run before that import. It turns off the Kitty keyboard protocol, which breaks Hangul input:
iTerm2 drops committed syllables, VS Code doubles them. No key of the app needs the protocol.
"""

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual import events

    from subtitle_rag.base.config.settings import Settings

__all__ = ["run"]

FRAMES = 240
"""Frames per second at most. Textual's default of 60 delays the results of a key by 10 ms."""
LEAVING_S = 3.0
"""Longest wait for a job on exit; a hanging request is abandoned."""


def prepare_textual() -> None:
    """Set the environment variables that Textual reads on import."""
    os.environ.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")  # it breaks Hangul input
    os.environ.setdefault("TEXTUAL_FPS", str(FRAMES))


@contextmanager
def silent_terminal() -> "Iterator[None]":
    """Context manager: no echo while no app reads the terminal, and typed keys are kept."""
    try:
        import termios
    except ImportError:  # Windows
        yield
        return
    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (OSError, termios.error):  # no terminal
        yield
        return
    quiet = [*before[:3], before[3] & ~(termios.ECHO | termios.ICANON), *before[4:]]
    termios.tcsetattr(terminal, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


def run(settings: "Settings", *, in_sample: bool = False) -> int:
    """Run the app on the user's library or the sample until the user quits, and return the exit status.

    Raises:
        UsageError: `bad_config`, if the config has an invalid key or theme.
    """
    with silent_terminal():
        return _run(settings, in_sample=in_sample)


def _run(settings: "Settings", *, in_sample: bool) -> int:
    prepare_textual()
    from subtitle_rag.library.app_state import theme_at
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui import themes
    from subtitle_rag.tui.app import SubtitleApp
    from subtitle_rag.tui.keys import keymap
    from subtitle_rag.tui.navigation import LibrarySwitch
    from subtitle_rag.workflows.sample_library import sample_settings

    keymap.check(settings.keys, settings.paths.config)
    themes.check(settings)
    address = ""
    typed: tuple[events.Key | events.Paste, ...] = ()
    while True:
        with Runtime(sample_settings(settings) if in_sample else settings) as runtime:
            runtime.prioritize_queries = True
            app = SubtitleApp(runtime, address=address, typed=typed)
            app.freezes_objects = True
            app.first_theme = theme_at(runtime.settings.paths.library) or theme_at(settings.paths.library)
            end = app.run()
            app.wait_for_threads(LEAVING_S)
        if not isinstance(end, LibrarySwitch):
            return app.return_code or 0
        in_sample, address, typed = in_sample == end.is_same, end.address, tuple(app.key_router.waiting)
        settings = _reread(settings)


def _reread(settings: "Settings") -> "Settings":
    """Reread the config. If it has a mistake, return `settings` unchanged."""
    from subtitle_rag.base.domain.errors import UsageError
    from subtitle_rag.tui import themes
    from subtitle_rag.tui.keys import keymap
    from subtitle_rag.workflows.app_settings import settings_for_reopening

    new = settings_for_reopening(settings)
    try:
        keymap.check(new.keys, new.paths.config)
        themes.check(new)
    except UsageError:
        return settings
    return new
