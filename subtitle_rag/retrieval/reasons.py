"""Sentences for what a scene was found by, and for queries that are suggested instead of one."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import N_, n_

if TYPE_CHECKING:
    from subtitle_rag.retrieval.suggestions import Suggestion

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


def suggestion_reason(suggestion: "Suggestion") -> str:
    """Return the obstacle, and the number of scenes without it."""
    match suggestion.kind:
        case "layout":
            template = n_(
                "The keys of “{word}” write “{instead}” in the keyboard's other mode; there is {n} scene.",
                "The keys of “{word}” write “{instead}” in the keyboard's other mode; there are {n} scenes.",
                suggestion.scenes,
            )
        case "spelling":
            template = n_(
                "“{word}” is in no scene; with “{instead}” there is {n} scene.",
                "“{word}” is in no scene; with “{instead}” there are {n} scenes.",
                suggestion.scenes,
            )
        case "quotes":
            template = n_(
                "With exactly {word} nothing is found; with its words in any order there is {n} scene.",
                "With exactly {word} nothing is found; with its words in any order there are {n} scenes.",
                suggestion.scenes,
            )
        case "exclusion":
            template = n_(
                "{word} leaves nothing; without it there is {n} scene.",
                "{word} leaves nothing; without it there are {n} scenes.",
                suggestion.scenes,
            )
        case _:
            template = n_(
                "Nothing is left within {word}; without it there is {n} scene.",
                "Nothing is left within {word}; without it there are {n} scenes.",
                suggestion.scenes,
            )
    n = f"{suggestion.scenes}+" if suggestion.more else f"{suggestion.scenes}"
    return template.format(word=suggestion.changed, instead=suggestion.instead, n=n)
