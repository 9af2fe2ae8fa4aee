"""Every command with a key: its id, keys, footer text and help.

A screen or widget declares its commands by id. Ids are a contract: users bind keys to them in `[keys]`.
Texts are message ids, translated when they are shown. The order is that of `subtitle-rag keys`.
"""

from dataclasses import dataclass
from functools import partial

from textual.binding import Binding, BindingType

from subtitle_rag.i18n import N_

IMPORTANCE = 2
"""Of most commands in the footer."""


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
    priority: bool = True
    """It comes before the keys of the field with the focus."""
    follows: str = ""
    """The id of another command: a new key for that is one for this too."""
    importance: int = IMPORTANCE
    """Where the footer has no room for all, it drops the least important."""
    needs_scene: bool = False
    """The footer leaves it out while its screen has no scene."""

    @property
    def sentence(self) -> str:
        return HELP.get(self.id) or TOOLTIPS.get(self.id) or self.footer

    @property
    def binding(self) -> Binding:
        tooltip = TOOLTIPS.get(self.id, "")
        return Binding(
            self.key, self.action, self.footer, show=self.show, priority=self.priority, tooltip=tooltip, id=self.id
        )


_list_key = partial(Command, show=False, priority=False)
"""A key of a list: a field with the focus types it instead, and the footer does not show it."""

