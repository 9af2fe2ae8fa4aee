"""Decodes what a terminal sends, also bytes that are not UTF-8.

Textual 8.2.8 decodes strictly: one such byte, of a terminal set to EUC-KR or a torn paste, ends its input thread, and
no key works afterwards.
"""

import codecs
import sys
from collections.abc import Callable
from functools import partial


def _lenient_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


def activate() -> None:
    """Have terminals' input decoded with U+FFFD for each byte that cannot be read."""
    if sys.platform != "win32":  # a Windows console sends characters
        from textual.drivers import linux_driver

        setattr(linux_driver, "getincrementaldecoder", _lenient_decoder)  # noqa: B010 - mypy takes it for a type
