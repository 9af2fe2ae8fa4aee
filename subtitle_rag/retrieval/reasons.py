"""What scenes are found by, and what rows say of it. Rows are drawn before anything else of retrieval is read."""

from typing import Literal

from subtitle_rag.i18n import N_

Reason = Literal["said", "related", "title", "context", "spelling", "nearby", "meaning"]
"""What a scene was found by, the strongest: typed words in its speech, their variants, typed words in the video's title
or in the context, parts of typed words, keywords of the neighbouring windows, or the meaning alone."""
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