_REGISTRY = (
    Command("app.ask", "f3", "run('app.ask')", N_("Ask")),
    Command("app.help", "f1", "run('app.help')", N_("Help"), importance=3),
    Command("app.library", "f4", "run('app.library')", N_("Library")),
    Command("app.history", "f5", "run('app.history')", N_("History"), show=False, follows="answer.history"),
    Command("app.checks", "f6", "run('app.checks')", N_("Checks"), show=False),
    Command("app.transcript", "f12", "run('app.transcript')", N_("Transcript"), needs_scene=True),
    Command("app.overview", "ctrl+f12,ctrl+backslash", "run('app.overview')", N_("Overview"), show=False),
    Command("app.marks", "ctrl+l", "run('app.marks')", N_("Marks"), show=False),
    Command("library.sample", "ctrl+d", "run('library.sample')", N_("Sample")),
    Command("app.quit", "ctrl+q", "run('app.quit')", N_("Quit"), importance=3),
    Command("app.commands", "ctrl+p", "command_palette", N_("Commands"), show=False),
    Command("library.background", "ctrl+t", "run('library.background')", N_("Pause/go on")),
    Command("models.fetch", "ctrl+g", "run('models.fetch')", N_("Fetch models"), show=False),
    Command("packages.update", "f7", "run('packages.update')", N_("Update yt-dlp"), show=False),
    Command("models.dismiss", "ctrl+x", "run('models.dismiss')", N_("Hide"), show=False),
    Command("library.sync", "ctrl+r", "run('library.sync')", N_("New videos")),
    Command("library.stop", "ctrl+s", "run('library.stop')", N_("Stop"), importance=3),
    Command("library.undo", "ctrl+z", "run('library.undo')", N_("Undo"), importance=3),
    Command("answer.enter", "enter", "enter", N_("Ask/play"), importance=3),
    Command("answer.copy", "ctrl+y", "scene('copy_link')", N_("Copy link"), importance=1, needs_scene=True),
    Command("answer.copy-text", "ctrl+e", "copy_text", N_("Copy answer"), needs_scene=True),
    Command("answer.mark", "ctrl+a,insert", "scene('mark')", N_("Mark"), show=False, follows="scene.mark"),
    Command(
        "answer.preview",
        "f8",
        "toggle_preview",
        N_("Preview"),
        follows="search.preview",
        importance=3,
        needs_scene=True,
    ),
    Command("answer.play-with", "ctrl+o", "scene('choose_player')", N_("Player"), show=False),
    Command("answer.new", "f3", "anew", N_("New"), follows="app.ask"),
    Command("answer.again", "f7", "again", N_("Ask again"), show=False),
    Command("answer.whole", "ctrl+k", "whole", N_("All captions"), show=False),
    Command("answer.over", "ctrl+n", "over", N_("By video"), show=False),
    Command("answer.history", "f5", "history", N_("History")),
    Command("answer.back", "escape", "back", N_("Stop/back"), importance=3),
    Command("answer.switch", "tab", "switch", N_("Scenes/question"), show=False),
    Command("answer.next", "down", "step(1)", N_("Down"), show=False),
    Command("answer.previous", "up", "step(-1)", N_("Up"), show=False),
    Command("answer.page-down", "pagedown", "page(1)", N_("Page down"), show=False),
    Command("answer.page-up", "pageup", "page(-1)", N_("Page up"), show=False),
    Command("settings.save", "ctrl+s", "save", N_("Save"), importance=3),
    Command("settings.back", "escape", "back", N_("Back"), priority=False, importance=3),
    Command("channel.videos", "enter", "select", N_("Its videos"), priority=False, importance=3),
    _list_key("channel.into", "right", "select", N_("Its videos")),
    Command("checks.again", "enter,r,ㄱ", "again", N_("Check again"), priority=False),
    Command("checks.network", "ctrl+n,n,ㅜ", "network", N_("Ask YouTube, too"), priority=False),
    Command("checks.close", "escape,f6", "dismiss", N_("Back"), follows="app.checks", importance=3),
    Command("library.remove", "delete,d,ㅇ", "run('library.remove')", N_("Remove"), priority=False),
    Command("channel.settings", "ctrl+e,e,ㄷ", "settings", N_("Settings"), priority=False, importance=1),
    _list_key("library.bring-back", "z,ㅋ", "app.run('library.undo')", N_("Undo")),
    Command("explain.close", "escape,f2,q,ㅂ,enter", "dismiss", N_("Close"), priority=False, follows="search.explain"),
    Command("filter.take", "enter", "take", N_("Choose")),
    Command("filter.close", "escape,ctrl+f", "close", N_("Close"), follows="search.filter"),
    Command("filter.remove", "backspace", "erase", N_("Take away")),
    Command("filter.next", "down,ctrl+n", "move(1)", N_("Down"), show=False),
    Command("filter.previous", "up", "move(-1)", N_("Up"), show=False),
    Command("filter.page-down", "pagedown", "page(1)", N_("Page down"), show=False),
    Command("filter.page-up", "pageup", "page(-1)", N_("Page up"), show=False),
    Command("search.filter", "ctrl+f", "filter", N_("Filter"), show=False),
    Command("help.close", "escape,f1,q,ㅂ,enter", "dismiss", N_("Close"), priority=False, follows="app.help"),
    Command("history.open", "enter", "open", N_("Read"), importance=3),
    Command("history.delete", "delete,backspace,d,ㅇ", "delete", N_("Delete")),
    Command("history.delete-all", "ctrl+a,a,ㅁ", "delete_all", N_("Delete all")),
    Command("history.back", "escape,f5", "dismiss", N_("Back"), follows="answer.history", importance=3),
    _list_key("history.down", "j,ㅓ", "move(1)", N_("Down")),
    _list_key("history.up", "k,ㅏ", "move(-1)", N_("Up")),
    Command("install.take", "enter", "take", N_("Install")),
    Command("install.close", "escape,ctrl+g", "dismiss", N_("Not now")),
    _list_key("install.down", "j,ㅓ", "move(1)", N_("Down")),
    _list_key("install.up", "k,ㅏ", "move(-1)", N_("Up")),
    Command("leave.quit", "ctrl+q", "confirm", N_("Quit"), follows="app.quit"),
    Command("leave.stay", "escape", "keep", N_("Stay")),
    Command("library.index", "enter", "take", N_("Import"), importance=3),
    Command("library.list", "ctrl+l", "take(True)", N_("Whole list")),
    Command("library.switch", "tab", "switch", N_("Field/table")),
    Command("library.back", "escape", "back", N_("Search"), importance=3),
    Command("library.close", "f4", "dismiss", N_("Search"), show=False, follows="app.library"),
    Command("channel.sync", "ctrl+u,u,ㅕ", "run('channel.sync')", N_("New videos"), priority=False),
    Command("video.retry", "ctrl+a,r,ㄱ", "run('video.retry')", N_("Retry"), priority=False),
    Command("video.open", "ctrl+o,v,ㅍ", "run('video.open')", N_("Browser"), priority=False),
    Command("library.failures", "ctrl+f,f,ㄹ", "failures", N_("Failures"), priority=False, importance=1),
    Command("library.pause", "space", "run('library.pause')", N_("Pause"), priority=False),
    Command("player.play", "enter", "take", N_("Play")),
    Command("player.prefer", "space", "prefer", N_("Make default")),
    Command("player.close", "escape,ctrl+o", "dismiss", N_("Close"), follows="scene.play-with"),
    _list_key("player.down", "j,ㅓ", "move(1)", N_("Down")),
    _list_key("player.up", "k,ㅏ", "move(-1)", N_("Up")),
    Command("remove.keep", "escape", "keep", N_("Keep")),
    Command("remove.other", "left,right,tab,shift+tab", "other", N_("Other button")),
    _list_key("list.down", "j,ㅓ", "move(1)", N_("Down")),
    _list_key("list.up", "k,ㅏ", "move(-1)", N_("Up")),
    _list_key("list.first", "home", "end(-1)", N_("First row")),
    _list_key("list.last", "end", "end(1)", N_("Last row")),
    _list_key("table.choose", "enter", "select", N_("Choose")),
    _list_key("table.down", "down,j,ㅓ", "move(1)", N_("Down")),
    _list_key("table.up", "up,k,ㅏ", "move(-1)", N_("Up")),
    _list_key("table.page-down", "pagedown", "page(1)", N_("Page down")),
    _list_key("table.page-up", "pageup", "page(-1)", N_("Page up")),
    _list_key("table.first", "home,ctrl+home", "end(-1)", N_("First row")),
    _list_key("table.last", "end,ctrl+end", "end(1)", N_("Last row")),
    _list_key("list.previous-of-video", "left_square_bracket", "beside(-1)", N_("previous scene of the same video")),
    _list_key("list.next-of-video", "right_square_bracket", "beside(1)", N_("next scene of the same video")),
    _list_key("list.copy", "y,ㅛ", "screen.scene('copy_link')", N_("Copy link")),
    _list_key("list.play-with", "o,ㅐ", "screen.scene('choose_player')", N_("Player")),
    _list_key("list.mark", "m,ㅡ", "screen.scene('mark')", N_("Mark")),
    _list_key("list.copy-markdown", "Y", "screen.scene('copy_markdown')", N_("Copy Markdown")),
    _list_key("list.query", "slash", "screen.focus_query", N_("Query")),
    Command("transcript.play", "enter", "play", N_("Play")),
    Command("transcript.play-with", "ctrl+o", "scene('choose_player')", N_("Player"), show=False),
    Command("transcript.copy-link", "ctrl+y", "scene('copy_link')", N_("Copy link")),
    Command("transcript.mark", "ctrl+a,insert", "scene('mark')", N_("Mark"), show=False, follows="scene.mark"),
    Command("transcript.search", "ctrl+f", "focus_query", N_("Find")),
    Command("transcript.next-match", "ctrl+n", "match(1)", N_("Next match")),
    Command("transcript.switch", "tab", "switch", N_("Field/lines"), show=False),
    Command("transcript.back", "escape", "back", N_("Back")),
    Command("transcript.close", "f12", "dismiss", N_("Back"), show=False, follows="app.transcript"),
    Command("transcript.next", "down", "move(1)", N_("Down"), show=False),
    Command("transcript.previous", "up", "move(-1)", N_("Up"), show=False),
    Command("transcript.page-down", "pagedown", "page(1)", N_("Page down"), show=False),
    Command("transcript.page-up", "pageup", "page(-1)", N_("Page up"), show=False),
    _list_key("transcript.down", "j,ㅓ", "move(1)", N_("Down")),
    _list_key("transcript.up", "k,ㅏ", "move(-1)", N_("Up")),
    _list_key("transcript.first", "home", "end(-1)", N_("First line")),
    _list_key("transcript.last", "end", "end(1)", N_("Last line")),
    _list_key("transcript.copy", "y,ㅛ", "screen.scene('copy_link')", N_("Copy link")),
    Command("transcript.quote", "ctrl+e,Y", "screen.scene('copy_quote')", N_("Copy quote"), priority=False),
    _list_key("transcript.mark-line", "m,ㅡ", "screen.scene('mark')", N_("Mark")),
    _list_key("transcript.find", "slash", "screen.focus_query", N_("Query")),
    Command("overview.play", "enter", "play", N_("Play"), importance=3),
    Command("overview.play-with", "ctrl+o,o,ㅐ", "scene('choose_player')", N_("Player")),
    Command("overview.copy-link", "ctrl+y,y,ㅛ", "scene('copy_link')", N_("Copy link")),
    Command("overview.mark", "ctrl+a,insert,m,ㅡ", "scene('mark')", N_("Mark"), follows="scene.mark"),
    _list_key("overview.down", "j,ㅓ", "move(1)", N_("Down")),
    _list_key("overview.up", "k,ㅏ", "move(-1)", N_("Up")),
    Command(
        "overview.back", "escape,ctrl+f12,ctrl+backslash", "dismiss", N_("Back"), follows="app.overview", importance=3
    ),
    Command("scene.play", "enter", "play", N_("Play"), importance=3, needs_scene=True),
    Command("scene.play-with", "ctrl+o", "scene('choose_player')", N_("Player"), show=False),
    Command("scene.copy", "ctrl+y", "scene('copy_link')", N_("Copy link"), importance=1, needs_scene=True),
    Command("scene.mark", "ctrl+a,insert", "scene('mark')", N_("Mark"), show=False),
    Command("scene.export", "ctrl+e", "export", N_("Export"), show=False),
    Command("search.preview", "f8", "toggle_preview", N_("Preview"), importance=3, needs_scene=True),
    Command("search.explain", "f2", "explain", N_("Explain"), importance=1, needs_scene=True),
    Command("search.refine", "ctrl+k", "refine", N_("Refine"), show=False),
    Command("search.switch", "tab", "switch", N_("List/query"), importance=0, needs_scene=True),
    Command("search.back", "escape", "back", N_("Back"), show=False),
    Command("list.next", "down,ctrl+n", "move(1)", N_("Down"), show=False),
    Command("list.previous", "up", "move(-1)", N_("Up"), show=False),
    Command("list.page-down", "pagedown", "page(1)", N_("Page down"), show=False),
    Command("list.page-up", "pageup", "page(-1)", N_("Page up"), show=False),
    Command("library.retry", "ctrl+r", "retry", N_("Try again"), show=False, follows="library.sync"),
    Command("mark.save", "enter", "save", N_("Save"), importance=3),
    Command("mark.switch", "tab,down,up,shift+tab", "switch", N_("Note/tag")),
    Command("mark.remove", "ctrl+d", "remove", N_("Remove mark")),
    Command("mark.close", "escape,ctrl+a,insert", "dismiss", N_("Close"), follows="scene.mark"),
    Command("marks.play", "enter", "play", N_("Play"), importance=3, needs_scene=True),
    Command("marks.play-all", "ctrl+k,p,ㅔ", "play_all", N_("Play all"), needs_scene=True),
    Command(
        "marks.play-with", "ctrl+o,o,ㅐ", "scene('choose_player')", N_("Player"), show=False, follows="scene.play-with"
    ),
    Command("marks.edit", "ctrl+a,insert,m,ㅡ", "edit", N_("Note/tag"), follows="scene.mark", needs_scene=True),
    Command("marks.remove", "delete,backspace,d,ㅇ", "remove", N_("Remove"), needs_scene=True),
    Command("marks.tag", "tab", "next_tag", N_("By tag"), needs_scene=True),
    Command("marks.export", "ctrl+e,e,ㄷ", "export", N_("Export"), follows="scene.export", needs_scene=True),
    Command("marks.copy", "ctrl+y,y,ㅛ", "scene('copy_link')", N_("Copy link"), importance=1, needs_scene=True),
    _list_key("marks.copy-markdown", "Y", "scene('copy_markdown')", N_("Copy Markdown")),
    Command("marks.back", "escape,ctrl+l", "dismiss", N_("Back"), follows="app.marks", importance=3),
    Command("export.save", "enter", "save", N_("Save"), importance=3),
    Command("export.copy", "ctrl+y", "copy_text", N_("Copy"), importance=3),
    Command("export.scope", "tab", "next_source", N_("Which scenes")),
    Command("export.next", "down", "move(1)", N_("Down"), show=False),
    Command("export.previous", "up", "move(-1)", N_("Up"), show=False),
    Command("export.page-down", "pagedown", "page(1)", N_("Page down"), show=False),
    Command("export.page-up", "pageup", "page(-1)", N_("Page up"), show=False),
    Command("export.close", "escape,ctrl+e", "dismiss", N_("Close"), follows="scene.export"),
    Command("video.find", "enter", "select", N_("Search in it"), priority=False, importance=3),
    _list_key("video.back", "left", "screen.back", N_("Back")),
)
COMMANDS = {command.id: command for command in _REGISTRY}

