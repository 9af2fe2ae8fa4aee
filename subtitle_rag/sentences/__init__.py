"""What every failure says, by its code: what happened and why, and what to do next.

Message ids, with the names of the failure's details in braces.
"""

from subtitle_rag.sentences import captions, evaluation, installation, library, models, requests

SENTENCES: dict[str, tuple[str, str]] = {
    **captions.SENTENCES,
    **requests.SENTENCES,
    **models.SENTENCES,
    **installation.SENTENCES,
    **evaluation.SENTENCES,
    **library.SENTENCES,
}
