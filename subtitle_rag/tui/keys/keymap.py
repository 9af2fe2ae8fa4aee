"""The active keys: defaults from the bindings, overridden by the user's `[keys]`.

They are global to the process, like the language, so that any message can name them.
"""

import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import combinations, product
from pathlib import Path
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys, format_key
from textual.screen import Screen

from subtitle_rag.base.config.config_file import Mistake, bad_config, did_you_mean, mistake_in, nearest
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.keys.commands import COMMANDS, UNBOUND, with_jamo

PACKAGE = "subtitle_rag.tui"
NAMES = frozenset(key.value for key in Keys if "<" not in key.value)
SAME = {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+m": "enter"}
"""Keys that terminals cannot tell from others."""
INPUT_METHOD = frozenset({"ctrl+@", "ctrl+space", "shift+space", "f9"})
ALT_ARROWS = frozenset({"alt+left", "alt+right", "alt+up", "alt+down"})
"""Valid keys that Textual's list lacks."""
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
"""Keyboard labels by Textual's key name."""
_BY_LABEL = {label.casefold(): name for name, label in LABELS.items()}

_user_keys: dict[str, str] = {}


def activate(keymap: Mapping[str, str]) -> None:
    """Use these keys, by command id, in this process. `check` must have accepted them."""
    _user_keys.clear()
    _user_keys.update({id: with_jamo(",".join(_parts(keys))) for id, keys in keymap.items()})


def in_force() -> dict[str, str]:
    """Return the keys that differ from the defaults: command id → keys separated by commas."""
    return dict(_user_keys)


def keys(id: str) -> tuple[str, ...]:
    """Return a command's active keys by Textual's names; empty if it is only in the palette."""
    return tuple(_parts(_user_keys[id])) if id in _user_keys else own_keys(named(id))


def own_keys(command: Binding) -> tuple[str, ...]:
    """Return a command's default keys."""
    return () if command.key.startswith(UNBOUND) else tuple(_parts(command.key))


def named(id: str) -> Binding:
    """Return a command by id, even one of a screen that has not been opened yet."""
    if id not in COMMANDS:
        declarations()
    return COMMANDS[id]


def key(id: str) -> str:
    """Return the label of a command's key, preferably one that also works in a field.

    For a command without a key, return the palette's key and the command's name.
    """
    names = keys(id)
    if not names:
        return f"{key('app.commands')} {_(named(id).description)}"
    return key_text(next((name for name in names if not _types(name)), names[0]))


def key_text(name: str) -> str:
    """Return a key's label: `Ctrl+R`, `F5`, `Esc`, `y`. Footer, messages, help and docs use it; `[keys]` accepts it."""
    *modifiers, last = name.split("+") if len(name) > 1 else [name]
    label = LABELS.get(last) or format_key(last)
    if modifiers or re.fullmatch(r"f\d+", last):
        label = label.upper() if len(label) == 1 or last not in LABELS else label
    return "+".join([*(LABELS.get(modifier, modifier.capitalize()) for modifier in modifiers), label])


def declarations() -> dict[str, list[type[DOMNode]]]:
    """Return the classes that declare each command, by its id. Imports the whole app."""
    package = import_module(PACKAGE)
    kinds: dict[str, list[type[DOMNode]]] = {}
    for module in (import_module(info.name) for info in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")):
        for node in list(vars(module).values()):
            if isinstance(node, type) and issubclass(node, DOMNode) and node.__module__ == module.__name__:
                for binding in node.__dict__.get("BINDINGS", ()):
                    if isinstance(binding, Binding) and binding.id:
                        kinds.setdefault(binding.id, []).append(node)
    return kinds


def commands_of(node: DOMNode) -> dict[str, Binding]:
    """Return the command bindings of a node by id."""
    return {binding.id: binding for _key, binding in node._bindings if binding.id in COMMANDS}


def acts_of(screen: Screen[Any]) -> dict[str, tuple[DOMNode, Binding]]:
    """Return the commands enabled on a screen now, by id, the screen's before the app's."""
    app = screen.app
    acts: dict[str, tuple[DOMNode, Binding]] = {}
    for node in (screen, *screen.query("SceneList"), app):
        for id, binding in commands_of(node).items():
            if id not in acts and app._check_action_state(binding.action, node):
                acts[id] = node, binding
    return acts


def _parts(keys: str) -> list[str]:
    """Split keys separated by commas into Textual's names."""
    parts = [part.strip() for part in keys.split(",")]
    names = [_name(part) for part in parts if part]
    return [binding.key for binding in Binding.make_bindings([Binding(name, "") for name in names])]


def _name(key: str) -> str:
    """Return Textual's name of a key in any case; also accepts the labels of `key_text`."""
    if len(key) == 1:
        return _BY_LABEL.get(key, key)
    return "+".join(_BY_LABEL.get(part, part) for part in key.lower().split("+"))


# --- the user's keys ---


def check(keymap: Mapping[str, str], path: Path) -> None:
    """Check the `[keys]` of the file at `path`.

    Raises:
        UsageError: `bad_config`, with the first mistake.
    """
    for mistake in mistakes(keymap, path):
        raise bad_config(mistake)


def mistakes(keymap: Mapping[str, str], path: Path) -> Iterator[Mistake]:
    """Yield every mistake. Clashes are only checked if each key alone is valid."""
    if not keymap:
        return
    kinds = declarations()
    sound = True
    for id, text in keymap.items():
        key = f"keys.{id}"
        if id not in COMMANDS:
            sound = False
            message = _("there is no setting {name}").format(name=key)
            yield mistake_in(path, key, message, nearest(id, COMMANDS, "keys."))
            continue
        parts = _parts(text)
        fault = next(filter(None, (_fault(part, COMMANDS[id]) for part in parts)), "")
        if not parts:
            fault = _("no key is named")
        if fault:
            sound = False
            yield mistake_in(path, key, f"{key}: {fault}")
    if sound:
        yield from _clashes(keymap, path, kinds)


def _fault(key: str, command: Binding) -> str:
    """Return why a key cannot be used; empty if it can."""
    if key in SAME:
        return _("a terminal cannot tell {key} from {other}").format(key=key_text(key), other=key_text(SAME[key]))
    if key in INPUT_METHOD:
        return _("{key} belongs to the input method that types Hangul").format(key=key_text(key))
    *modifiers, last = key.split("+")
    if "alt" in modifiers and len(last) == 1:
        return _("{key} writes a symbol on some keyboards").format(key=key_text(key))
    if key not in NAMES | ALT_ARROWS and not _types(key):
        return _("there is no key {key}").format(key=key) + did_you_mean(nearest(key, NAMES))
    own = own_keys(command)
    takes_text = not own or any(_types(part) or part in EDITING for part in own)
    if not takes_text and (_types(key) or key in EDITING):
        return _("{key} is needed for typing").format(key=key_text(key))
    return ""


def _types(key: str) -> bool:
    """Return whether the key writes a character."""
    return key == "space" or (key not in NAMES and len(format_key(key)) == 1)


def _clashes(keymap: Mapping[str, str], path: Path, kinds: Mapping[str, list[type[DOMNode]]]) -> Iterator[Mistake]:
    before = in_force()
    activate(keymap)
    keys_by_id = {id: set(keys(id)) for id in COMMANDS}
    activate(before)
    for id, second in combinations(COMMANDS, 2):
        clashes = keys_by_id[id] & keys_by_id[second]
        if not clashes or not keymap.keys() & {id, second}:
            continue
        if clashes & {*own_keys(COMMANDS[id])} & {*own_keys(COMMANDS[second])}:  # the defaults share it on purpose
            continue
        if any(_hides(a, b) for a, b in product(kinds[id], kinds[second])):
            message = _("{key} is the key of both {one} and {other}")
            message = message.format(key=key_text(min(clashes)), one=id, other=second)
            yield mistake_in(path, f"keys.{next(each for each in keymap if each in (id, second))}", message)


def _hides(a: type[DOMNode], b: type[DOMNode]) -> bool:
    """Return whether a key bound in both classes would hide one of the two commands.

    The app's keys work everywhere, a screen's keys in its widgets too.
    """
    return issubclass(a, (b, App)) or issubclass(b, (a, App)) or _within(a, b) or _within(b, a)


def _within(widget: type[DOMNode], screen: type[DOMNode]) -> bool:
    """Return whether the screen's module names the widget's class or a subclass."""
    if issubclass(widget, Screen) or not issubclass(screen, Screen):
        return False
    names = vars(sys.modules[screen.__module__]).values()
    return any(isinstance(name, type) and issubclass(name, widget) for name in names)


def key_rows(bindings: Iterable[Binding]) -> list[tuple[str, str]]:
    """Return (keys, meaning) of the commands with keys.

    Leaves out Hangul letters, which share a key with Latin ones: the help mentions once that they work too.
    """
    rows = []
    for binding in bindings:
        names = [key_text(name) for name in keys(binding.id or "") if not is_jamo(name)]
        rows.append((" ".join(names), _(binding.tooltip)))
    return [(names, meaning) for names, meaning in rows if names]


def is_jamo(name: str) -> bool:
    return "ㄱ" <= name <= "ㅣ"
