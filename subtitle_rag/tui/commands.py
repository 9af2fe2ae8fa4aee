"""Every command with a key: its id, keys, footer text, help, and its entry in the command palette.

A screen or widget declares its commands by id. Ids are a contract: users bind keys to them in `[keys]`.
Texts are message ids, translated when they are shown. The order is that of `subtitle-rag keys`.
"""

from dataclasses import dataclass

from textual.binding import Binding, BindingType

from subtitle_rag.i18n import N_


@dataclass(frozen=True, slots=True)
class Command:
    id: str
    key: str
    """Keys with commas between."""
    action: str
    footer: str
    """A word or two."""
    show: bool = True
    """The footer shows it."""
    priority: bool = False
    """It comes before the keys of the field with the focus."""
    tooltip: str = ""
    """The footer's text under the mouse; the help's too, if `help` is empty."""
    help: str = ""
    """A sentence. Empty if the tooltip or the footer's text is enough."""
    follows: str = ""
    """The id of another command: a new key for that is one for this too."""
    palette: tuple[str, str] | None = None
    """Title and sentence of the entry in the command palette."""

    @property
    def sentence(self) -> str:
        return self.help or self.tooltip or self.footer

    @property
    def binding(self) -> Binding:
        return Binding(
            self.key,
            self.action,
            self.footer,
            show=self.show,
            priority=self.priority,
            tooltip=self.tooltip,
            id=self.id,
        )


