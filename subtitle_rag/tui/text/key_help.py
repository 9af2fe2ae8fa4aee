"""Active keys and their meaning, for the help and the reference."""

from collections.abc import Callable, Iterable

from subtitle_rag.i18n import _
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS


def key_meaning(id: str) -> str:
    return _(COMMANDS[id].sentence)


def key_rows(ids: Iterable[str], meaning: Callable[[str], str] = key_meaning) -> list[tuple[str, str]]:
    """Return (keys, meaning) of the commands with keys.

    Leaves out Hangul letters, which share a key with Latin ones: the help mentions once that they work too.
    """
    rows = ((" ".join(keymap.key_text(name) for name in keymap.keys(id) if not is_jamo(name)), id) for id in ids)
    return [(keys, meaning(id)) for keys, id in rows if keys]


def is_jamo(name: str) -> bool:
    return "ㄱ" <= name <= "ㅣ"
