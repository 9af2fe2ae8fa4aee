"""Whether the app is shown in a browser. Nothing of Textual is imported here."""

import os


def in_browser() -> bool:
    """Return whether this process shows its app to a page that `serve` serves."""
    return os.environ.get("TEXTUAL_DRIVER") == "textual.drivers.web_driver:WebDriver"
