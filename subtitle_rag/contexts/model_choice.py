"""Sentences for the choice of a channel's model."""

from collections.abc import Mapping

from subtitle_rag.i18n import n_
from subtitle_rag.platforms import command_line


def count_by_others(counts: Mapping[str, int], model: str) -> int:
    """Count the contexts (model → contexts) of all models but this."""
    return sum(contexts for name, contexts in counts.items() if name != model)


def kept_contexts(contexts: int, channel: str) -> str:
    """Say that the contexts of other models stay, and how to replace them."""
    return n_(
        "{n} context by another model stays: subtitle-rag contexts redo --channel {channel} writes it again.",
        "{n} contexts by other models stay: subtitle-rag contexts redo --channel {channel} writes them again.",
        contexts,
    ).format(n=f"{contexts:,}", channel=command_line([channel]))
