"""What each key is for, in a sentence: for the help and for `subtitle-rag keys`.

Bindings tell it themselves, in their tooltips or else in their descriptions, which a footer has room for; here are the
sentences of those that need more, and of those that are told together.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from textual.dom import DOMNode

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui import keymap

SAID = {
    "app.help": N_("this help"),
    "app.library": N_("library: videos, new captions"),
    "app.checks": N_("what is there, what is missing, and what mends it"),
    "app.ask": N_("ask a question of the videos"),
    "app.commands": N_("all commands, themes"),
    "app.quit": N_("quit"),
    "library.sync": N_("look for new videos, or go on with what was stopped"),
    "library.stop": N_("stop the job; what is done stays"),
    "library.background": N_("pause what is made in the background, or go on with it"),
    "models.fetch": N_("install and fetch what search by meaning needs, or stop that"),
    "models.dismiss": N_("put the offer of these models away"),
    "packages.update": N_("bring the newest yt-dlp, where the installed one has aged"),
    "scene.play": N_("search at once; play the scene when its results are shown"),
    "scene.copy": N_("copy the link to the scene's second"),
    "search.explain": N_("why the scene was found"),
    "scene.play-with": N_("choose the player for the scene"),
    "list.play-with": N_("choose the player for the scene"),
    "answer.play-with": N_("choose the player for the scene"),
    "search.switch": N_("query ⇄ list"),
    "search.back": N_("list → query → empty query"),
    "library.retry": N_("try again to open a library that could not be opened"),
    "list.copy": N_("copy the link to the scene's second"),
    "list.query": N_("back to the query, as any other letter"),
    "library.index": N_("fetch the captions of the address, or read those of the folder"),
    "library.list": N_("take the whole list that the video's address names"),
    "library.sample": N_("load nine sample videos"),
    "library.switch": N_("field ⇄ table"),
    "library.back": N_("table → field → search"),
    "library.close": N_("back to the search"),
    "library.failures": N_("only the videos that failed, or all again"),
    "library.pause": N_("stop the job and pause the background, or go on with both"),
    "library.bring-back": N_("bring back what was removed just before"),
    "channel.videos": N_("the channel's videos"),
    "channel.into": N_("the channel's videos"),
    "channel.sync": N_("look for new videos of the channel"),
    "video.find": N_("search in the video"),
    "video.back": N_("back to the channels"),
    "video.retry": N_("ask for the video again at once"),
    "video.open": N_("open the video in the browser"),
    "filter.take": N_("take the filter"),
    "filter.remove": N_("take the last filter away, where nothing is typed"),
    "player.prefer": N_("use this player for every scene from here on"),
    "answer.enter": N_("ask, then ask further about the same scenes; play what is chosen"),
    "answer.copy": N_("copy the link to the scene's second"),
    "answer.new": N_("a new question, about other scenes"),
    "answer.history": N_("earlier answers: read again or delete"),
    "answer.back": N_("stop the answer; then back to the search"),
    "answer.switch": N_("question ⇄ scenes"),
    "history.open": N_("read the answer again"),
    "history.delete": N_("delete the answer; pressed twice"),
    "history.delete-all": N_("delete all answers; pressed twice"),
    "history.back": N_("back to the answers"),
}
TOGETHER = {
    ("list.next", "list.previous"): N_("choose a scene, from the query too"),
    ("list.page-down", "list.page-up"): N_("a page of scenes on, or back"),
    ("list.down", "list.up"): N_("choose a scene"),
    ("list.first", "list.last"): N_("the first scene, or the last"),
    ("answer.next", "answer.previous"): N_("citations of the answer, and the seconds that they rest on"),
    ("answer.page-down", "answer.page-up"): N_("a page of the answer on, or back"),
    ("history.down", "history.up"): N_("choose an answer"),
    ("table.down", "table.up"): N_("choose a row"),
    ("table.page-down", "table.page-up"): N_("a page of rows on, or back"),
    ("table.first", "table.last"): N_("the first row, or the last"),
    ("filter.next", "filter.previous"): N_("choose a filter"),
    ("filter.page-down", "filter.page-up"): N_("a page of filters on, or back"),
    ("player.down", "player.up"): N_("choose a player"),
}
_WITH = {id: ids for ids in TOGETHER for id in ids}


def meaning(id: str) -> str:
    """What the key with this id is for."""
    binding = keymap.binding(id)
    said = SAID.get(id) or binding.tooltip or binding.description
    return _(said) if said else ""


def rows(kinds: Iterable[type[DOMNode]]) -> Iterator[tuple[str, str]]:
    """The keys in force of what these classes declare, and what they are for."""
    told: set[str] = set()
    for id in (id for kind in kinds for id in keymap.declared_by(kind)):
        ids = _WITH.get(id, (id,))
        if id not in told:
            told.update(ids)
            side_by_side = zip_longest(*(keymap.keys(one) for one in ids))
            names = (keymap.spoken(name) for names in side_by_side for name in names if name)
            yield " ".join(names), _(TOGETHER[ids]) if ids in TOGETHER else meaning(id)
