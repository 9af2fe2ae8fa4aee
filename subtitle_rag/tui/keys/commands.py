"""Every act of the app: its id, keys, and the texts of footer, help and command palette.

A screen or widget declares its commands by id, and has the methods of their actions. One action has one id wherever it
works. Ids are a contract: users bind keys to them in `[keys]`. Texts are message ids, translated when they are shown.
The order is that of footers, help, palette and reference.
"""

from dataclasses import dataclass, replace

from textual.binding import Binding, BindingType

from subtitle_rag.i18n import N_
from subtitle_rag.retrieval.korean.keyboard import JAMO_BY_KEY

UNBOUND = "unbound-"
"""Before the id of a command without a key: a key that no keyboard has, which the user's `[keys]` replace."""


@dataclass(frozen=True, slots=True)
class Command:
    id: str
    keys: str
    """With commas between; empty: the command palette alone has it.

    A field with the focus types what writes a character. A letter is listed once, as it is in Latin mode.
    """
    label: str
    """A word or two, for the footer."""
    help: str = ""
    """A sentence, where `label` is not enough: for help, palette and the mouse over the footer."""
    action: str = ""
    """A method of the screen or widget; without one, the id is a command of the app, or of a row of the library."""
    title: str = ""
    """In the command palette; empty: it is not there."""

    @property
    def sentence(self) -> str:
        return self.help or self.label

    @property
    def binding(self) -> Binding:
        action = self.action or f"run('{self.id}')"
        return Binding(self.keys or UNBOUND + self.id, action, self.label, priority=True, id=self.id)


def with_jamo(keys: str) -> str:
    """Add after each letter what the same key types in Hangul mode."""
    names = (name for key in keys.split(",") for name in (key, JAMO_BY_KEY.get(key, key)))
    return ",".join(dict.fromkeys(names))


