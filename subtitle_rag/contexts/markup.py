"""Removal of markup from an answer's lines: Markdown, bullets, labels, quotes and echoed captions.

Python's `*args`, `**kwargs` and `__init__` are not emphasis, `12:30` is not a label, and a colon makes a label only
after words that name an answer ("문맥:", "Short context:"), because "핵심 조언: 매일 쓰기" is content.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from subtitle_rag.contexts.deduplicate import is_echo
from subtitle_rag.contexts.sentence_filters import ENDS, ends_in_verb, is_complete, split_sentences

LAYERS = 4
"""Maximum labels, or pairs of quotes, removed at a time, since each requires a search of the whole line."""


class AnswerLine(NamedTuple):
    """A line without its marks.

    `item`: in a list, so a sentence of its own. `doubtful`: a heading or title, an answer only if nothing else is.
    """

    text: str
    item: bool = False
    doubtful: bool = False


_FENCE = re.compile(r"^(?:```|~~~)[\w+-]*$|```(?:json|text|markdown)?", re.IGNORECASE | re.MULTILINE)
_STAMP = re.compile(
    r"^(?:[-*•>\"'] ?)?(?:\d{1,4} )?(?P<open>[\[(])?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?"
    r"(?P<to>\s?(?:~|-{1,3}>?|–|—|→)\s?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?)?[\])]?(?![\d:])\s?(?:[:\-–|]\s)?"
)
_HEADING = re.compile(r"^#{1,6}(?: |(?=[가-힣]|[A-Za-z ]{3,20}[:：]))")
_FIELD = re.compile(
    r"\W{0,4}(등장 ?인물|인물|장소|배경|시간|내용|주제|행동|상황|대상|음식|제품|사건)\W{0,3}[:：](?!\d)\W{0,3}\S"
)
_BULLET = re.compile(
    r"^(?:[-*+•→·◦▪●○■□▶►➤※✓✅☑👉📌📍🔹–—‣]\ufe0f?\s|[-•·●■▶✅👉📌🔹](?=[가-힣\"'“])|[①-⑳]\s?|\d\ufe0f?\u20e3\s?"
    r"|(?:\(?\d{1,2}[.)]|\[\d{1,2}\])(?:\s+|(?=[가-힣])))"
)
_INLINE_NUMBER = re.compile(r"(?<=[.!?])\s(?:\d{1,2}[.)]\s|[①-⑳]\s?|[-*•]\s)(?=[가-힣A-Z\"'“‘])")


def split_lines(text: str, speech: str) -> Iterator[AnswerLine]:
    """Yield the lines of the model's answer that may be a context; `speech` has the letters of the window.

    Fields on separate lines ("인물: …", "장소: …") keep their names.
    """
    rows = _FENCE.sub("\n", text).split("\n")
    stamps = sum(bool(_STAMP.match(row)) for row in rows)
    fields = [field for row in rows if (field := _FIELD.match(row))]
    has_fields = len(fields) > 1 and any(not _HEAD_WORD.fullmatch(field[1]) for field in fields)
    for row in rows:
        if has_fields and _FIELD.match(row):
            yield AnswerLine(strip_quotes(strip_marks(_BULLET.sub("", row))), item=True)
            continue
        stamp = _STAMP.match(row)
        if stamp and (stamp["open"] or stamp["to"] or stamps > 1):
            continue
        yield from (line for line in _of_row(row) if not is_echo(line.text, speech))


def _of_row(row: str) -> Iterator[AnswerLine]:
    """Yield a table row's cells that are sentences, or the items of a list on one line."""
    row = row.removeprefix("> ")
    if row.startswith("|"):
        yield from (_line(cell, item=True) for cell in row.split("|") if is_complete(cell) and len(cell) > 12)
        return
    heading = _HEADING.match(row)
    row = row[heading.end() :] if heading else row
    marked = _BULLET.match(row)
    for part in _INLINE_NUMBER.split(row[marked.end() :]) if marked else [row]:
        yield _line(part, item=bool(marked), doubtful=bool(heading))


# --- marks inside a line ---

_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*\)")
_CODE = re.compile(r"``?([^`]+)``?")
_STRONG = re.compile(r"\*\*(?=[가-힣\"'“])|(?<=[가-힣.!?:\"'”)])\*\*|\*\*\*?([^*]+)\*\*\*?|~~([^~]+)~~")
_WEAK = re.compile(
    r"(?<![\w*가-힣])\*(?=\S)([^*]+)(?<=\S)\*(?![A-Za-z0-9*])"
    r"|(?<!\w)__?(?=[^\s_])([^_]*[가-힣][^_]*)(?<=\S)__?(?![A-Za-z0-9_])"
)
_HTML = re.compile(r"</?(?:b|strong|em|i|u|p|br|mark|div|span|ul|ol|li)\s?/?>", re.IGNORECASE)


def strip_marks(text: str) -> str:
    """Remove Markdown and simple HTML from a line; names in code keep their stars and underscores."""
    for mark in (_LINK, _CODE, _STRONG, _WEAK):
        text = mark.sub(lambda match: next(filter(None, match.groups()), ""), text)
    if re.match(r"<\w+>", text) or "</" in text:
        text = _HTML.sub(" ", text)
    return " ".join(text.split())


_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "＂": "＂", "`": "`", "„": "“"}
_DOUBLE = '"“”„＂'


