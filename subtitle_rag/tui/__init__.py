"""The terminal app. `run` is its only door; nothing of Textual is imported before it is called.

The Kitty keyboard protocol breaks Hangul input on several terminals (iTerm2 drops what an input method commits, VS
Code doubles it), and Textual reads the switch that turns it off when it is imported. The app uses no key that needs
the protocol.
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
"""Per second, at most. The scenes of a key wait for the first one after the key's own frame, with Textual's 60 for
10 ms (`scripts/bench app`, "key to repainted list")."""
LEAVING_S = 3.0
"""Longest wait for a job at the end; a request that hangs is left to itself."""


def prepare_textual() -> None:
    """Set what Textual reads when it is imported."""
    os.environ.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")  # it breaks Hangul input on several terminals
    os.environ.setdefault("TEXTUAL_FPS", str(FRAMES))


@contextmanager
def silent_terminal() -> "Iterator[None]":
    """Have the terminal keep what is typed while no app reads it, and show none of it."""
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
    """Show the app until the user leaves it, on the user's library or the sample; returns the exit status.

    Raises:
        UsageError: `bad_config`, for keys and theme, of which only the app knows what there is.
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
    """Return the settings as the config has them now, or these if anything in it is wrong."""
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
