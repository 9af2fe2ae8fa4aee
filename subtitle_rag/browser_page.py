"""How the app learns that a browser's page shows it. Nothing heavy is imported here, for every start reads it."""

import os

DRIVER = "subtitle_rag.tui.page_driver:PageDriver"
"""Textual's driver of such an app, as `serve` names it in TEXTUAL_DRIVER."""


def in_browser() -> bool:
    """Return whether this process shows its app to a page of `serve`."""
    return os.environ.get("TEXTUAL_DRIVER") == DRIVER
