"""The two sentences of every failure, by its code: what happened and why, and what to do next.

They are message ids, with the names of the failure's details in braces.
"""

from subtitle_rag.domain.error_messages import captions, evaluation, installation, local_models, requests, storage

SENTENCES: dict[str, tuple[str, str]] = {
    **captions.SENTENCES,
    **requests.SENTENCES,
    **local_models.SENTENCES,
    **installation.SENTENCES,
    **evaluation.SENTENCES,
    **storage.SENTENCES,
}
