"""Active keys and their meaning, for the help and the reference."""

from collections.abc import Iterable

from textual.binding import Binding

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys import keymap


def key_rows(bindings: Iterable[Binding]) -> list[tuple[str, str]]:
    """Return (keys, meaning) of the commands with keys.

    Leaves out Hangul letters, which share a key with Latin ones: the help mentions once that they work too.
    """
    rows = []
    for binding in bindings:
        names = [keymap.key_text(name) for name in keymap.keys(binding.id or "") if not is_jamo(name)]
        rows.append((" ".join(names), _(binding.tooltip)))
    return [(keys, meaning) for keys, meaning in rows if keys]


def is_jamo(name: str) -> bool:
    return "ㄱ" <= name <= "ㅣ"
