"""Lines of an answer: markdown, bullets, labels, quotes and echoed captions off, the rest told apart by its kind.

What would surprise: Python's `*args`, `**kwargs` and `__init__` are no emphasis, `12:30` is no label, and a colon makes
a label only behind words that name an answer ("문맥:", "Short context:"), for "핵심 조언: 매일 쓰기" is content.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from subtitle_rag.contexts.deduplicate import WindowSpeech
from subtitle_rag.contexts.sentence_filters import ENDS, ends_in_verb, is_complete, split_sentences

LAYERS = 4
"""Labels, or pairs of quotes, that are taken off at a time; bounded, for each costs a look at the whole line."""


class AnswerLine(NamedTuple):
    """A line with its marks off. `item`: of a list, so a sentence of its own. `doubtful`: a heading, or what may be
    caption or title; an answer only where nothing else is."""

    text: str
    item: bool = False
    doubtful: bool = False


_FENCE = re.compile(
    r"^(?:```|~~~)[\w+-]*$|```(?:json|text|markdown|korean|plaintext|md)?|~~~", re.IGNORECASE | re.MULTILINE
)
_TABLE_RULE = re.compile(r"^\|?(?:\s?:?-{2,}:?\s?\|)+(?:\s?:?-{2,}:?)?\s?$", re.MULTILINE)
_SPEAKER = re.compile(r"^(?:#{1,4}\s)?(?:\*\*)?(?:user|human|사용자|유저)(?:\*\*)?\s?[:：]", re.IGNORECASE)
_FINAL = re.compile(
    r"^\W*(?:최종 (?:답변|문맥|맥락|출력|결과|응답)|final (?:answer|context|output|response))\W*[:：]", re.IGNORECASE
)
_STAMP = re.compile(
    r"^(?:[-*•>\"'] ?)?(?:\d{1,4} )?(?P<open>[\[(])?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?"
    r"(?P<to>\s?(?:~|-{1,3}>?|–|—|→)\s?\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?)?[\])]?(?![\d:])\s?(?:[:\-–|]\s)?"
)
_INNER_STAMP = re.compile(r"\s(?=[\[(]\d{1,3}:\d\d)")
_HEADING = re.compile(r"^#{1,6}(?: |(?=[가-힣]))")
_TITLE = re.compile(r"^(?:\*\*|__)([^*_]+)(?:\*\*|__)$")
_BULLET = re.compile(
    r"^(?:[-*+]\s\[[ xX]\]\s|[-*+•·◦▪●○■□▶►➤➡※✓✔✅☑👉📌📍🔹🔸–—‣⁃]\ufe0f?\s|[-•·◦▪●■▶✅👉📌🔹🔸](?=[가-힣\"'“])"
    r"|[①-⑳]\s?|\d\ufe0f?\u20e3\s?)"
)
_NUMBER = re.compile(r"^(?:\(?(\d{1,2})[.)]|\[(\d{1,2})\]|[가나다라마][.)])(?:\s+|(?=[가-힣]))")
_INLINE_NUMBER = re.compile(r"(?<=[.!?])\s(?:\d{1,2}[.)]\s|[①-⑳]\s?|[-*•]\s)(?=[가-힣A-Z\"'“‘])")


def split_lines(text: str, speech: WindowSpeech) -> Iterator[AnswerLine]:
    """The lines of the model's answer that may be a context; none of what it wrote as another speaker."""
    rows = _FENCE.sub("\n", text).split("\n")
    rows = [part for row in rows for part in (_INNER_STAMP.split(row) if _STAMP.match(row) else [row])]
    rows = rows[next((i for i, row in enumerate(rows) if _FINAL.match(row)), 0) :]
    rows = rows[: next((i for i, row in enumerate(rows) if i and _SPEAKER.match(row)), None)]
    table = bool(_TABLE_RULE.search(text))
    labelled = next((i for i, row in enumerate(rows) if _CONTEXT_LABEL.match(row.lstrip("#*_->•\"' "))), 0)
    stamps = sum(bool(_STAMP.match(row)) for row in rows)
    skipped = False
    for at, row in enumerate(rows):
        stamp = _STAMP.match(row)
        if stamp and (stamp["open"] or stamp["to"] or stamps > 1):
            rest = row[stamp.end() :]
            skipped = not rest
            if stamps == 1 and is_complete(rest):
                yield _line(rest, item=False, doubtful=True)
        elif _ABOUT_HEADING.fullmatch(row):
            skipped = True
        elif not (skipped and row) or _HEADING.match(row):
            skipped = False
            for line in _of_row(row, table):
                if not speech.is_echoed_by(line.text):
                    yield line._replace(doubtful=line.doubtful or at < labelled)


