"""What the channel's settings say of models."""

from subtitle_rag import models
from subtitle_rag.contexts import model_choice
from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.channel_settings import ChannelChanges, ChannelForm


def model_rows(form: ChannelForm, here: "list[str] | None", language: str) -> list[tuple[str, str]]:
    """(what is told, name) of every model that can be chosen: the usual one, those on offer, those that are `here`."""
    rows = [(_("The usual one ({model})").format(model=form.usual), "")]
    offered = {each.name: each for each in models.offered()}
    for name in dict.fromkeys((*offered, *(here or ()), *filter(None, [form.choices.model]))):
        parts = [name]
        if each := offered.get(name):
            parts.append(_("{size} GB, for {suits}").format(size=f"{each.disk_gb:g}", suits=each.suits))
            parts.append(each.note.get(language, each.note["en"]))
        if here is not None and name in here:
            parts.insert(1, _("✓ here"))
        rows.append((" · ".join(parts), name))
    return rows


def saved(changes: ChannelChanges, channel: str) -> str:
    """Say what follows from the changes of a channel's settings."""
    sentences = [_("Saved.")]
    if changes.fetching:
        sentences.append(_("{key} reads its list anew and fetches what is missing.").format(key=key("library.sync")))
    if changes.names:
        sentences.append(_("Contexts that are written from now on know the names."))
    if changes.contexts_of_others:
        sentences.append(model_choice.kept_contexts(changes.contexts_of_others, channel))
    return " ".join(sentences)
