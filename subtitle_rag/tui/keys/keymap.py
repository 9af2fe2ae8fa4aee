"""The keys in force: those of the bindings, or those of the user's `[keys]` in their place.

They belong to the process, as its language does, so that any sentence can name them.
"""

import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import combinations
from pathlib import Path

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys, format_key
from textual.screen import Screen

from subtitle_rag.config import Mistake, bad_config, did_you_mean, mistake_in, nearest
from subtitle_rag.i18n import _
from subtitle_rag.retrieval import key_sequence
from subtitle_rag.tui.keys.commands import COMMANDS

PACKAGE = "subtitle_rag.tui"
FOLLOWERS = {command.id: command.follows for command in COMMANDS.values() if command.follows}
"""Commands with the key of another command: they change with it."""
TWINS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡ", strict=True))
"""The same keys of a keyboard that types Hangul."""
NAMES = frozenset(key.value for key in Keys if "<" not in key.value)
SAME = {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+m": "enter"}
"""Keys which a terminal sends as the same characters as others."""
INPUT_METHOD = frozenset({"ctrl+@", "ctrl+space", "shift+space", "f9"})
EDITING = frozenset({"backspace", "left", "right", "home", "end"})
LABELS = {
    "enter": "Enter",
    "escape": "Esc",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Backspace",
    "delete": "Delete",
    "insert": "Insert",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl": "Ctrl",
    "shift": "Shift",
    "alt": "Alt",
}
"""Textual's names of keys, as keyboards print them."""
_BY_LABEL = {label.casefold(): name for name, label in LABELS.items()}

_user_keys: dict[str, str] = {}


def activate(keymap: Mapping[str, str]) -> None:
    """Put these keys, by id, in force in this process. `check` must have passed them."""
    _user_keys.clear()
    _user_keys.update({id: ",".join(_with_twins(_parts(keys))) for id, keys in keymap.items()})
    for id, leader in FOLLOWERS.items():
        if leader in keymap and id not in keymap:
            before = _parts(COMMANDS[leader].key)
            rest = [part for part in _parts(COMMANDS[id].key) if part not in before]
            _user_keys[id] = ",".join(dict.fromkeys([*rest, *_parts(_user_keys[leader])]))


def in_force() -> dict[str, str]:
    """Return the keys that differ from the bindings' own: id → keys with commas between."""
    return dict(_user_keys)


def keys(id: str) -> tuple[str, ...]:
    """Return the keys in force, as Textual names them."""
    return tuple(_parts(_user_keys.get(id) or COMMANDS[id].key))


def key(id: str) -> str:
    """Return the first key in force, as `key_text` writes it."""
    return key_text(keys(id)[0])


def key_text(name: str) -> str:
    """Write a key: `Ctrl+R`, `F5`, `Esc`, `y`. It is the one notation of footers, sentences, help and documents.

    `[keys]` understands it too.
    """
    *modifiers, last = name.split("+") if len(name) > 1 else [name]
    label = LABELS.get(last) or format_key(last)
    if modifiers or re.fullmatch(r"f\d+", last):
        label = label.upper() if len(label) == 1 or last not in LABELS else label
    return "+".join([*(LABELS.get(modifier, modifier.capitalize()) for modifier in modifiers), label])


def hangul_keys(character: str) -> tuple[str, ...]:
    """Return the keys of which an input method made a syllable: ㄷ and ㅜ for 두. Empty for other characters."""
    if not "가" <= character <= "힣":
        return ()
    return tuple(TWINS.get(letter, TWINS[letter.lower()]) for letter in key_sequence(character))


def declared() -> dict[str, tuple[type[DOMNode], Binding]]:
    """Return every binding by its id, with the class where it works. Imports all of the app."""
    package = import_module(PACKAGE)
    declarations = {}
    for module in (import_module(info.name) for info in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")):
        for node in list(vars(module).values()):
            if isinstance(node, type) and issubclass(node, DOMNode) and node.__module__ == module.__name__:
                for binding in node.__dict__.get("BINDINGS", ()):
                    if isinstance(binding, Binding) and binding.id:
                        declarations[binding.id] = node, binding
    return {id: declarations[id] for id in COMMANDS}


def declared_by(kind: type[DOMNode]) -> list[str]:
    """Return the ids of the bindings of a class and of its bases, in their order."""
    return [
        binding.id
        for base in kind.__mro__
        if base.__module__.startswith(PACKAGE + ".")
        for binding in base.__dict__.get("BINDINGS", ())
        if isinstance(binding, Binding) and binding.id
    ]


def _parts(keys: str) -> list[str]:
    """Split keys with commas between, and return them as Textual names them."""
    parts = [part.strip() for part in keys.split(",")]
    names = [_name(part) for part in parts if part]
    return [binding.key for binding in Binding.make_bindings([Binding(name, "") for name in names])]


def _name(key: str) -> str:
    """Return Textual's name of a key in any letters, also of one that `key_text` wrote."""
    if len(key) == 1:
        return _BY_LABEL.get(key, key)
    return "+".join(_BY_LABEL.get(part, part) for part in key.lower().split("+"))


def _with_twins(parts: list[str]) -> list[str]:
    return list(dict.fromkeys(name for part in parts for name in (part, TWINS.get(part, part))))


# --- the user's keys ---


def check(keymap: Mapping[str, str], path: Path) -> None:
    """Check the `[keys]` of the file at `path`.

    Raises:
        UsageError: `bad_config`, with the id and the fault of the first mistake.
    """
    for mistake in mistakes(keymap, path):
        raise bad_config(mistake)


def mistakes(keymap: Mapping[str, str], path: Path) -> Iterator[Mistake]:
    """Yield every mistake. Clashes between keys are looked for if each key by itself is right."""
    if not keymap:
        return
    declarations = declared()
    sound = True
    for id, text in keymap.items():
        key = f"keys.{id}"
        if id not in declarations:
            sound = False
            message = _("there is no setting {name}").format(name=key)
            yield mistake_in(path, key, message, nearest(id, declarations, "keys."))
            continue
        parts = _parts(text)
        fault = next(filter(None, (_fault(part, declarations[id][1]) for part in parts)), "")
        if not parts:
            fault = _("no key is named")
        if fault:
            sound = False
            yield mistake_in(path, key, f"{key}: {fault}")
    if sound:
        yield from _clashes(keymap, path, declarations)


def _fault(key: str, binding: Binding) -> str:
    """Return why a key cannot be used; empty if it can."""
    if key in SAME:
        return _("a terminal cannot tell {key} from {other}").format(key=key_text(key), other=key_text(SAME[key]))
    if key in INPUT_METHOD:
        return _("{key} belongs to the input method that types Hangul").format(key=key_text(key))
    if "alt" in key.split("+")[:-1]:
        return _("{key} writes a symbol on some keyboards").format(key=key_text(key))
    if key not in NAMES and not _types(key):
        return _("there is no key {key}").format(key=key) + did_you_mean(nearest(key, NAMES))
    takes_text = any(_types(part) or part in EDITING for part in _parts(binding.key))
    if binding.priority and not takes_text and (_types(key) or key in EDITING):
        return _("{key} is needed for typing").format(key=key_text(key))
    return ""


def _types(key: str) -> bool:
    """Return whether the key writes a character."""
    return key == "space" or (key not in NAMES and len(format_key(key)) == 1)


def _clashes(
    keymap: Mapping[str, str], path: Path, declarations: Mapping[str, tuple[type[DOMNode], Binding]]
) -> Iterator[Mistake]:
    before = in_force()
    activate(keymap)
    keys_by_id = {id: set(keys(id)) for id in declarations}
    changes = in_force()
    activate(before)
    reported: set[str] = set()
    for id, second in combinations(declarations, 2):
        # commands that follow others would report the same keys once more
        clashes = (keys_by_id[id] & keys_by_id[second]) - reported
        if clashes and (id in changes or second in changes) and _hides(declarations[id], declarations[second]):
            reported |= clashes
            message = _("{key} is the key of both {one} and {other}")
            message = message.format(key=key_text(min(clashes)), one=id, other=second)
            yield mistake_in(path, f"keys.{id if id in keymap else second}", message)


def _hides(first: tuple[type[DOMNode], Binding], second: tuple[type[DOMNode], Binding]) -> bool:
    """Return whether one key for both would make one of them unreachable.

    The app's keys count everywhere, a screen's with those of its widgets. Some bindings share a key by design.
    """
    if set(_parts(first[1].key)) & set(_parts(second[1].key)):
        return False
    a, b = first[0], second[0]
    return a is b or issubclass(a, App) or issubclass(b, App) or _within(a, b) or _within(b, a)


def _within(widget: type[DOMNode], screen: type[DOMNode]) -> bool:
    """Return whether the screen's module names the widget's class or a subclass."""
    if issubclass(widget, Screen) or not issubclass(screen, Screen):
        return False
    names = vars(sys.modules[screen.__module__]).values()
    return any(isinstance(name, type) and issubclass(name, widget) for name in names)
