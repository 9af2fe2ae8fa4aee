"""SAMI, Korea's most common caption format: a line shows from its SYNC to the next of its language.

pysubs2 and pycaption were tried. One joins the languages of a file and guesses where lines end, the other drops lines
without a `<P>`; both refuse a whole file for one odd time.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.caption_text import spell_readings
from subtitle_rag.captions.cue_blocks import bounded_ms, cues_of_blocks, until_next
from subtitle_rag.captions.language_tags import best_language

_SYNC = re.compile(r"<\s*sync\b([^<>]*)(?:>|(?=<)|\Z)", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<\s*p\b([^<>]*)(?:>|(?=<)|\Z)", re.IGNORECASE)
_START = re.compile(r"\bstart\s*=\s*[\"']?\s*(-?\d{1,12})", re.IGNORECASE)
_END = re.compile(r"\bend\s*=\s*[\"']?\s*(\d{1,12})", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*[\"']?\s*([\w-]{1,50})", re.IGNORECASE)
_SOURCE = re.compile(r"\bid\s*=\s*[\"']?\s*source\b", re.IGNORECASE)
_RULE = re.compile(r"\.([\w-]{1,50})\s*\{([^{}]{0,1000})\}")
_LANGUAGE = re.compile(r"\blang\s*:\s*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)", re.IGNORECASE)
_BODY = re.compile(r"</\s*(?:style|head)\b|<\s*body\b", re.IGNORECASE)
_BREAK = re.compile(r"<\s*br\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*(?:>|\Z)")
_NO_BREAK = re.compile(r"&nbsp;?", re.IGNORECASE)
_CODES = {"KR": "ko", "KO": "ko", "EN": "en", "US": "en", "JP": "ja", "JA": "ja", "CN": "zh", "CH": "zh", "ZH": "zh"}
"""Prefixes of class names such as `KRCC` and `ENCC`, for files that declare no language."""


def sami_cues(text: str, language: str) -> list[Cue] | None:
    """Return the cues of one language: the track's, else Korean, else the one with most text. None without times.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    body = _without_comments(text)
    first = _SYNC.search(body)
    if first is None:
        return None
    lines = _lines_by_class(body[first.start() :])
    languages = sami_languages(text)
    shared = lines.pop("", [])
    class_languages = {name: languages.get(name) or _CODES.get(name[:2], "") for name in lines}
    sizes = {name: sum(len(text) for *_times, text in lines[name]) for name in lines}
    best_class = best_language(sizes, language, class_languages)
    return cues_of_blocks(until_next([*shared, *lines.get(best_class, [])]))


def sami_languages(text: str) -> dict[str, str]:
    """Return the languages of the declared classes, by class in upper case."""
    match = _SYNC.search(text)
    head = text[: match.start()] if match else text
    rules = ((rule[1].upper(), _LANGUAGE.search(rule[2])) for rule in _RULE.finditer(head))
    return {name: match[1] if match else _CODES.get(name[:2], "") for name, match in rules}


def _lines_by_class(body: str) -> dict[str, list[tuple[int, int, str]]]:
    """Return (start in ms, end or 0, text) by class in upper case; lines without a class under ""."""
    lines: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    speakers: dict[str, str] = {}
    start = end = 0
    for attributes, content in _parts(_SYNC, body):
        if match := _START.search(attributes):  # else it continues the previous one
            start = bounded_ms(int(match[1]))
        end = bounded_ms(int(match[1])) if (match := _END.search(attributes)) else 0
        for paragraph, text in _parts(_PARAGRAPH, content):
            name = match[1].upper() if (match := _CLASS.search(paragraph)) else ""
            is_line = bool(paragraph or text.strip())
            text = spell_readings(text)
            text = _TAG.sub("", _BREAK.sub("\n", _NO_BREAK.sub(" ", text).replace("\n", " ")))
            if _SOURCE.search(paragraph):
                speakers[name] = " ".join(text.split()).translate({ord("<"): None, ord(">"): None})
            elif is_line:
                line = f"<v {speakers[name]}>{text.strip()}" if speakers.get(name) and text.strip() else text
                lines[name].append((start, end, line))
    return lines


def _parts(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before the first match, then each match with the text after it."""
    done, attributes = 0, ""
    for match in pattern.finditer(text):
        if match.start() > done or attributes:
            yield attributes, text[done : match.start()]
        done, attributes = match.end(), match[1] or " "
    yield attributes, text[done:]


def _without_comments(text: str) -> str:
    """Return a text without comments. An unclosed one counts as text; any comment ends with the head at the latest."""
    first, *rest = text.split("<!--")
    return first + "".join(map(_after_comment, rest))


def _after_comment(part: str) -> str:
    comment, end, after = part.partition("-->")
    return after if end and not _BODY.search(comment) else part
