"""What is said where a channel's model is chosen."""

from collections.abc import Mapping

from subtitle_rag.i18n import n_
from subtitle_rag.platforms import command_line


def count_by_others(written: Mapping[str, int], model: str) -> int:
    """How many contexts (model → contexts) were written by other models than this."""
    return sum(contexts for name, contexts in written.items() if name != model)


def kept_contexts(contexts: int, channel: str) -> str:
    """That what other models have written stays, and how to have it written anew."""
    return n_(
        "{n} context by another model stays: subtitle-rag contexts redo --channel {channel} has it written anew.",
        "{n} contexts by other models stay: subtitle-rag contexts redo --channel {channel} has them written anew.",
        contexts,
    ).format(n=f"{contexts:,}", channel=command_line([channel]))
