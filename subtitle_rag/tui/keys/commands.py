"""Commands: bindings with an id that `[keys]` and messages refer to.

Declare a command in the `BINDINGS` of the class with its action; commands of several classes are here. Ids are public
API. Texts are message ids, translated when shown.
"""

from dataclasses import replace

from textual.binding import Binding

from subtitle_rag.base.i18n import N_
from subtitle_rag.korean.keyboard import JAMO_BY_KEY

UNBOUND = "unbound-"
"""Prefix that makes a placeholder key from the id of a command without a key; `[keys]` can replace it."""


COMMANDS: dict[str, Binding] = {}
"""The first declaration of each id, from the modules imported so far; `keymap.declarations` imports all."""


def command(id: str, keys: str, action: str, label: str, sentence: str = "", *, system: bool = False) -> Binding:
    """Declare a command.

    Args:
        id: Name in `[keys]`. The part before the dot chooses the prefix of its title in the palette.
        keys: Keys separated by commas, letters as in Latin mode. A focused field types printable keys instead. If
            empty, the command is only in the palette.
        action: Textual action.
        label: One or two words for footer and palette.
        sentence: Longer text for help, palette and footer tooltip, if `label` is not enough.
        system: Hide the command from the palette.

    Returns:
        The binding, for `BINDINGS`.
    """
    key = with_jamo(keys) if keys else UNBOUND + id
    binding = Binding(key, action, label, priority=True, tooltip=sentence or label, id=id, system=system)
    COMMANDS[id] = binding
    return binding


def with_jamo(keys: str) -> str:
    """Add the Hangul letter of the same key after each Latin letter (`w` → `w,ㅈ`)."""
    names = (name for key in keys.split(",") for name in (key, JAMO_BY_KEY.get(key, key)))
    return ",".join(dict.fromkeys(names))


def in_widget(command: Binding) -> Binding:
    """Return the command's binding for a list widget, without priority over the screen's bindings."""
    return replace(command, priority=False)


def worded(command: Binding, label: str = "", sentence: str = "") -> Binding:
    """Return a copy of the binding with another label or sentence."""
    tooltip = sentence or label or command.tooltip
    return replace(command, description=label or command.description, tooltip=tooltip)


PLAY = command("scene.play", "enter", "play", N_("Play"), N_("play from the second of the scene or line"), system=True)
ENTER = command("screen.enter", "enter", "take", N_("Choose"), system=True)
OPEN = command(
    "scene.open",
    "right",
    "open",
    N_("Open"),
    N_("read the scene in its transcript, or show the rest of its video"),
    system=True,
)
CLOSE = command(
    "scene.close", "left", "close", N_("Back"), N_("back to the list, or to the best scenes of the video"), system=True
)
MARK = command(
    "scene.mark", "space", "scene('mark')", N_("Mark"), N_("mark the scene; of a marked one, edit note and tag")
)
EXPORT = command(
    "scene.export", "e", "export", N_("Export"), N_("export the scene, the results or the marks, with a preview")
)
COPY = command("scene.copy", "c,ctrl+y", "copy", N_("Copy"), N_("copy the link to the scene's second"))
COPY_MARKDOWN = command(
    "scene.copy-markdown",
    "",
    "scene('copy_markdown')",
    N_("Copy Markdown"),
    N_("copy the scene as Markdown, with its video, time and links"),
)
PLAY_WITH = command(
    "scene.play-with", "", "scene('choose_player')", N_("Choose player"), N_("choose the player for the scene")
)
FILTER = command(
    "search.filter",
    "f",
    "filter",
    N_("Filter"),
    N_("filters: channels, videos, days, kinds; a click on one takes it away"),
)
RETRY = command("screen.retry", "r", "again", N_("Retry"), N_("try again at once"))
REMOVE = command("list.remove", "d,delete", "remove", N_("Remove"), N_("remove it, after a question"))
SWITCH = command(
    "screen.switch", "tab", "switch", N_("Switch"), N_("the next of field, list and transcript"), system=True
)
DOWN = command(
    "list.down", "down,j", "move(1)", N_("Down"), N_("the next row; from a field, into the list"), system=True
)
UP = command("list.up", "up,k", "move(-1)", N_("Up"), N_("the row before"), system=True)
BACK = command(
    "screen.back", "escape", "back", N_("Back"), N_("one step back: field → list → the page before"), system=True
)
HELP = command("app.help", "question_mark,f1", "open_help", N_("Help"), N_("this help"))
