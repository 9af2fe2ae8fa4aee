"""Which key does what: the bindings' own keys, or those that the user has put in their place in `[keys]`.

The keys in force are those of the process, as its language is: sentences name them from anywhere.
"""

import pkgutil
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

from subtitle_rag.config_file import Mistake, bad_config, did_you_mean, mistake_in, nearest
from subtitle_rag.i18n import _
from subtitle_rag.tui.commands import COMMANDS

PACKAGE = "subtitle_rag.tui"
FOLLOWERS = {command.id: command.follows for command in COMMANDS.values() if command.follows}
"""Commands that have the key of another one: they change with it."""
TWINS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡ", strict=True))
"""The same keys of a keyboard that types Hangul."""
NAMES = frozenset(key.value for key in Keys if "<" not in key.value)
SAME = {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+m": "enter"}
"""Keys that a terminal cannot tell from others."""
INPUT_METHOD = frozenset({"ctrl+@", "ctrl+space", "shift+space", "f9"})
EDITING = frozenset({"backspace", "left", "right", "home", "end"})

_given: dict[str, str] = {}


def activate(keymap: Mapping[str, str]) -> None:
    """Have these keys, by id, in force in this process; what `check` refuses must not come here."""
    _given.clear()
    _given.update({id: ",".join(_with_twins(_parts(keys))) for id, keys in keymap.items()})
    for id, leader in FOLLOWERS.items():
        if leader in keymap and id not in keymap:
            before = _parts(binding(leader).key)
            rest = [part for part in _parts(binding(id).key) if part not in before]
            _given[id] = ",".join(dict.fromkeys([*rest, *_parts(_given[leader])]))


def in_force() -> dict[str, str]:
    """What differs from the bindings' own keys: id → keys with commas between."""
    return dict(_given)


def keys(id: str) -> tuple[str, ...]:
    """The keys in force, as Textual names them."""
    return tuple(_parts(_given.get(id) or binding(id).key))


def key(id: str) -> str:
    """The key in force as a sentence names it: `ctrl+r`, `f5`, `esc`, `Enter`."""
    return spoken(keys(id)[0])


def spoken(name: str) -> str:
    *modifiers, last = name.split("+") if len(name) > 1 else [name]
    return "+".join([*modifiers, "Enter" if last == "enter" else format_key(last)])


def binding(id: str) -> Binding:
    """Return the binding as it is declared.

    Raises:
        KeyError: There is none.
    """
    return COMMANDS[id].binding


def declared() -> dict[str, tuple[type[DOMNode], Binding]]:
    """Return every binding by its id, with the class where it works. Imports all of the app."""
    package = import_module(PACKAGE)
    found = {}
    for module in (import_module(one.name) for one in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")):
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and issubclass(kind, DOMNode) and kind.__module__ == module.__name__:
                for one in kind.__dict__.get("BINDINGS", ()):
                    if isinstance(one, Binding) and one.id:
                        found[one.id] = kind, one
    return {id: found[id] for id in COMMANDS}


def declared_by(kind: type[DOMNode]) -> list[str]:
    """The ids of what a class and those that it is made from declare, in their order."""
    return [
        one.id
        for base in kind.__mro__
        if base.__module__.startswith(PACKAGE + ".")
        for one in base.__dict__.get("BINDINGS", ())
        if isinstance(one, Binding) and one.id
    ]


def _parts(keys: str) -> list[str]:
    """The keys apart, as Textual names them."""
    parts = [part.strip() for part in keys.split(",")]
    named = [part if len(part) == 1 else part.lower() for part in parts if part]
    return [one.key for one in Binding.make_bindings([Binding(part, "") for part in named])]


def _with_twins(parts: list[str]) -> list[str]:
    return list(dict.fromkeys(one for part in parts for one in (part, TWINS.get(part, part))))


# --- what the user wrote ---


def check(keymap: Mapping[str, str], path: Path) -> None:
    """Whether the `[keys]` of the file at `path` can be put in force.

    Raises:
        UsageError: `bad_config`, naming the id, and what is wrong with it or with its key.
    """
    for mistake in mistakes(keymap, path):
        raise bad_config(mistake)


def mistakes(keymap: Mapping[str, str], path: Path) -> Iterator[Mistake]:
    """All that cannot be put in force; keys that two share are looked for where all else is right."""
    if not keymap:
        return
    known = declared()
    sound = True
    for id, written in keymap.items():
        key = f"keys.{id}"
        if id not in known:
            sound = False
            message = _("there is no setting {name}").format(name=key)
            yield mistake_in(path, key, message, nearest(id, known, "keys."))
            continue
        parts = _parts(written)
        wrong = next(filter(None, (_wrong(part, known[id][1]) for part in parts)), "")
        if not parts:
            wrong = _("no key is named")
        if wrong:
            sound = False
            yield mistake_in(path, key, f"{key}: {wrong}")
    if sound:
        yield from _clashes(keymap, path, known)


def _wrong(key: str, binding: Binding) -> str:
    """Why a key cannot be used; empty if it can."""
    if key in SAME:
        return _("a terminal cannot tell {key} from {other}").format(key=key, other=SAME[key])
    if key in INPUT_METHOD:
        return _("{key} belongs to the input method that types Hangul").format(key=key)
    if "alt" in key.split("+")[:-1]:
        return _("{key} writes a symbol on some keyboards").format(key=key)
    if key not in NAMES and not _types(key):
        return _("there is no key {key}").format(key=key) + did_you_mean(nearest(key, NAMES))
    own = any(_types(part) or part in EDITING for part in _parts(binding.key))
    if binding.priority and not own and (_types(key) or key in EDITING):
        return _("{key} is needed for typing").format(key=spoken(key))
    return ""


def _types(key: str) -> bool:
    """The key writes a character."""
    return key == "space" or (key not in NAMES and len(format_key(key)) == 1)


def _clashes(
    keymap: Mapping[str, str], path: Path, known: Mapping[str, tuple[type[DOMNode], Binding]]
) -> Iterator[Mistake]:
    before = in_force()
    activate(keymap)
    forced = {id: set(keys(id)) for id in known}
    changed = in_force()
    activate(before)
    told: set[str] = set()
    for one, other in combinations(known, 2):
        shared = (forced[one] & forced[other]) - told  # keys that follow others would tell the same once more
        if shared and (one in changed or other in changed) and _meet(known[one], known[other]):
            told |= shared
            said = _("{key} is the key of both {one} and {other}")
            message = said.format(key=spoken(min(shared)), one=one, other=other)
            yield mistake_in(path, f"keys.{one if one in keymap else other}", message)


def _meet(one: tuple[type[DOMNode], Binding], other: tuple[type[DOMNode], Binding]) -> bool:
    """Whether the same key for both would leave one of them out of reach.

    The app's keys count everywhere, a screen's with those of its widgets; and some bindings share a key as they are.
    """
    if set(_parts(one[1].key)) & set(_parts(other[1].key)):
        return False
    a, b = one[0], other[0]
    return a is b or issubclass(a, App) or issubclass(b, App) or _within(a, b) or _within(b, a)


def _within(widget: type[DOMNode], screen: type[DOMNode]) -> bool:
    """The screen's module names the widget, or a kind of it."""
    if issubclass(widget, Screen) or not issubclass(screen, Screen):
        return False
    names = vars(sys.modules[screen.__module__]).values()
    return any(isinstance(name, type) and issubclass(name, widget) for name in names)
