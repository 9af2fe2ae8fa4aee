"""The sentence for what a scene was found by."""

from subtitle_rag.i18n import N_

REASONS: dict[str, str] = {
    "title": N_("found by the title"),
    "context": N_("found by the context"),
    "spelling": N_("similar letters"),
    "nearby": N_("found by words nearby"),
    "meaning": N_("similar meaning"),
}
"""`Scene.reason` → what a row says of a scene without a mark in its speech."""
RELATED = N_("found by a related word: {words}")
"""What a row says of a scene that says only variants, where marks cannot be seen."""
