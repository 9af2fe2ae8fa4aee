"""Texts of the confirmation dialog: the question, and its two buttons."""

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import Rows, paragraphs
from subtitle_rag.tui.shared.jobs.removal import Removal

if TYPE_CHECKING:
    from subtitle_rag.workflows.pipeline import ContextOffer, ListeningOffer
    from subtitle_rag.workflows.requests import ListedSources


class Confirmation(NamedTuple):
    title: str
    text: Content
    confirm: str
    """The button that acts."""
    keep: str
    """The harmless button: focused, so Enter presses it."""


def leave_confirmation(waiting: int) -> Confirmation:
    """Ask before a running job is stopped, and with it `waiting` others."""
    note = _("Finished videos are kept; the same request resumes the rest.")
    queue = n_("{n} job waits for it.", "{n} jobs wait for it.", waiting)
    keys = _("{quit} stops it and quits · {stay} lets it go on")
    choices = keys.format(quit=key("app.quit"), stay=key("screen.back"))
    text = paragraphs([(_("A job is running."), "bold"), f"{note} {queue}" if waiting else note, "", (choices, "bold")])
    return Confirmation(_("Quit"), text, _("Quit"), _("Stay"))


def removal_confirmation(removal: Removal) -> Confirmation:
    """Ask before a video, a channel or a playlist is removed."""
    rows: Rows = [(clean(removal.target.name), "bold"), removal.sentence]
    if removal.target.sources:
        rows.append(_("It is no longer followed."))
    return Confirmation(_("Remove"), paragraphs(rows), _("Remove"), _("Keep"))


def list_confirmation(listed: "ListedSources") -> Confirmation:
    """Ask before everything in a list of addresses is downloaded."""
    text = paragraphs([(listed.question, "bold"), *listed.notes()])
    return Confirmation(_("Import"), text, _("Fetch all"), _("Not now"))


def listening_confirmation(offer: "ListeningOffer") -> Confirmation:
    """Ask before videos are transcribed, with the download and the estimated time."""
    from subtitle_rag.listening.gaps import estimate_lines

    first, *rest = estimate_lines(offer.estimate)
    rows: Rows = [(clean(first), "bold"), *map(clean, rest)]
    if offer.model_bytes:
        sentence = _("The model {name} is fetched first: {size}.")
        rows.append(sentence.format(name=clean(offer.model), size=byte_size(offer.model_bytes)))
    rows.append(
        _("It goes on in the background, gives way to searches, and {key} pauses it.").format(
            key=key("library.background")
        )
    )
    return Confirmation(_("Listen"), paragraphs(rows), _("Listen"), _("Not now"))


def context_confirmation(offer: "ContextOffer") -> Confirmation:
    """Ask before a model describes scenes, with the estimated time."""
    rows: Rows = [(offer.sentence, "bold"), _("A local model describes each scene, so that search finds more.")]
    rows.append(
        _("It goes on in the background, now and at each start; {key} pauses it.").format(key=key("library.background"))
    )
    return Confirmation(_("AI descriptions"), paragraphs(rows), _("Begin"), _("Not now"))


def mark_confirmation(line: str, note: str) -> Confirmation:
    """Ask before a mark is removed."""
    from subtitle_rag.workflows.removing import mark_removal_sentence

    rows: Rows = [(clean(line), "bold"), *([clean(note)] if note else []), mark_removal_sentence(1, int(bool(note)))]
    rows.append(_("The scene stays in the library."))
    return Confirmation(_("Remove"), paragraphs(rows), _("Remove"), _("Keep"))


def recents_confirmation(searches: int) -> Confirmation:
    """Ask before the last searches are deleted."""
    from subtitle_rag.workflows.removing import removal_sentence

    text = paragraphs([removal_sentence(n_("{n} recent search", "{n} recent searches", searches))])
    return Confirmation(_("Remove"), text, _("Remove"), _("Keep"))


def deletion_confirmation(question: str) -> Confirmation:
    """Ask before the answer to a question is deleted."""
    text = paragraphs([(clean(question), "bold"), _("This answer is deleted for good.")])
    return Confirmation(_("Delete"), text, _("Delete"), _("Keep"))