def _of_row(row: str, table: bool) -> Iterator[AnswerLine]:
    """The lines in one row: the cells of a table's row that are sentences, the items of a list that stands in it."""
    row = re.sub(r"^(?:> ?)(?!>)", "", row)
    if row.startswith(">>") or re.fullmatch(
        r"[\[(]\s?(?:음악|박수|웃음|노래|환호|music|applause|laughter)\s?[\])]", row, re.I
    ):
        return
    if row.startswith("|") or (table and "|" in row):
        yield from (_line(cell, item=True) for cell in row.split("|") if is_complete(cell) and len(cell) > 12)
        return
    if re.fullmatch(r"(?:#[^\s#]+\s?)+", row):
        return
    heading = _HEADING.match(row)
    row = row[heading.end() :] if heading else row
    marked = _BULLET.match(row) or _numbered(row)
    for part in _INLINE_NUMBER.split(row[marked.end() :]) if marked else [row]:
        title = heading or (_TITLE.match(part) and not marked)
        yield _line(part, item=bool(marked), doubtful=bool(title) and not ends_in_verb(part))


def _numbered(row: str) -> re.Match[str] | None:
    """A list's number; only a 1 stands before another number, for "3. 5일" is a date."""
    number = _NUMBER.match(row)
    if number and row[number.end() : number.end() + 1].isdigit() and (number[1] or number[2]) not in ("1", "2"):
        return None
    return number


# --- marks inside a line ---

_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*\)|\[\^\d{1,3}\]")
_STRONG = re.compile(r"\*\*\*([^*]+)\*\*\*|\*\*([^*]+)\*\*|~~([^~]+)~~")
_WEAK = re.compile(
    r"(?<![\w*가-힣])\*(?=\S)([^*]+)(?<=\S)\*(?![A-Za-z0-9*])"
    r"|(?<!\w)__?(?=[^\s_])([^_]*[가-힣][^_]*)(?<=\S)__?(?![A-Za-z0-9_])"
)
_LONE_STRONG = re.compile(r"\*\*(?=[가-힣\"'“])|(?<=[가-힣.!?:\"'”])\*\*")
_HTML = re.compile(
    r"</?(?:b|strong|em|i|u|p|br|mark|div|span|ul|ol|li|small)\s?/?>(?! ?(?:태그|요소|엘리먼트))", re.IGNORECASE
)


def strip_marks(text: str) -> str:
    """One line without markdown's marks and simple HTML; names in code keep their stars and underscores."""
    text = _LINK.sub(lambda match: match[1] or "", text)
    text = re.sub(r"\\([*_`#\[\]~])", r"\1", text)
    if "`" in text:
        text = re.sub(r"``?([^`]+)``?", r"\1", text)
    text = _STRONG.sub(lambda match: match[1] or match[2] or match[3], text)
    text = _LONE_STRONG.sub("", _WEAK.sub(lambda match: match[1] or match[2], text))
    if re.match(r"<(?:b|strong|em|i|u|p|br|mark|div|span|ul|ol|li|small)\b", text, re.I) or re.search(
        r"</\w+>|<br ?/?>", text, re.I
    ):
        text = _HTML.sub("", re.sub(r"(?i)<br ?/?>", " ", text))
    return " ".join(text.split())


_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "＂": "＂", "`": "`", "„": "“"}
_DOUBLE = '"“”„＂'
_LONE = re.compile(
    r"\A['‘](?=[가-힣\s])([^'‘’]*)\Z|\A([^'‘’]*[.!?…。！？])['’]\Z|\A[「『]([^「」『』]*)\Z|\A([^「」『』]*)[」』]\Z"
    r"|\A`([^`]*)\Z|\A([^`]*)`\Z"
)


def strip_wrapping(text: str) -> str:
    """An answer without the quotes or the strong emphasis around the whole of it, whatever is inside."""
    for _layer in range(LAYERS):
        if len(text) > 1 and _wraps(text) and not text.startswith("```"):
            text = text[1:-1].strip()
        elif len(text) > 4 and text.startswith("**") and text.endswith("**") and text.count("**") == 2:
            text = text[2:-2].strip()
    return text