COMMANDS: dict[str, Command] = {
    command.id: command
    for command in (
        Command(
            "app.ask",
            "f3",
            "run('app.ask')",
            N_("Ask"),
            priority=True,
            help=N_("ask a question of the videos"),
            palette=(N_("Open: answers"), N_("Ask a question of the videos")),
        ),
        Command(
            "app.help",
            "f1",
            "run('app.help')",
            N_("Help"),
            priority=True,
            help=N_("this help"),
            palette=(N_("Open: help"), N_("Keys and how to write a query")),
        ),
        Command(
            "app.library",
            "f4",
            "run('app.library')",
            N_("Library"),
            priority=True,
            help=N_("library: videos, new captions"),
            palette=(N_("Open: library"), N_("Videos, and new captions")),
        ),
        Command(
            "app.checks",
            "f6",
            "run('app.checks')",
            N_("Checks"),
            show=False,
            priority=True,
            help=N_("what is installed, what is missing, and how to fix it"),
            palette=(N_("Open: checks"), N_("What is installed, what is missing, and how to fix it")),
        ),
        Command(
            "library.sample",
            "ctrl+d",
            "run('library.sample')",
            N_("Sample"),
            priority=True,
            help=N_("open the sample library from the library, or your own from the sample"),
        ),
        Command(
            "app.quit",
            "ctrl+q",
            "run('app.quit')",
            N_("Quit"),
            priority=True,
            help=N_("quit"),
            palette=(N_("Quit"), N_("Leave the app")),
        ),
        Command(
            "app.commands",
            "ctrl+p",
            "command_palette",
            N_("Commands"),
            show=False,
            priority=True,
            help=N_("all commands, themes"),
        ),
        Command(
            "library.background",
            "ctrl+t",
            "run('library.background')",
            N_("Pause/go on"),
            priority=True,
            help=N_("pause or resume background work"),
        ),
        Command(
            "models.fetch",
            "ctrl+g",
            "run('models.fetch')",
            N_("Fetch models"),
            show=False,
            priority=True,
            help=N_("install and fetch what search by meaning needs, or stop that"),
        ),
        Command(
            "packages.update",
            "f7",
            "run('packages.update')",
            N_("Update yt-dlp"),
            show=False,
            priority=True,
            help=N_("update yt-dlp if it is too old"),
        ),
        Command(
            "models.dismiss",
            "ctrl+x",
            "run('models.dismiss')",
            N_("Hide"),
            show=False,
            priority=True,
            help=N_("hide the offer of these models"),
        ),
        Command(
            "library.sync",
            "ctrl+r",
            "run('library.sync')",
            N_("New videos"),
            priority=True,
            help=N_("look for new videos, or resume what was stopped"),
            palette=(N_("Library: sync"), N_("Look for new videos, or resume what was stopped")),
        ),
        Command(
            "library.stop",
            "ctrl+s",
            "run('library.stop')",
            N_("Stop"),
            priority=True,
            help=N_("stop the job; what is done stays"),
            palette=(N_("Library: stop"), N_("Stop the job; what is done stays")),
        ),
        Command(
            "library.undo",
            "ctrl+z",
            "run('library.undo')",
            N_("Undo"),
            priority=True,
            tooltip=N_("bring back what was removed in the last minute, the newest first"),
            palette=(N_("Library: restore"), N_("What was removed last")),
        ),
        Command(
            "answer.enter",
            "enter",
            "enter",
            N_("Ask/play"),
            priority=True,
            help=N_("ask, then ask further about the same scenes; play what is chosen"),
        ),
        Command(
            "answer.copy",
            "ctrl+y",
            "copy_link",
            N_("Copy link"),
            priority=True,
            help=N_("copy the link to the scene's second"),
        ),
        Command(
            "answer.play-with",
            "ctrl+o",
            "choose_player",
            N_("Player"),
            show=False,
            priority=True,
            help=N_("choose the player for the scene"),
        ),
        Command(
            "answer.new",
            "f3",
            "anew",
            N_("New"),
            priority=True,
            help=N_("a new question, about other scenes"),
            follows="app.ask",
            palette=(N_("Ask: new question"), N_("About other scenes")),
        ),
        Command(
            "answer.history",
            "f5",
            "history",
            N_("History"),
            priority=True,
            help=N_("earlier answers: read again or delete"),
            palette=(N_("Ask: earlier answers"), N_("Read them again, or delete them")),
        ),
        Command(
            "answer.back",
            "escape",
            "back",
            N_("Stop/back"),
            priority=True,
            help=N_("stop the answer; then back to the search"),
        ),
        Command(
            "answer.switch",
            "tab",
            "switch",
            N_("Scenes/question"),
            show=False,
            priority=True,
            help=N_("question ⇄ scenes"),
        ),
        Command("answer.next", "down", "step(1)", N_("Down"), show=False, priority=True),
        Command("answer.previous", "up", "step(-1)", N_("Up"), show=False, priority=True),
        Command("answer.page-down", "pagedown", "page(1)", N_("Page down"), show=False, priority=True),
        Command("answer.page-up", "pageup", "page(-1)", N_("Page up"), show=False, priority=True),
        Command("settings.back", "escape", "back", N_("Back")),
        Command("channel.videos", "enter", "select", N_("Its videos"), help=N_("the channel's videos")),
        Command("channel.into", "right", "select", N_("Its videos"), show=False, help=N_("the channel's videos")),
        Command("checks.again", "r,ㄱ", "again", N_("Check again")),
        Command(
            "checks.network", "n,ㅜ", "network", N_("Ask YouTube, too"), tooltip=N_("ask YouTube whether it answers")
        ),
        Command("checks.close", "escape,f6", "dismiss", N_("Back"), priority=True, follows="app.checks"),
        Command(
            "library.remove",
            "d,ㅇ,delete",
            "run('library.remove')",
            N_("Remove"),
            tooltip=N_("take the video or the channel out of the library"),
            palette=(N_("Library: remove"), N_("The chosen video or channel")),
        ),
        Command(
            "channel.settings",
            "e,ㄷ",
            "settings",
            N_("Settings"),
            tooltip=N_("the channel's tabs, languages, names and model"),
            palette=(N_("Channel: settings"), N_("Tabs, languages, names and the model of its contexts")),
        ),
        Command(
            "library.bring-back",
            "z,ㅋ",
            "app.run('library.undo')",
            N_("Undo"),
            show=False,
            help=N_("bring back what was removed just before"),
        ),
        Command("explain.close", "escape,f2,q,ㅂ,enter", "dismiss", N_("Close"), follows="search.explain"),
        Command("filter.take", "enter", "take", N_("Choose"), priority=True, help=N_("take the filter")),
        Command("filter.close", "escape,ctrl+f", "close", N_("Close"), priority=True, follows="search.filter"),
        Command(
            "filter.remove",
            "backspace",
            "erase",
            N_("Take away"),
            priority=True,
            tooltip=N_("take the last filter away, where nothing is typed"),
            help=N_("take the last filter away, where nothing is typed"),
        ),
        Command("filter.next", "down,ctrl+n", "move(1)", N_("Down"), show=False, priority=True),
        Command("filter.previous", "up", "move(-1)", N_("Up"), show=False, priority=True),
        Command("filter.page-down", "pagedown", "page(1)", N_("Page down"), show=False, priority=True),
        Command("filter.page-up", "pageup", "page(-1)", N_("Page up"), show=False, priority=True),
        Command(
            "search.filter",
            "ctrl+f",
            "filter",
            N_("Filter"),
            show=False,
            priority=True,
            tooltip=N_("filters: channels, videos, days, kinds; a click on one takes it away"),
            palette=(N_("Find: filter"), N_("By channel, video, date or kind")),
        ),
        Command("help.close", "escape,f1,q,ㅂ,enter", "dismiss", N_("Close"), follows="app.help"),
        Command("history.open", "enter", "open", N_("Read"), priority=True, help=N_("read the answer again")),
        Command(
            "history.delete",
            "delete,backspace,d,ㅇ",
            "delete",
            N_("Delete"),
            priority=True,
            help=N_("delete the answer"),
        ),
        Command(
            "history.delete-all",
            "a,ㅁ",
            "delete_all",
            N_("Delete all"),
            priority=True,
            help=N_("delete all answers"),
        ),
        Command(
            "history.back",
            "escape,f5",
            "dismiss",
            N_("Back"),
            priority=True,
            help=N_("back to the answers"),
            follows="answer.history",
        ),
        Command("history.down", "j,ㅓ", "move(1)", N_("Down"), show=False),
        Command("history.up", "k,ㅏ", "move(-1)", N_("Up"), show=False),
        Command("install.take", "enter", "take", N_("Install"), priority=True),
        Command("install.close", "escape,ctrl+g", "dismiss", N_("Not now"), priority=True),
        Command("install.down", "j,ㅓ", "move(1)", N_("Down"), show=False),
        Command("install.up", "k,ㅏ", "move(-1)", N_("Up"), show=False),
        Command("leave.quit", "ctrl+q", "confirm", N_("Quit"), priority=True, follows="app.quit"),
        Command("leave.stay", "escape", "keep", N_("Stay"), priority=True),
        Command(
            "library.index",
            "enter",
            "take",
            N_("Import"),
            priority=True,
            help=N_("fetch the captions of the address, or read those of the folder"),
        ),
        Command(
            "library.list",
            "ctrl+l",
            "take(True)",
            N_("Whole list"),
            priority=True,
            help=N_("take the whole list that the video's address names"),
        ),
        Command("library.switch", "tab", "switch", N_("Field/table"), priority=True, help=N_("field ⇄ table")),
        Command("library.back", "escape", "back", N_("Search"), priority=True, help=N_("table → field → search")),
        Command(
            "library.close",
            "f4",
            "dismiss",
            N_("Search"),
            show=False,
            priority=True,
            help=N_("back to the search"),
            follows="app.library",
        ),
        Command(
            "channel.sync",
            "u,ㅕ",
            "run('channel.sync')",
            N_("New videos"),
            tooltip=N_("New videos of it"),
            help=N_("look for new videos of the channel"),
            palette=(N_("Channel: sync"), N_("Look for new videos of this channel only")),
        ),
        Command(
            "video.retry",
            "r,ㄱ",
            "run('video.retry')",
            N_("Retry"),
            help=N_("ask for the video again at once"),
            palette=(N_("Video: retry"), N_("Try it again at once")),
        ),
        Command(
            "video.open",
            "v,ㅍ",
            "run('video.open')",
            N_("Browser"),
            help=N_("open the video in the browser"),
            palette=(N_("Video: browser"), N_("Open its page")),
        ),
        Command(
            "library.failures",
            "f,ㄹ",
            "failures",
            N_("Failures"),
            help=N_("only the videos that failed, or all again"),
            palette=(N_("Library: failures"), N_("Only the videos that failed, or all again")),
        ),
        Command(
            "library.pause",
            "space",
            "run('library.pause')",
            N_("Pause"),
            help=N_("stop the job and pause background work, or resume both"),
        ),
        Command("player.play", "enter", "take", N_("Play"), priority=True),
        Command(
            "player.prefer",
            "space",
            "prefer",
            N_("Make default"),
            priority=True,
            help=N_("make this the default player"),
        ),
        Command("player.close", "escape,ctrl+o", "dismiss", N_("Close"), priority=True, follows="scene.play-with"),
        Command("player.down", "j,ㅓ", "move(1)", N_("Down"), show=False),
        Command("player.up", "k,ㅏ", "move(-1)", N_("Up"), show=False),
        Command("remove.keep", "escape", "keep", N_("Keep"), priority=True),
        Command("remove.other", "left,right,tab,shift+tab", "other", N_("Other button"), priority=True),
        Command("list.down", "j,ㅓ", "move(1)", N_("Down"), show=False),
        Command("list.up", "k,ㅏ", "move(-1)", N_("Up"), show=False),
        Command("list.first", "home", "end(-1)", N_("First row"), show=False),
        Command("list.last", "end", "end(1)", N_("Last row"), show=False),
        Command("table.choose", "enter", "select", N_("Choose"), show=False),
        Command("table.down", "down,j,ㅓ", "move(1)", N_("Down"), show=False),
        Command("table.up", "up,k,ㅏ", "move(-1)", N_("Up"), show=False),
        Command("table.page-down", "pagedown", "page(1)", N_("Page down"), show=False),
        Command("table.page-up", "pageup", "page(-1)", N_("Page up"), show=False),
        Command("table.first", "home,ctrl+home", "end(-1)", N_("First row"), show=False),
        Command("table.last", "end,ctrl+end", "end(1)", N_("Last row"), show=False),
        Command(
            "list.previous-of-video",
            "left_square_bracket",
            "beside(-1)",
            N_("previous scene of the same video"),
            show=False,
        ),
        Command(
            "list.next-of-video", "right_square_bracket", "beside(1)", N_("next scene of the same video"), show=False
        ),
        Command(
            "list.copy",
            "y,ㅛ",
            "screen.copy_link",
            N_("Copy link"),
            show=False,
            help=N_("copy the link to the scene's second"),
        ),
        Command(
            "list.play-with",
            "o,ㅐ",
            "screen.choose_player",
            N_("Player"),
            show=False,
            help=N_("choose the player for the scene"),
        ),
        Command(
            "list.query",
            "slash",
            "screen.focus_query",
            N_("Query"),
            show=False,
            help=N_("back to the query, as any other letter"),
        ),
        Command(
            "scene.play",
            "enter",
            "play",
            N_("Play"),
            priority=True,
            help=N_("search at once; play the scene when its results are shown"),
        ),
        Command(
            "scene.play-with",
            "ctrl+o",
            "choose_player",
            N_("Player"),
            show=False,
            priority=True,
            help=N_("choose the player for the scene"),
            palette=(N_("Find: choose player"), N_("Choose the player for this scene")),
        ),
        Command(
            "scene.copy",
            "ctrl+y",
            "copy_link",
            N_("Copy link"),
            priority=True,
            help=N_("copy the link to the scene's second"),
            palette=(N_("Find: copy link"), N_("Copy the link to the chosen scene")),
        ),
        Command(
            "search.explain",
            "f2",
            "explain",
            N_("Explain"),
            priority=True,
            help=N_("why the scene was found"),
            palette=(N_("Find: explain"), N_("Why the chosen scene was found")),
        ),
        Command("search.switch", "tab", "switch", N_("List/query"), priority=True, help=N_("query ⇄ list")),
        Command(
            "search.back",
            "escape",
            "back",
            N_("Back"),
            show=False,
            priority=True,
            help=N_("list → query → empty query"),
        ),
        Command("list.next", "down,ctrl+n", "move(1)", N_("Down"), show=False, priority=True),
        Command("list.previous", "up", "move(-1)", N_("Up"), show=False, priority=True),
        Command("list.page-down", "pagedown", "page(1)", N_("Page down"), show=False, priority=True),
        Command("list.page-up", "pageup", "page(-1)", N_("Page up"), show=False, priority=True),
        Command(
            "library.retry",
            "ctrl+r",
            "retry",
            N_("Try again"),
            show=False,
            priority=True,
            help=N_("try again to open a library that could not be opened"),
            follows="library.sync",
        ),
        Command("video.find", "enter", "select", N_("Search in it"), help=N_("search in the video")),
        Command("video.back", "left", "screen.back", N_("Back"), show=False, help=N_("back to the channels")),
    )
}


def bindings(*ids: str) -> list[BindingType]:
    """Return the bindings of a screen or widget, in the order in which its help lists them."""
    return [COMMANDS[id].binding for id in ids]
