"""The keys in force and their meaning, for the help and the reference."""

from collections.abc import Collection

from textual.binding import Binding
from textual.dom import DOMNode

from subtitle_rag.i18n import _
from subtitle_rag.tui.keys import COMMANDS, keymap


def key_meaning(id: str) -> str:
    return _(COMMANDS[id].sentence)


def key_rows(
    kind: type[DOMNode], without: Collection[str] = (), listed_ids: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Return (keys, meaning) of everything a class declares, but for the keys of `without` and the ids `listed_ids`.

    Keys of the same meaning share a row; letters of Hangul, which share a key with others, are left out. Of two
    commands with the same key the first one has it. The class may say in `MEANINGS` what a command means there.
    """
    used_keys = set(without)
    keys_of: dict[str, list[str]] = {}
    for binding in keymap.declared_by(kind):
        id = binding.id or ""
        names = [] if id in listed_ids else [name for name in keymap.keys(id) if name not in used_keys]
        used_keys.update(names)
        if names:
            letters = [name for name in names if not "ㄱ" <= name <= "ㅣ"]  # the help says once that these work too
            keys_of.setdefault(_sentence(kind, binding), []).extend(map(keymap.key_text, letters))
    return [(" ".join(texts), sentence) for sentence, texts in keys_of.items()]


def _sentence(kind: type[DOMNode], binding: Binding) -> str:
    command = COMMANDS[binding.id or ""]
    if binding.action != command.binding.action:  # it closes here what it opens elsewhere
        return key_meaning("screen.back")
    return _(getattr(kind, "MEANINGS", {}).get(command.id) or command.together or command.sentence)