def strip_quotes(text: str) -> str:
    """Remove quotes around a whole line, or a lone one at an end; a full stop after them stays.

    The outer quotes of `"A"라며 "B"` are not a pair: a straight quote pairs with the last one only if the next one
    opens (after a space), or there is none between.
    """
    stop = text[-1:] if text[-1:] == "." and text[-2:-1] in _PAIRS.values() else ""
    body = text[: len(text) - len(stop)]
    for _layer in range(LAYERS):
        if len(body) > 1 and _wraps(body):
            body = body[1:-1].strip()
    doubles = sum(letter in _DOUBLE for letter in body)
    if doubles == 1 and body[0] in _DOUBLE:
        body = body[1:]
    elif doubles == 1 and body[-1] in _DOUBLE:
        body = body[:-1]
    return body.strip() + (stop if body and body[-1] not in ENDS else "")


def _wraps(body: str) -> bool:
    first, last, inside = body[0], body[-1], body[1:-1]
    if first in _DOUBLE and last in _DOUBLE:
        between = [match.start() for match in re.finditer(f"[{_DOUBLE}]", inside)]
    elif _PAIRS.get(first) == last:
        between = [match.start() for match in re.finditer(f"[{first}{last}]", inside)]
    else:
        return False
    if not between or (inside[0] == first and inside[-1] == last):
        return True
    return len(between) % 2 == 0 and inside[between[0] - 1].isspace()


# --- labels ---

_HEAD = (
    r"문맥|맥락|컨텍스트|설명|요약|정리|답변|응답|출력|결과|내용|상황|개요|구간|장면|배경|문장|정답|답"
    r"|context|summary|situation|answer|response|output|description|translation"
)
_LABEL_WORD = (
    rf"(?:{_HEAD}|이|해당|위|본|현재|다음|최종|생성된|추가할|작성된|간단한|짧은|간결한|한|두|한두|전체|핵심|주요|자막|영상|청크|검색용"
    r"|the|a|short|succinct|brief|concise|chunk|window|final|video|sentence|korean|in|for|of|this|here|is"
    r"|#?\d{1,3}번?(?!\d?:\d))(?:에 대한|을 위한|의|에|용)?"
)
_WORDS = rf"(?:{_LABEL_WORD}[ _-]?){{1,6}}(?:\([^()]{{1,20}}\)\s?)?"
_LABEL = re.compile(
    rf"(?:(?P<words>{_WORDS})\s?(?:[:：](?!\d)|→|\)\s|[–—-]\s)"
    rf"|[\[【<〈「『(（]\s?(?P<boxed>{_WORDS})[\]】>〉」』)）]\s?[:：–—-]?)\s?[|>]?\s?",
    re.IGNORECASE,
)
_HEAD_WORD = re.compile(rf"{_HEAD}|위치", re.IGNORECASE)
_ABOUT = re.compile(
    r"\W*(?:(?:핵심 ?|주요 ?)?키워드|해시태그|태그|참고(?: ?사항)?|비고|주의|시간|채널|날짜|고유명사"
    r"|생각|추론|지시|규칙|언어|자막|원문|notes?|keywords?|tags?)\W{0,3}[:：](?!\d)",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(
    r"\W*(?:(?:영상 )?제목|title|구간|청크|chunk|window)(?: ?\d{1,3})?\W{0,3}[:：](?!\d)\s?", re.IGNORECASE
)
_ENGLISH_LABEL = re.compile(
    r"^(?![{\[\"])[^가-힣:：]{0,160}\b(?:context|summary|here|answer|response|korean|transcript|chunk)\b"
    r"[^가-힣:：]{0,80}[:：]\s*(?=[^A-Za-z]*[가-힣])",
    re.IGNORECASE,
)


def _line(row: str, *, item: bool, doubtful: bool = False) -> AnswerLine:
    text = strip_quotes(strip_marks(row))
    if _ABOUT.match(text):
        return AnswerLine("")
    title = _DOUBTFUL.match(text)
    text = strip_labels(text[title.end() :] if title else text)
    return AnswerLine(text, item, doubtful or bool(title))


def strip_labels(text: str) -> str:
    """Remove labels from the start of a line: "**문맥:**", "[맥락]", "요약 - ", "Here is the context:"."""
    for _layer in range(LAYERS):
        bare = text
        label = _LABEL.match(text)
        if label and _HEAD_WORD.search(label["words"] or label["boxed"]):
            bare = strip_bullet(bare[label.end() :])
        bare = strip_quotes(_ENGLISH_LABEL.sub("", bare)).lstrip(":：;, ")
        if bare == text:
            break
        text = bare
    return text


def strip_bullet(text: str) -> str:
    """Remove the bullet or number of a single quoted item, whose quotes hide the end of its sentences."""
    marked = _BULLET.match(text)
    rest = text[marked.end() :] if marked else text.removeprefix("> ")
    return rest if strip_quotes(rest) != rest else text


# --- lines to one ---


def join_lines(lines: list[AnswerLine]) -> str:
    """Join the lines with Korean; list items, and lines that end like sentences, get a full stop.

    An unfinished last item is dropped, if the others are finished.
    """
    korean = [_drop_stump(line) for line in lines if re.search("[가-힣]", line.text)]
    ended = any(line.text[-1] in ENDS or ends_in_verb(line.text) for line in korean[:-1])
    if ended and korean[-1].item and not is_complete(korean[-1].text):
        korean.pop()
    return " ".join(_with_stop(line, after) for line, after in pairwise([*korean, AnswerLine("")]))


def _drop_stump(line: AnswerLine) -> AnswerLine:
    """Remove an item's unfinished last sentence, which a full stop would disguise."""
    *finished, last = split_sentences(line.text)
    cut = line.item and finished and not is_complete(last)
    return line._replace(text="".join(finished).rstrip()) if cut else line


def _with_stop(line: AnswerLine, after: AnswerLine) -> str:
    if line.text[-1] in ENDS + ",:：;~":
        return line.text
    return line.text + "." if line.item or (after.text and ends_in_verb(line.text)) else line.text
