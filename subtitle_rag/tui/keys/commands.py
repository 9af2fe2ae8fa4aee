"""Every command with a key: its id, keys, and the texts of footer, help and command palette.

A screen or widget declares its commands by id, and has the methods of their actions. One action has one id wherever it
works. Ids are a contract: users bind keys to them in `[keys]`. Texts are message ids, translated when they are shown.
The order is that of the reference and of the command palette.
"""

from dataclasses import dataclass, replace

from textual.binding import Binding, BindingType

from subtitle_rag.i18n import N_
from subtitle_rag.retrieval.korean.keyboard import JAMO_BY_KEY

IMPORTANCE = 2
"""Importance of most commands in the footer."""


@dataclass(frozen=True, slots=True)
class Command:
    id: str
    keys: str
    """With commas between. A field with the focus types what writes a character.

    A letter is listed once, as it is in Latin mode.
    """
    footer: str
    """A word or two."""
    help: str = ""
    """A sentence, where `footer` is not enough: for help, palette and the mouse over the footer."""
    action: str = ""
    """A method of the screen or widget; without one, the id is a command of the app, or of a row of the library."""
    title: str = ""
    """In the command palette; empty: it is not there."""
    together: str = ""
    """The sentence of the help's row that it shares with others of the same."""
    show: bool = True
    """The footer shows it, unless the screen says otherwise."""
    order: int = 1
    """Its place in the footer."""
    importance: int = IMPORTANCE
    """Where the footer has no room for all, it drops the least important."""
    needs_scene: bool = False
    """The footer leaves it out while its screen has no scene."""

    @property
    def sentence(self) -> str:
        return self.help or self.footer

    @property
    def binding(self) -> Binding:
        action = self.action or f"run('{self.id}')"
        return Binding(self.keys, action, self.footer, show=self.show, priority=True, tooltip=self.help, id=self.id)


def with_jamo(keys: str) -> str:
    """Add after each letter what the same key types in Hangul mode."""
    names = (name for key in keys.split(",") for name in (key, JAMO_BY_KEY.get(key, key)))
    return ",".join(dict.fromkeys(names))


_A_ROW = N_("choose a row, from a field too")
_A_PAGE = N_("a page on, or back")
_ENDS = N_("the first row, or the last")

