"""What the confirming dialog asks, and the words of its two buttons."""

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state import clean

if TYPE_CHECKING:
    from subtitle_rag.tui.state import Removal


class Confirmation(NamedTuple):
    title: str
    text: Content
    confirm: str
    """The button of what was asked for."""
    keep: str
    """The harmless button: the focus is there, and Enter takes it."""


def leave_confirmation(waiting: int) -> Confirmation:
    """Ask before a running job is stopped, for which `waiting` others wait."""
    note = _("What is done stays. The rest is kept, and the next start offers to go on with it.")
    queue = n_("{n} job waits for it.", "{n} jobs wait for it.", waiting).format(n=waiting)
    keys = _("{quit} stops it and quits · {stay} lets it go on")
    rows = [
        Content.styled(_("A job is running."), "bold"),
        Content(f"{note} {queue}" if waiting else note),
        Content(""),
        Content.styled(keys.format(quit=key("leave.quit"), stay=key("leave.stay")), "bold"),
    ]
    return Confirmation(_("Quit"), Content("\n").join(rows), _("Quit"), _("Stay"))


def removal_confirmation(removal: "Removal") -> Confirmation:
    """Ask before a channel or a playlist is removed."""
    videos = n_("{n} video", "{n} videos", len(removal.videos)).format(n=f"{len(removal.videos):,}")
    windows = n_("{n} window", "{n} windows", removal.windows).format(n=f"{removal.windows:,}")
    contexts = n_("{n} context", "{n} contexts", removal.contexts).format(n=f"{removal.contexts:,}")
    rows = [Content.styled(clean(removal.target.name), "bold"), Content(" · ".join((videos, windows, contexts)))]
    if removal.contexts:
        rows.append(Content(_("! The contexts that a model has written go too.")))
    if removal.target.sources:
        rows.append(Content(_("It is no longer followed.")))
    rows.append(Content(_("{key} restores it within a minute.").format(key=key("library.undo"))))
    return Confirmation(_("Remove"), Content("\n").join(rows), _("Remove"), _("Keep"))


def mark_confirmation(line: str, note: str) -> Confirmation:
    """Ask before a mark with a note is removed."""
    rows = [
        Content.styled(clean(line), "bold"),
        Content(clean(note)),
        Content(_("The note goes too. The scene stays in the library.")),
    ]
    return Confirmation(_("Remove"), Content("\n").join(rows), _("Remove"), _("Keep"))


def deletion_confirmation(questions: list[str]) -> Confirmation:
    """Ask before the answers to these questions are deleted."""
    count = len(questions)
    sentence = n_("This answer is deleted for good.", "All {n} answers are deleted for good.", count).format(n=count)
    rows = [Content.styled(clean(question), "bold") for question in questions] if count == 1 else []
    return Confirmation(_("Delete"), Content("\n").join([*rows, Content(sentence)]), _("Delete"), _("Keep"))
