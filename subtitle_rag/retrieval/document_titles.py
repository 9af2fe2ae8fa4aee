"""What a video's title says of its content, without ids, file endings and what channels put around it.

The encoder reads a title in front of every window, so what says nothing there moves all vectors of a video.
"""

import re
import unicodedata

_BRACKETED_ID = re.compile(r"[\[(](?=[\w-]*[0-9A-Z_-])[A-Za-z0-9_-]{11}[\])]")
_ENDING = re.compile(
    r"(?:\.[a-z]{2,3}(?:-[a-z]{2,8})?)?\.(?:vtt|srt|sbv|json3|ass|ssa|smi|mp4|m4v|mkv|webm|mov|avi|mp3|m4a|opus|wav)$",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[\[(【［（<〈《]([^\[\](){}【】［］（）<>〈〉《》]{1,40})[\])】］）>〉》]")
_MARK = re.compile(
    r"(?:(?:eng?|kor?|jpn?|english|korean|영어|한글|한국어|자동)?\s*(?:sub(?:s|title[sd]?|bed)?|cc|자막)(?:\s*(?:있음|포함|o))?"
    r"|[48]k|u?f?hd|\d{3,4}p(?:\d{2})?|official(?:\s+(?:video|mv|m/v|audio))?|full(?:\s*(?:ver\.?|version|hd))?|풀버전|vlog|asmr)+",
    re.IGNORECASE,
)
"""What stands in brackets and tells the form of a video."""
LONGEST_MARK = 40
_SHORTS = re.compile(r"#(?:youtube)?(?:shorts?|쇼츠|vlog|브이로그)(?!\w)", re.IGNORECASE)
_HASH = re.compile(r"(?<!\w)#(?=\w)")
_SEPARATOR = re.compile(r"\s*[|｜¦│]\s*|\s+[-–—·•/:]\s+")
_EDGES = " \t-–—_|｜·•/:,~"


def content_title(title: str, channel: str = "") -> str:
    """Return the part of a title that tells of the content; empty if none does."""
    text = _HASH.sub("", _SHORTS.sub(" ", title))
    while (cut := _ENDING.sub("", text.rstrip())) != text:
        text = cut
    text = _BRACKETED_ID.sub(" ", text)
    text = _BRACKETED.sub(lambda match: " " if _is_debris(match[1], channel) else match[0], text)
    if " " not in text.strip() and text.count("-") > 1:  # a file's name
        text = text.replace("-", " ")
    text = text.replace("_", " ")
    text = "".join(" " if unicodedata.category(letter) in ("So", "Cs", "Co", "Cn") else letter for letter in text)
    parts = [part for part in _SEPARATOR.split(text) if part]
    telling = [part for part in parts if not _is_debris(part, channel)]
    if 0 < len(telling) < len(parts):
        text = " - ".join(telling)
    return " ".join(text.split()).strip(_EDGES)


def _is_debris(part: str, channel: str) -> bool:
    part = part.strip()
    is_mark = len(part) <= LONGEST_MARK and _MARK.fullmatch(part) is not None
    return not part or is_mark or (bool(_key(channel)) and _key(part) == _key(channel))


def _key(name: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", name).casefold() if letter.isalnum())