_REGISTRY = (
    # --- a scene ---
    Command(
        "scene.play",
        "enter",
        N_("Play"),
        N_("play from the second of the scene or line; from a field, search first"),
        "play",
        importance=3,
        needs_scene=True,
    ),
    Command(
        "scene.play-with",
        "ctrl+o,o",
        N_("Player"),
        N_("choose the player for the scene"),
        "screen.scene('choose_player')",
        N_("Find: choose player"),
        show=False,
        needs_scene=True,
    ),
    Command(
        "scene.copy",
        "ctrl+y,y",
        N_("Copy link"),
        N_("copy the link to the scene's second"),
        "screen.scene('copy_link')",
        N_("Find: copy link"),
        importance=1,
        needs_scene=True,
    ),
    Command(
        "scene.copy-markdown",
        "Y",
        N_("Copy Markdown"),
        N_("copy the scene as Markdown, with its video, time and links"),
        "screen.scene('copy_markdown')",
        N_("Find: copy as Markdown"),
        show=False,
        needs_scene=True,
    ),
    Command(
        "scene.mark",
        "space,m",
        N_("Mark"),
        N_("mark the scene; of a marked one, edit note and tag"),
        "screen.scene('mark')",
        N_("Find: mark"),
        show=False,
        needs_scene=True,
    ),
    Command(
        "scene.copies",
        "alt+down,v",
        N_("Copies"),
        N_("play the scene in another video that says the same"),
        "screen.scene('copies')",
        N_("Find: other videos that say the same"),
        show=False,
        needs_scene=True,
    ),
    Command(
        "scene.export",
        "e",
        N_("Export"),
        N_("export the scene, the results or the marks, with a preview"),
        "export",
        N_("Find: export"),
        show=False,
        importance=1,
        needs_scene=True,
    ),
    Command(
        "scene.preview",
        "f8,p",
        N_("Preview"),
        N_("show or hide the preview"),
        "toggle_preview",
        N_("Find: preview"),
        importance=3,
        needs_scene=True,
    ),
    Command(
        "scene.open",
        "right",
        N_("Open"),
        N_("read the scene in its transcript, or show the rest of its video"),
        "open",
        show=False,
    ),
    Command(
        "scene.close",
        "left",
        N_("Back"),
        N_("back to the list, or to the best scenes of the video"),
        "close",
        show=False,
    ),
    # --- the search ---
    Command(
        "search.refine",
        "r",
        N_("Refine"),
        N_("rerank up to 150 scenes with AI; press again to stop"),
        "refine",
        N_("Find: refine"),
        show=False,
    ),
    Command(
        "search.filter",
        "ctrl+f,f",
        N_("Filter"),
        N_("filters: channels, videos, days, kinds; a click on one takes it away"),
        "filter",
        N_("Find: filter"),
        show=False,
    ),
    Command(
        "search.restore",
        "ctrl+z",
        N_("Query back"),
        N_("bring back the query that was cleared; ↑ in the empty field does it too"),
        "restore_query",
        show=False,
    ),
    # --- answers ---
    Command(
        "answer.enter",
        "enter",
        N_("Ask/play"),
        N_("ask, then ask further about the same scenes; play what is chosen"),
        "enter",
        importance=3,
    ),
    Command(
        "answer.copy-text",
        "e",
        N_("Copy answer"),
        N_("copy the answer with what it cites"),
        "copy_text",
        N_("Ask: copy answer"),
        needs_scene=True,
    ),
    Command(
        "answer.again",
        "f7,r",
        N_("Ask again"),
        N_("after an answer that repeats itself: ask once more with another seed"),
        "again",
        N_("Ask: once more"),
        show=False,
    ),
    Command(
        "answer.whole",
        "w",
        N_("All captions"),
        N_("ask of all captions instead of the best scenes, and back"),
        "whole",
        N_("Ask: read all captions"),
        show=False,
    ),
    Command("answer.open", "enter", N_("Read"), N_("read the answer again"), "open", importance=3),
    Command("answer.delete", "delete,backspace,d", N_("Delete"), N_("delete the answer"), "delete"),
    # --- marks, transcripts ---
    Command(
        "marks.play-all",
        "p",
        N_("Play all"),
        N_("play the listed scenes one after another in mpv"),
        "play_all",
        N_("Marks: play all"),
        needs_scene=True,
    ),
    Command(
        "marks.remove",
        "delete,backspace,d",
        N_("Remove"),
        N_("remove the mark; the scene stays in the library"),
        "remove",
        N_("Marks: remove"),
        needs_scene=True,
    ),
    Command(
        "marks.tag",
        "tab,number_sign",
        N_("By tag"),
        N_("only the marks with one tag; again: the next tag, then all"),
        "next_tag",
        needs_scene=True,
    ),
    Command(
        "transcript.search",
        "ctrl+f,slash",
        N_("Find"),
        N_("search in the transcript; letters typed in the list do it too"),
        "focus_query",
    ),
    Command(
        "transcript.next-match",
        "ctrl+n,n",
        N_("Next match"),
        N_("the next match, and after the last one the first"),
        "match(1)",
    ),
    Command(
        "transcript.quote",
        "e,Y",
        N_("Copy quote"),
        N_("copy the line with title, time and link"),
        "screen.scene('copy_quote')",
    ),
    # --- the app ---
    Command(
        "app.transcript",
        "f12,t",
        N_("Transcript"),
        N_("the whole transcript of the video, with search"),
        title=N_("Open: transcript"),
        order=10,
        needs_scene=True,
    ),
    Command(
        "app.overview",
        "ctrl+f12,ctrl+backslash,i",
        N_("Overview"),
        N_("what the video or channel is about: summary, chapters, key terms, names"),
        title=N_("Open: overview"),
        show=False,
    ),
    Command(
        "app.marks",
        "ctrl+l,b",
        N_("Marks"),
        N_("marked scenes, with notes and tags"),
        title=N_("Open: marks"),
        show=False,
    ),
    Command(
        "app.library",
        "f4,l",
        N_("Library"),
        N_("library: videos, new captions"),
        title=N_("Open: library"),
        order=9,
    ),
    Command(
        "app.ask",
        "f3,a",
        N_("Ask"),
        N_("ask a question of the videos; beside an answer, a new one about other scenes"),
        title=N_("Open: answers"),
        order=5,
    ),
    # --- the library ---
    Command(
        "library.index",
        "enter",
        N_("Import"),
        N_("fetch the captions of the address, or read those of the folder"),
        "take",
        order=3,
        importance=3,
    ),
    Command(
        "library.list",
        "ctrl+l",
        N_("Whole list"),
        N_("take the whole list that the video's address names"),
        "take(True)",
        order=3,
    ),
    Command("channel.videos", "enter,right", N_("Its videos"), N_("the channel's videos"), "select", importance=3),
    Command("video.find", "enter", N_("Search in it"), N_("search in the video"), "select", importance=3),
    Command("video.back", "left", N_("Back"), N_("back to the channels"), "screen.back", show=False),
    Command(
        "channel.sync",
        "u",
        N_("New videos"),
        N_("check the channel for new videos"),
        title=N_("Channel: sync"),
    ),
    Command(
        "video.listen",
        "ctrl+y,y",
        N_("Listen"),
        N_("make captions of what has none, by listening on this machine"),
        title=N_("Video: listen"),
    ),
    Command(
        "video.retry",
        "r",
        N_("Retry"),
        N_("request the video again now"),
        title=N_("Video: retry"),
    ),
    Command(
        "video.open",
        "ctrl+o,v",
        N_("Browser"),
        N_("open the video in the browser"),
        title=N_("Video: browser"),
    ),
    Command(
        "library.failures",
        "ctrl+f,f",
        N_("Failures"),
        N_("only the videos that failed, or all again"),
        "failures",
        N_("Library: failures"),
        importance=1,
    ),
    Command(
        "library.remove",
        "delete,d",
        N_("Remove"),
        N_("take the video or the channel out of the library"),
        title=N_("Library: remove"),
        order=2,
    ),
    Command("library.pause", "space", N_("Pause"), N_("stop the job and pause background work, or resume both")),
    Command(
        "library.sync",
        "ctrl+r,s",
        N_("New videos"),
        N_("check for new videos, resume what was stopped, or open a library again that could not be opened"),
        title=N_("Library: sync"),
        order=6,
        importance=1,
    ),
    Command(
        "library.stop",
        "ctrl+s,x",
        N_("Stop"),
        N_("stop the job; what is done stays"),
        title=N_("Library: stop"),
        order=7,
        importance=3,
    ),
    Command("library.background", "ctrl+t", N_("Pause/go on"), N_("pause or resume background work"), order=4),
    Command(
        "models.fetch",
        "ctrl+g,g",
        N_("Fetch models"),
        N_("install and fetch what search by meaning needs, or stop that"),
        show=False,
    ),
    Command("models.dismiss", "ctrl+x", N_("Hide"), N_("hide the offer of these models"), show=False),
    Command(
        "library.sample",
        "ctrl+d",
        N_("Sample"),
        N_("open the sample library from the library, or your own from the sample"),
        order=3,
    ),
    Command(
        "app.checks",
        "f6,c",
        N_("Checks"),
        N_("what is installed, what is missing, and how to fix it"),
        title=N_("Open: checks"),
        show=False,
    ),
    Command(
        "app.settings",
        "ctrl+f6,comma",
        N_("Settings"),
        N_("the settings: theme, language, player, models, pace"),
        title=N_("Open: settings"),
        show=False,
    ),
    Command(
        "app.search",
        "slash",
        N_("Search"),
        N_("back to the search, with the focus in its field"),
        title=N_("Open: search"),
        show=False,
    ),
    Command("app.help", "f1,question_mark", N_("Help"), N_("this help"), title=N_("Open: help"), order=0, importance=3),
    Command("app.commands", "ctrl+p,colon", N_("Commands"), N_("all commands, themes"), "command_palette", show=False),
    Command("app.quit", "ctrl+q", N_("Quit"), N_("quit"), title=N_("Quit"), order=11),
    # --- rows of all lists, tables and transcripts ---
    Command("list.down", "down,ctrl+n,j", N_("Down"), action="move(1)", together=_A_ROW, show=False),
    Command("list.up", "up,k", N_("Up"), action="move(-1)", together=_A_ROW, show=False),
    Command("list.page-down", "pagedown", N_("Page down"), action="page(1)", together=_A_PAGE, show=False),
    Command("list.page-up", "pageup", N_("Page up"), action="page(-1)", together=_A_PAGE, show=False),
    Command("list.first", "home,ctrl+home", N_("First row"), action="end(-1)", together=_ENDS, show=False),
    Command("list.last", "end,ctrl+end", N_("Last row"), action="end(1)", together=_ENDS, show=False),
    Command(
        "list.previous-of-video",
        "left_square_bracket",
        N_("previous scene of the same video"),
        action="beside(-1)",
        show=False,
    ),
    Command(
        "list.next-of-video",
        "right_square_bracket",
        N_("next scene of the same video"),
        action="beside(1)",
        show=False,
    ),
    Command(
        "list.query",
        "slash",
        N_("Query"),
        N_("back to the query, as any letter that is no command"),
        "screen.focus_query",
        show=False,
    ),
    # --- all screens and dialogs ---
    Command(
        "screen.switch",
        "tab",
        N_("Switch"),
        N_("the next of field, list and transcript"),
        "switch",
        show=False,
        importance=3,
        needs_scene=True,
    ),
    Command("screen.back", "escape,q", N_("Back"), N_("back to the screen before"), "back", order=10, importance=3),
    Command("page.close", "enter", N_("Close"), action="dismiss"),
    Command("checks.again", "enter,r", N_("Check again"), action="again"),
    Command("checks.network", "ctrl+n,n", N_("Ask YouTube, too"), N_("ask YouTube whether it answers"), "network"),
    Command("settings.change", "enter,space", N_("Change"), N_("change the setting"), "change", importance=3),
    Command(
        "settings.default",
        "delete,backspace,d",
        N_("Default"),
        N_("back to the default: the setting leaves the config file"),
        "default",
    ),
    Command("settings.undo", "ctrl+z,u", N_("Undo"), N_("take the last change back"), "undo"),
    Command(
        "settings.reopen",
        "r",
        N_("Open again"),
        N_("close and reopen the app to apply all settings"),
        "reopen",
    ),
    Command("setting.take", "enter", N_("Save"), N_("save the setting"), "take", importance=3),
    Command("filter.take", "enter", N_("Choose"), N_("take the filter"), "take"),
    Command(
        "filter.remove",
        "backspace",
        N_("Take away"),
        N_("take the last filter away, where nothing is typed"),
        "erase",
    ),
    Command("player.play", "enter", N_("Play"), action="take"),
    Command("player.prefer", "space", N_("Make default"), N_("make this the default player"), "prefer"),
    Command("menu.take", "enter", N_("Choose"), action="take"),
    Command("install.take", "enter", N_("Install"), action="take"),
    Command("mark.save", "enter", N_("Save"), N_("save note and tag"), "save", importance=3),
    Command("mark.switch", "tab,down,up,shift+tab", N_("Note/tag"), action="switch"),
    Command("mark.remove", "ctrl+d", N_("Remove mark"), N_("remove the mark"), "remove"),
    Command("export.save", "enter", N_("Save"), N_("write the file"), "save", importance=3),
    Command("export.copy", "ctrl+y", N_("Copy"), N_("copy the text"), "copy_text", importance=3),
    Command(
        "export.scope",
        "tab",
        N_("Which scenes"),
        N_("the chosen scene, all results, or the marks"),
        "next_source",
    ),
    Command("confirm.other", "left,right,tab,shift+tab", N_("Other button"), action="other"),
)
COMMANDS = {command.id: replace(command, keys=with_jamo(command.keys)) for command in _REGISTRY}


def bindings(*ids: str) -> list[BindingType]:
    """Return the bindings of a screen or dialog, in the order in which its help lists them.

    Each row of `ids` may hold several, with spaces between. Of two with a key in common the first one has it.
    """
    return [COMMANDS[id].binding for row in ids for id in row.split()]


def widget_bindings(*ids: str) -> list[BindingType]:
    """Return the bindings of a widget with rows: its screen's go first."""
    return [replace(COMMANDS[id].binding, priority=False) for row in ids for id in row.split()]


def closed_by(id: str, action: str = "dismiss") -> list[BindingType]:
    """Return the binding that has the key of a command, which opens a screen or dialog, close it again."""
    return [replace(COMMANDS[id].binding, action=action, show=False, tooltip="")]
