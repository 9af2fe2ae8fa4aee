"""The rows of models in a channel's settings, and the sentence after saving."""

from subtitle_rag import models
from subtitle_rag.contexts import model_choice
from subtitle_rag.domain import byte_size
from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state import ChannelChanges, ChannelForm


def model_rows(form: ChannelForm, installed: "list[str] | None", language: str) -> list[tuple[str, str]]:
    """Return (label, name) of every model: the usual one, those on offer, those `installed` in Ollama."""
    rows = [(_("The usual one ({model})").format(model=form.usual), "")]
    offered = {each.name: each for each in models.context_models()}
    for name in dict.fromkeys((*offered, *(installed or ()), *filter(None, [form.choices.model]))):
        parts = [name]
        if each := offered.get(name):
            parts.append(_("{size}, for {suits}").format(size=byte_size(each.disk_gb * 1e9), suits=each.suits))
            parts.append(each.note.get(language, each.note["en"]))
        if installed is not None and name in installed:
            parts.insert(1, _("✓ here"))
        rows.append((" · ".join(parts), name))
    return rows


def saved_text(changes: ChannelChanges, channel: str) -> str:
    """Return the sentences about the consequences of saved changes."""
    sentences = [_("Saved.")]
    if changes.fetching:
        sentences.append(_("{key} reads its list again and fetches what is missing.").format(key=key("library.sync")))
    if changes.names:
        sentences.append(_("Contexts written from now on will use these names."))
    if changes.contexts_of_others:
        sentences.append(model_choice.kept_contexts(changes.contexts_of_others, channel))
    return " ".join(sentences)
