"""The keys in force and their meaning, for the help and for `subtitle-rag keys`."""

from collections.abc import Collection, Iterable, Iterator
from itertools import zip_longest

from textual.dom import DOMNode

from subtitle_rag.i18n import N_, _
from subtitle_rag.tui.keys import COMMANDS, keymap

TOGETHER = {
    ("list.next", "list.previous"): N_("choose a scene, from the query too"),
    ("list.page-down", "list.page-up"): N_("a page of scenes on, or back"),
    ("list.down", "list.up"): N_("choose a scene"),
    ("list.first", "list.last"): N_("the first scene, or the last"),
    ("answer.next", "answer.previous"): N_("citations of the answer, and the seconds that they rest on"),
    ("answer.page-down", "answer.page-up"): N_("a page of the answer on, or back"),
    ("transcript.next", "transcript.previous"): N_("choose a line; from the field, the next match or the one before"),
    ("transcript.page-down", "transcript.page-up"): N_("a page of lines on, or back"),
    ("transcript.down", "transcript.up"): N_("choose a line"),
    ("transcript.first", "transcript.last"): N_("the first line, or the last"),
    ("history.down", "history.up"): N_("choose an answer"),
    ("table.down", "table.up"): N_("choose a row"),
    ("table.page-down", "table.page-up"): N_("a page of rows on, or back"),
    ("table.first", "table.last"): N_("the first row, or the last"),
    ("filter.next", "filter.previous"): N_("choose a filter"),
    ("filter.page-down", "filter.page-up"): N_("a page of filters on, or back"),
    ("export.next", "export.previous"): N_("choose a format"),
    ("export.page-down", "export.page-up"): N_("a page of the text on, or back"),
    ("player.down", "player.up"): N_("choose a player"),
    ("overview.down", "overview.up"): N_("choose a row"),
}
_WITH = {id: ids for ids in TOGETHER for id in ids}


def key_meaning(id: str) -> str:
    return _(COMMANDS[id].sentence)


def key_rows(kinds: Iterable[type[DOMNode]], without: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield (keys, meaning) of everything these classes declare, but for the keys of `without`.

    Keys of the same meaning share a row. A key that a class has taken from its base has one meaning.
    """
    seen_ids: set[str] = set()
    for kind in kinds:
        taken = set(without)
        keys_of: dict[str, list[str]] = {}
        for id in keymap.declared_by(kind):
            ids = _WITH.get(id, (id,))
            if id in seen_ids:
                continue
            seen_ids.update(ids)
            side_by_side = zip_longest(*(keymap.keys(each) for each in ids))
            names = [name for names in side_by_side for name in names if name and name not in taken]
            taken.update(names)
            if names:
                sentence = _(TOGETHER[ids]) if ids in TOGETHER else key_meaning(id)
                keys_of.setdefault(sentence, []).extend(map(keymap.key_text, names))
        for sentence, texts in keys_of.items():
            yield " ".join(texts), sentence