TOOLTIPS = {
    "library.undo": N_("bring back what was removed in the last minute, the newest first"),
    "checks.network": N_("ask YouTube whether it answers"),
    "library.remove": N_("take the video or the channel out of the library"),
    "channel.settings": N_("the channel's tabs, languages, names and model"),
    "filter.remove": N_("take the last filter away, where nothing is typed"),
    "search.filter": N_("filters: channels, videos, days, kinds; a click on one takes it away"),
    "channel.sync": N_("New videos of it"),
}
"""Id → the footer's text under the mouse. It is the help too, unless `HELP` has another sentence."""

HELP = {
    "app.ask": N_("ask a question of the videos"),
    "app.help": N_("this help"),
    "app.library": N_("library: videos, new captions"),
    "app.history": N_("earlier answers"),
    "app.checks": N_("what is installed, what is missing, and how to fix it"),
    "app.transcript": N_("the whole transcript of the video, with search"),
    "app.overview": N_("what the video or channel is about: summary, sections, telling words, names"),
    "app.marks": N_("marked scenes, with notes and tags"),
    "library.sample": N_("open the sample library from the library, or your own from the sample"),
    "app.quit": N_("quit"),
    "app.commands": N_("all commands, themes"),
    "library.background": N_("pause or resume background work"),
    "models.fetch": N_("install and fetch what search by meaning needs, or stop that"),
    "packages.update": N_("update yt-dlp if it is too old"),
    "models.dismiss": N_("hide the offer of these models"),
    "library.sync": N_("check for new videos, or resume what was stopped"),
    "library.stop": N_("stop the job; what is done stays"),
    "answer.enter": N_("ask, then ask further about the same scenes; play what is chosen"),
    "answer.copy": N_("copy the link to the scene's second"),
    "answer.copy-text": N_("copy the answer with what it cites"),
    "answer.mark": N_("mark the scene; of a marked one, edit note and tag"),
    "answer.preview": N_("show or hide the preview"),
    "answer.play-with": N_("choose the player for the scene"),
    "answer.new": N_("a new question, about other scenes"),
    "answer.again": N_("after an answer that repeats itself: ask once more with another seed"),
    "answer.whole": N_("ask of all captions instead of the best scenes, and back"),
    "answer.over": N_("answer for each video, for each month, or from the best scenes again"),
    "answer.history": N_("earlier answers: read again or delete"),
    "answer.back": N_("stop the answer; then back to the search"),
    "answer.switch": N_("question → scenes → transcript"),
    "settings.save": N_("save the settings"),
    "channel.videos": N_("the channel's videos"),
    "channel.into": N_("the channel's videos"),
    "library.bring-back": N_("bring back what was removed just before"),
    "filter.take": N_("take the filter"),
    "history.open": N_("read the answer again"),
    "history.delete": N_("delete the answer"),
    "history.delete-all": N_("delete all answers"),
    "history.back": N_("back to the answers"),
    "library.index": N_("fetch the captions of the address, or read those of the folder"),
    "library.list": N_("take the whole list that the video's address names"),
    "library.switch": N_("field ⇄ table"),
    "library.back": N_("table → field → search"),
    "library.close": N_("back to the search"),
    "channel.sync": N_("check the channel for new videos"),
    "video.retry": N_("ask for the video again at once"),
    "video.open": N_("open the video in the browser"),
    "library.failures": N_("only the videos that failed, or all again"),
    "library.pause": N_("stop the job and pause background work, or resume both"),
    "player.prefer": N_("make this the default player"),
    "list.copy": N_("copy the link to the scene's second"),
    "list.play-with": N_("choose the player for the scene"),
    "list.mark": N_("mark the scene; of a marked one, edit note and tag"),
    "list.copy-markdown": N_("copy the scene as Markdown, with its video, time and links"),
    "list.query": N_("back to the query, as any other letter"),
    "transcript.play": N_("play from the line; from the field, go to the match first"),
    "transcript.play-with": N_("choose the player for the line"),
    "transcript.copy-link": N_("copy the link to the line's second"),
    "transcript.mark": N_("mark the scene of the line"),
    "transcript.search": N_("search in the transcript; letters typed in the list do it too"),
    "transcript.next-match": N_("the next match, and after the last one the first"),
    "transcript.back": N_("field → lines → empty field → back"),
    "transcript.close": N_("close the transcript"),
    "transcript.copy": N_("copy the link to the line's second"),
    "transcript.quote": N_("copy the line with title, time and link"),
    "transcript.mark-line": N_("mark the scene of the line"),
    "transcript.find": N_("back to the query, as any other letter"),
    "overview.play": N_("play from the second of the row; a video of a channel opens its own overview"),
    "overview.play-with": N_("choose the player for the row"),
    "overview.copy-link": N_("copy the link to the second of the row"),
    "overview.mark": N_("mark the scene at the second of the row"),
    "overview.back": N_("back to the screen before"),
    "scene.play": N_("search at once; play the scene when its results are shown"),
    "scene.play-with": N_("choose the player for the scene"),
    "scene.copy": N_("copy the link to the scene's second"),
    "scene.mark": N_("mark the scene; of a marked one, edit note and tag"),
    "scene.export": N_("export the scene, the results or the marks, with a preview"),
    "search.preview": N_("show or hide the preview"),
    "search.explain": N_("why the scene was found"),
    "search.refine": N_("have the reranker read 150 scenes and put the best first, or stop that"),
    "search.switch": N_("query → list → transcript"),
    "search.back": N_("transcript → list → query → empty query"),
    "library.retry": N_("try again to open a library that could not be opened"),
    "mark.save": N_("save note and tag"),
    "mark.remove": N_("remove the mark"),
    "marks.play": N_("play the marked scene"),
    "marks.play-all": N_("play the listed scenes one after another in mpv"),
    "marks.play-with": N_("choose the player for the scene"),
    "marks.edit": N_("edit note and tag"),
    "marks.remove": N_("remove the mark; the scene stays in the library"),
    "marks.tag": N_("only the marks with one tag; again: the next tag, then all"),
    "marks.export": N_("export the listed scenes, or the chosen one"),
    "marks.copy": N_("copy the link to the scene's second"),
    "marks.copy-markdown": N_("copy the scene as Markdown, with its video, time and links"),
    "marks.back": N_("back to the screen before"),
    "export.save": N_("write the file"),
    "export.copy": N_("copy the text"),
    "export.scope": N_("the chosen scene, all results, or the marks"),
    "video.find": N_("search in the video"),
    "video.back": N_("back to the channels"),
}
"""Id → a sentence, for commands whose footer text is not enough."""


def bindings(*ids: str) -> list[BindingType]:
    """Return the bindings of a screen or widget, in the order in which its help lists them.

    Each row of `ids` may hold several, with spaces between.
    """
    return [COMMANDS[id].binding for row in ids for id in row.split()]