def strip_quotes(text: str) -> str:
    """`text` without quotes around the whole of it, or a lone one at an end; a full stop behind them stays.

    `"A"라며 "B"` opens and closes with quotes that are not a pair: a straight quote pairs with the last only where the
    next one opens (a space is before it), or none is between.
    """
    if text.startswith("``") and text.endswith("''"):
        text = text[2:-2].strip()
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
    body = _LONE.sub(lambda match: match[match.lastindex or 0], body)
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
    opening = inside[between[0]]
    return len(between) % 2 == 0 and (
        opening in "“„‘「『«" or (opening not in "”’」』»" and inside[between[0] - 1].isspace())
    )


# --- labels ---

_HEAD = (
    r"문맥|맥락|컨텍스트|설명문|설명|요약문|요약|정리|답변|응답|출력|결과|내용|상황|개요|구간|장면|주제|배경"
    r"|한국어|번역|문장|정답|답|모델|context|summary|situation|answer"
    r"|response|output|description|result|scene|translation|explanation|assistant|korean|topic|background"
)
_LABEL_WORD = (
    rf"(?:{_HEAD}|이|해당|위|본|현재|다음|최종|생성된|생성|추가할|추가|작성된|간단한|짧은|간결한|한|두|한두|줄"
    rf"|전체|핵심|주요|자막|영상|청크|윈도우|비디오"
    r"|검색용|ai|the|a|short|succinct|brief|concise|chunk|window|segment|final|situational|contextual"
    r"|contextualized|video|clip|sentence"
    r"|generated|in|for|of|this|here|is|#?\d{1,3}번?(?!\d?:\d))(?:에 대한|을 위한|에서의|의|에|용)?"
)
_WORDS = rf"(?:{_LABEL_WORD}[ _-]?){{1,6}}(?:(?<= )위치)?(?:\([^()]{{1,20}}\)\s?)?"
_LABEL = re.compile(
    rf"(?:[\"'“‘](?P<quoted>{_WORDS})[\"'”’]\s?[:：](?!\d)|(?P<words>{_WORDS})\s?(?:[:：](?!\d)|=(?=[\"'가-힣])|->"
    rf"|→|=>|⇒|[–—-]\s)|[\[【<〈「『(（]\s?(?P<boxed>{_WORDS})[\]】>〉」』)）]\s?[:：–—-]?)\s?[|>]?\s?",
    re.IGNORECASE,
)
_ALL_LABEL = re.compile(rf"\W*{_WORDS}\W*", re.IGNORECASE)
_HEAD_WORD = re.compile(rf"{_HEAD}|위치", re.IGNORECASE)
_ABOUT = re.compile(
    r"\W*(?:키워드|핵심 ?키워드|주요 ?키워드|핵심어|핵심 단어|해시태그|태그|참고|참고 ?사항|비고|주의|주의 ?사항"
    r"|글자 ?수|문자 ?수|토큰(?: ?수)?|단어 ?수|출처"
    r"|시간|시간대|타임스탬프|채널|채널명|날짜|게시일|고유명사|생각|사고 ?과정|추론(?: ?과정)?|지시|지시 ?사항"
    r"|규칙|화자|speaker|언어|신뢰도|자막|자막 ?내용|자막 ?텍스트"
    r"|자막 ?구간|원문|원본|대본|스크립트|트랜스크립트|대사|발화|입력|notes?|keywords?|tags?|length|characters?"
    r"|(?:character|word|token) count|timestamps?"
    r"|time|channel|date|thinking(?: process)?|reasoning|thoughts?|instructions?|language|confidence|transcript"
    r"|subtitles?|captions?|script|input"
    r"|original(?: text)?)\W{0,3}[:：](?!\d)",
    re.IGNORECASE,
)
_ABOUT_HEADING = re.compile(
    r"#{1,6}\s\W*(?:주요 ?|핵심 ?)?(?:키워드|태그|해시태그|참고 ?(?:사항|자료)?|비고|자막|원문|keywords?|tags?"
    r"|notes?|transcript)\W*",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(
    r"\W*(?:(?:영상 |비디오 )?제목|title|구간|청크|chunk|window|segment|윈도우)(?: ?\d{1,3})?\W{0,3}[:：](?!\d)\s?",
    re.IGNORECASE,
)
_CONTEXT_LABEL = re.compile(r"(?:문맥|맥락|컨텍스트|context)\W{0,3}[:：](?!\d)", re.IGNORECASE)
_COUNT = re.compile(
    r"\s?[\[(（](?:총|약|공백|글자|현재|총합|word|character|length|approx|about|\d)[^()\[\]]{0,20}"
    r"(?:자|글자|토큰|단어|문장|characters?|words?|tokens?|chars?|\d)[^()\[\]]{0,12}[\])）]\W{0,8}$"
    r"|\s?\((?:이하 생략|생략|끝|한국어 번역|번역)\)\W{0,8}$",
    re.IGNORECASE,
)
_ENGLISH_LABEL = re.compile(
    r"^(?![{\[\"])[^가-힣:：]{0,160}\b(?:context|summary|here|below|answer|response|korean|translation|description|situation|transcript|chunk|segment|output)\b"
    r"[^가-힣:：]{0,80}(?:[:：]\s*|\s[—–-]\s)(?=[^A-Za-z]*[가-힣])",
    re.IGNORECASE,
)
_TRANSLATION = re.compile(r"\s?[(（\[](?:[^\s()（）\[\]가-힣]{1,40}\s){4,80}[^\s()（）\[\]가-힣]{1,40}[)）\]]\W{0,8}$")


def _line(row: str, *, item: bool, doubtful: bool = False) -> AnswerLine:
    text = strip_quotes(strip_marks(row))
    if _ABOUT.match(text) or _DOUBTFUL.match(text):
        label = _CONTEXT_LABEL.search(text)
        text = text[label.start() :].lstrip("]】") if label and label.start() else text
    if _ABOUT.match(text):
        return AnswerLine("")
    weak = _DOUBTFUL.match(text)
    text = strip_labels(text[weak.end() :] if weak else text)
    return AnswerLine(text, item, doubtful or bool(weak))


def strip_labels(text: str) -> str:
    """One line without labels in front ("**문맥:**", "[맥락]", "요약 - ", "Here is the context:") and counts behind."""
    for _layer in range(LAYERS):
        bare = _COUNT.sub("", _TRANSLATION.sub("", text))
        label = _LABEL.match(bare)
        if label and _HEAD_WORD.search(label["words"] or label["boxed"] or label["quoted"]):
            bare = strip_bullet(bare[label.end() :])
        elif _ALL_LABEL.fullmatch(bare) and _HEAD_WORD.search(bare):
            bare = ""
        bare = strip_quotes(_ENGLISH_LABEL.sub("", bare)).lstrip(":：;, ")
        if bare == text:
            break
        text = bare
    return text


def strip_bullet(text: str) -> str:
    """`text` without the bullet or number of its only item, where that is in quotes: they hide where sentences end."""
    marked = _BULLET.match(text) or _numbered(text)
    rest = text[marked.end() :] if marked else text.removeprefix("> ")
    return rest if strip_quotes(rest) != rest else text


# --- lines to one ---


def join_lines(found: list[AnswerLine]) -> str:
    """The lines as one, without those in no Korean; items of a list, and lines that end as sentences do, get a full
    stop. The last item goes when it is cut off, which shows beside finished ones."""
    kept = [_without_stump(line) for line in found if re.search("[가-힣]", line.text)]
    ended = any(line.text[-1] in ENDS or ends_in_verb(line.text) for line in kept[:-1])
    if ended and kept[-1].item and not is_complete(kept[-1].text):
        kept.pop()
    return " ".join(_stopped(line, after) for line, after in pairwise([*kept, AnswerLine("")]))


def _without_stump(line: AnswerLine) -> AnswerLine:
    """An item without its last sentence where that is cut off; a full stop would make it look finished."""
    *whole, last = split_sentences(line.text)
    cut = line.item and whole and not is_complete(last)
    return line._replace(text="".join(whole).rstrip()) if cut else line


def _stopped(line: AnswerLine, after: AnswerLine) -> str:
    if line.text[-1] in ENDS + ",:：;~" or not (line.text[-1].isalnum() or line.text[-1] in ")]\"'”’」』"):
        return line.text
    if line.text[-1] in "\"'”’」』)]" and line.text[:-1].rstrip()[-1:] in tuple(ENDS):
        return line.text
    goes_on = not after.text or after.text.startswith(("입니다", "이다", "라고", "라며"))
    ends = line.item or (not goes_on and ends_in_verb(line.text))
    return line.text + "." if ends else line.text