_REGISTRY = (
    # --- what is chosen ---
    Command("scene.play", "enter", N_("Play"), N_("play from the second of the scene or line"), "play"),
    Command("screen.enter", "enter", N_("Choose"), action="take"),
    Command(
        "scene.open",
        "right",
        N_("Open"),
        N_("read the scene in its transcript, or show the rest of its video"),
        "open",
    ),
    Command("scene.close", "left", N_("Back"), N_("back to the list, or to the best scenes of the video"), "close"),
    Command(
        "scene.mark",
        "space",
        N_("Mark"),
        N_("mark the scene; of a marked one, edit note and tag"),
        "screen.scene('mark')",
        N_("Find: mark"),
    ),
    Command(
        "app.transcript",
        "t",
        N_("Transcript"),
        N_("the whole transcript of the video, with search"),
        title=N_("Open: transcript"),
    ),
    Command(
        "app.overview",
        "o",
        N_("Overview"),
        N_("what the video or channel is about: summary, chapters, key terms, names"),
        title=N_("Open: overview"),
    ),
    Command(
        "app.ask",
        "a",
        N_("Ask"),
        N_("ask a question of the videos; beside an answer, a new one about other scenes"),
        title=N_("Open: answers"),
    ),
    Command(
        "scene.export",
        "e",
        N_("Export"),
        N_("export the scene, the results or the marks, with a preview"),
        "export",
        N_("Find: export"),
    ),
    Command(
        "scene.copy",
        "c,ctrl+y",
        N_("Copy"),
        N_("copy the link to the scene's second"),
        "copy",
        N_("Find: copy link"),
    ),
    Command(
        "scene.copy-markdown",
        "",
        N_("Copy Markdown"),
        N_("copy the scene as Markdown, with its video, time and links"),
        "screen.scene('copy_markdown')",
        N_("Find: copy as Markdown"),
    ),
    Command(
        "scene.play-with",
        "",
        N_("Player"),
        N_("choose the player for the scene"),
        "screen.scene('choose_player')",
        N_("Find: choose player"),
    ),
    Command(
        "scene.copies",
        "",
        N_("Copies"),
        N_("play the scene in another video that says the same"),
        "screen.scene('copies')",
        N_("Find: other videos that say the same"),
    ),
    Command(
        "scene.preview",
        "p",
        N_("Preview"),
        N_("show or hide the preview"),
        "toggle_preview",
        N_("Find: preview"),
    ),
    Command(
        "search.filter",
        "f",
        N_("Filter"),
        N_("filters: channels, videos, days, kinds; a click on one takes it away"),
        "filter",
        N_("Find: filter"),
    ),
    Command(
        "search.refine",
        "",
        N_("Refine"),
        N_("rerank up to 150 scenes with AI; press again to stop"),
        "refine",
        N_("Find: refine"),
    ),
    Command(
        "marks.play-all",
        "",
        N_("Play all"),
        N_("play the listed scenes one after another in mpv"),
        "play_all",
        N_("Marks: play all"),
    ),
    Command(
        "answer.whole",
        "w",
        N_("All captions"),
        N_("ask of all captions instead of the best scenes, and back"),
        "whole",
        N_("Ask: read all captions"),
    ),
    Command(
        "transcript.next-match",
        "n",
        N_("Next match"),
        N_("the next match, and after the last one the first"),
        "match(1)",
    ),
    # --- the library ---
    Command(
        "library.sync",
        "u,ctrl+r",
        N_("New videos"),
        N_("check the chosen channel or all for new videos, and resume what was stopped"),
        title=N_("Library: sync"),
    ),
    Command(
        "video.listen",
        "y",
        N_("Listen"),
        N_("make captions of what has none, by listening on this machine"),
        title=N_("Video: listen"),
    ),
    Command("screen.retry", "r", N_("Retry"), N_("try again at once"), "again", N_("Here: retry")),
    Command("video.open", "", N_("Browser"), N_("open the video in the browser"), title=N_("Video: browser")),
    Command("list.remove", "d,delete", N_("Remove"), N_("remove it, after a question"), "remove", N_("Here: remove")),
    Command(
        "library.list",
        "ctrl+l",
        N_("Whole list"),
        N_("take the whole list that the video's address names"),
        "take(True)",
    ),
    Command(
        "library.stop",
        "x,ctrl+s",
        N_("Stop"),
        N_("stop the job; what is done stays"),
        title=N_("Library: stop"),
    ),
    Command("library.background", "ctrl+t", N_("Pause/go on"), N_("pause or resume background work")),
    Command(
        "models.fetch",
        "ctrl+g",
        N_("Fetch models"),
        N_("install and fetch what search by meaning needs, or stop that"),
    ),
    Command("models.dismiss", "ctrl+x", N_("Hide"), N_("hide the offer of these models")),
    Command(
        "library.sample",
        "ctrl+d",
        N_("Sample"),
        N_("open the sample library from the library, or your own from the sample"),
    ),
    # --- places ---
    Command(
        "app.library",
        "l,ctrl+l",
        N_("Library"),
        N_("library: videos, new captions"),
        title=N_("Open: library"),
    ),
    Command("app.marks", "m", N_("Marks"), N_("marked scenes, with notes and tags"), title=N_("Open: marks")),
    Command("app.settings", "comma", N_("Settings"), N_("the settings"), title=N_("Open: settings")),
    Command(
        "app.checks",
        "",
        N_("Checks"),
        N_("what is installed, what is missing, and how to fix it"),
        title=N_("Open: checks"),
    ),
    Command(
        "checks.network",
        "",
        N_("Ask YouTube, too"),
        N_("ask YouTube whether it answers"),
        "network",
        N_("Checks: network"),
    ),
    Command(
        "app.search",
        "slash",
        N_("Search"),
        N_("to the field of this page, else to the search"),
        title=N_("Open: search"),
    ),
    # --- rows and fields ---
    Command("list.down", "down,j", N_("Down"), N_("the next row; from a field, into the list"), "move(1)"),
    Command("list.up", "up,k", N_("Up"), N_("the row before"), "move(-1)"),
    Command("screen.switch", "tab", N_("Switch"), N_("the next of field, list and transcript"), "switch"),
    Command("player.prefer", "space", N_("Make default"), N_("make this the default player"), "prefer"),
    Command("mark.remove", "ctrl+d", N_("Remove mark"), N_("remove the mark"), "remove"),
    Command("settings.undo", "ctrl+z", N_("Undo"), N_("take the last change back"), "undo"),
    # --- everywhere ---
    Command("screen.back", "escape", N_("Back"), N_("one step back: field → list → the page before"), "back"),
    Command("app.commands", "ctrl+p", N_("Commands"), N_("all commands, themes"), "command_palette"),
    Command("app.help", "question_mark,f1", N_("Help"), N_("this help"), title=N_("Open: help")),
    Command("app.quit", "ctrl+q", N_("Quit"), N_("quit"), title=N_("Quit")),
)
COMMANDS = {command.id: replace(command, keys=with_jamo(command.keys)) for command in _REGISTRY}


def bindings(*ids: str) -> list[BindingType]:
    """Return the bindings of a screen or dialog. Each row of `ids` may hold several, with spaces between.

    Of two with a key in common the first one has it.
    """
    return [COMMANDS[id].binding for row in ids for id in row.split()]


def widget_bindings(*ids: str) -> list[BindingType]:
    """Return the bindings of a widget with rows: its screen's go first."""
    return [replace(COMMANDS[id].binding, priority=False) for row in ids for id in row.split()]
