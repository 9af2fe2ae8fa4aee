"""Refuse bad questions of a model by rules: a quote that is not in the window, and the like."""

import re
from collections.abc import Iterable
from pathlib import PurePath

from subtitle_rag.contexts import context_prompt, is_foreign
from subtitle_rag.domain import UsageError, Video, Window, nfc
from subtitle_rag.evaluation.question_prompts import LONGEST_QUESTION, Draft
from subtitle_rag.evaluation.questions import Gold
from subtitle_rag.evaluation.sampling import Candidate
from subtitle_rag.retrieval import parse_query

SHORTEST_QUESTION = 8
SHORTEST_QUOTE = 8
"""Characters without spaces: "네" stands everywhere and proves nothing."""
COPIED = 12
"""Characters in a row that a question may not share with its windows."""
SHORTEST_NAME = 6
"""Characters without spaces of a title or file name that gives its video away."""
ALIKE = 90
"""Per cent of normalized edit similarity from which on two questions are one."""
LEAST_HANGUL = 6
"""Syllables of a Korean question: a share of its letters would refuse those about PyTorch's DataLoader."""

_DEICTIC = re.compile(
    r"(?:^|\s)(?:이|해당|위|위의|본|주어진|다음|앞|두|첫 ?번째|두 ?번째)\s?"
    r"(?:영상|동영상|비디오|구간|자막|장면|대화|텍스트|스크립트|클립)|"
    r"(?:구간|자막)에(?:서|\s?따르면)|화자(?:가|는|의)?\s"
)
_QUOTE_MARKS = "\"'“”‘’「」『』…. "
_DOUBLE_QUOTES = str.maketrans(dict.fromkeys('"“”„‟″「」『』', "'"))


def normalized(draft: Draft) -> Draft:
    """Return the draft with its question as the search takes it: double quotes would ask for a phrase."""
    return Draft(draft.query.translate(_DOUBLE_QUOTES).strip(), draft.answer.strip(), draft.quotes)


def gold_ranges(draft: Draft, candidate: Candidate) -> tuple[Gold, ...]:
    """Return the ranges of the quotes; empty if one of them is not in its window."""
    spans = [locate(quote, window) for quote, window in zip(draft.quotes, candidate.windows, strict=True)]
    named = zip(candidate.videos, spans, strict=True)
    return tuple(Gold(name, *span) for (_video, name), span in named if span) if all(spans) else ()


def locate(quote: str, window: Window) -> tuple[int, int] | None:
    """Find the quote's range, from the start of the quote's first line to the end of its last one, in ms.

    It compares the window as the model read it, without spaces: captions and models break words as they like.
    """
    letters, offsets = _squeezed_with_offsets(window.text)
    target = squeezed(context_prompt.neutral(quote).strip(_QUOTE_MARKS))
    at = letters.find(target)
    if len(target) < SHORTEST_QUOTE or at < 0:
        return None
    first, last = offsets[at], offsets[at + len(target) - 1]
    start = max((line.start_ms for line in window.lines if line.offset <= first), default=window.start_ms)
    end = min((line.start_ms for line in window.lines if line.offset > last), default=window.end_ms)
    return start, max(end, start + 1)


def refusal_reason(draft: Draft, candidate: Candidate, queries: Iterable[str]) -> str | None:
    """Return the reason to refuse a question; None for a good one.

    One of `length`, `language`, `deictic`, `names_video`, `syntax`, `quote`, `copied`, and `duplicate` of one of
    `queries`.
    """
    query = draft.query
    if not SHORTEST_QUESTION <= len(query) <= LONGEST_QUESTION or not draft.answer:
        return "length"
    if not _korean(query) or is_foreign(draft.answer):
        return "language"
    if _DEICTIC.search(query):
        return "deictic"
    if any(_names(query, video) for video, _name in candidate.videos):
        return "names_video"
    if not is_plain(query):
        return "syntax"
    if not gold_ranges(draft, candidate):
        return "quote"
    if any(_shares(query, window.text) for window in candidate.windows):
        return "copied"
    return "duplicate" if _is_duplicate(query, queries) else None


def is_plain(query: str) -> bool:
    """Return whether the search looks for all of the question, and for nothing but it."""
    try:
        parsed = parse_query(query)
    except UsageError:
        return False
    return not any((parsed.phrases, parsed.excluded, parsed.channels, parsed.videos, parsed.after, parsed.before))


def squeezed(text: str) -> str:
    """Return NFC in lower case, without spaces."""
    return "".join(nfc(text).casefold().split())


def _squeezed_with_offsets(text: str) -> tuple[str, list[int]]:
    """Return the text as the model read it, squeezed, and the offset in `text` of each of its characters."""
    pairs = [
        (letter, at) for at, character in enumerate(text) for letter in squeezed(context_prompt.neutral(character))
    ]
    return "".join(letter for letter, _at in pairs), [at for _letter, at in pairs]


def _korean(text: str) -> bool:
    return sum("가" <= character <= "힣" for character in text) >= LEAST_HANGUL and not is_foreign(text)


def _names(query: str, video: Video) -> bool:
    """Return whether a question names its video, which a searcher has yet to find."""
    file = PurePath(video.source or "")
    names = map(squeezed, (video.title, video.id, file.name, file.stem))
    return any(len(name) >= SHORTEST_NAME and name in squeezed(query) for name in names)


def _shares(query: str, text: str) -> bool:
    question, speech = context_prompt.neutral(query).casefold(), context_prompt.neutral(text).casefold()
    return any(question[at : at + COPIED] in speech for at in range(len(question) - COPIED + 1))


def _is_duplicate(query: str, queries: Iterable[str]) -> bool:
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extractOne

    return extractOne(query, list(queries), scorer=ratio, processor=squeezed, score_cutoff=ALIKE) is not None
