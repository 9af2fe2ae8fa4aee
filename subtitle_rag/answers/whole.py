"""Questions about a whole video, and the text of whole videos for the model."""

import re
from collections.abc import Mapping, Sequence
from itertools import count

from subtitle_rag.answers.context_builder import TITLE, Cost, Labels, per_character, quoted
from subtitle_rag.base.domain.values import Video, Window, clock, squeeze
from subtitle_rag.contexts.context_prompt import shortened

BEGINNING = 60
"""Tokens of speech that replace a missing context."""

_WHOLE = re.compile(
    r"요약|줄거리|개요|간추|한 ?줄로|정리해|정리 ?좀"
    r"|(?:무슨|어떤) ?(?:내용|영상|얘기|이야기)|내용이? ?(?:뭐|무엇|어떻게)|뭐(?:에 대한| ?하는) ?(?:영상|내용)"
    r"|어디 ?어디|뭐 ?뭐|뭘 ?뭘|누구 ?누구|무엇 ?무엇|언제 ?언제|어떤 ?어떤"
    r"|(?:순서|차례|시간순)(?:대로|로)?|처음부터 ?끝까지|목록|리스트|전체(?:적으로| ?내용| ?영상)|영상 ?전체"
    r"|(?<![가-힣])(?:전부|모두|모든|총|다) [^?]{0,12}?(?:알려|말해|나열|골라|합쳐|몇|어디|뭐)|몇 ?(?:군데|곳)"
    r"|\b(?:summar(?:y|ies|i[sz]e[ds]?)|tl;?dr|overview|outline|recap|gist|synopsis)\b"
    r"|\bwhat(?:'s| is| was) (?:this|the|that) (?:\w+ )?(?:video|vlog|episode|stream|clip) about\b"
    r"|\b(?:main|key) (?:points?|topics?|moments?)\b|\bwhole (?:video|vlog|episode|stream)\b"
    r"|\b(?:list|name|tell me) (?:all|every|each|everything)\b|\bwhere all\b|\bwhich places\b"
    r"|\b(?:all|every) (?:of )?(?:the )?"
    r"(?:places?|foods?|dishes|restaurants?|shops?|stores?|people|products?|things?|stops?)\b"
    r"|\bfrom (?:start|beginning) to (?:finish|end)\b|\b(?:in (?:chronological )?order|step by step)\b",
    re.IGNORECASE,
)


def is_about_whole(question: str) -> bool:
    """Whether a question asks about a whole video (요약해줘, 어디 어디 갔어?) rather than one scene."""
    return _WHOLE.search(question) is not None


def named_in(question: str, videos: Sequence[Video]) -> list[Video]:
    """Return the videos whose whole title is in a question, regardless of spaces and case."""
    text = squeeze(question)
    return [video for video in videos if len(squeeze(video.title)) > 1 and squeeze(video.title) in text]


def transcripts(videos: Mapping[Video, Sequence[Window]]) -> str:
    """Return all speech of some videos, each under its title; `[n]` is the nth window of them all."""
    numbers = count(1)
    blocks = [
        [_head(video), *(f"[{next(numbers)}] ({clock(w.start_ms)})\n{quoted(w.text)}" for w in windows)]
        for video, windows in videos.items()
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def outline(
    video: Video, windows: Sequence[Window], contexts: Mapping[str, str], labels: Labels, tokens: int, cost: Cost
) -> tuple[str, bool]:
    """Return the outline of a video, a line per window, and whether lines were cut to fit.

    A window without a context is represented by its first words.

    Args:
        video: the video.
        windows: its windows.
        contexts: texts by window id.
        labels: words in the prompt's language.
        tokens: limit of the outline.
        cost: returns the tokens of a text.
    """
    texts = [
        (labels.context, quoted(contexts[window.id]))
        if window.id in contexts
        else (labels.speech, _beginning(quoted(window.text), cost))
        for window in windows
    ]
    full = _listed(video, windows, texts)
    if cost(full) <= tokens:
        return full, False
    bare = cost(_listed(video, windows, [(label, "") for label, _text in texts]))
    each = max(0, (tokens - bare) // max(1, len(texts)) - 1)
    cut = [(label, shortened(text, each, per_character(cost))) for label, text in texts]
    return _listed(video, windows, cut), True


def _listed(video: Video, windows: Sequence[Window], texts: Sequence[tuple[str, str]]) -> str:
    lines = [
        f"[{number}] ({clock(window.start_ms)}) {label}: {text}"
        for number, (window, (label, text)) in enumerate(zip(windows, texts, strict=True), start=1)
    ]
    return "\n".join([_head(video), *lines])


def _head(video: Video) -> str:
    about = ", ".join(filter(None, (quoted(video.channel)[:TITLE], str(video.published or ""))))
    return f"({quoted(video.title)[:TITLE]}{f'; {about}' if about else ''})"


def _beginning(text: str, cost: Cost) -> str:
    """Return the first words, with an ellipsis if any are cut."""
    if cost(text) <= BEGINNING:
        return text
    words = text[: len(text) * BEGINNING // cost(text)]
    return f"{words.rpartition(' ')[0] or words} …"
