"""What a small local model answered, to the one or two Korean sentences that it was asked for.

What would surprise: it is a cleaner, no verifier. A wrong name or a number ten times too large passes unchanged;
only the wrapping goes, and "" means that nothing but wrapping was there. Letters are never changed or added.

An answer is unwrapped from the outside in (thoughts, turns, JSON, tags, lines, sentences), again and again until
nothing changes: models put a label into a quote into JSON. Where two readings are possible (is `<구간>…</구간>` an
echo of the prompt, or the answer in the prompt's dress?), the first that leaves a context wins.
"""

import html
import json
import re
from collections.abc import Iterator

from subtitle_rag.captions.parse import plain_text
from subtitle_rag.contexts.deduplicate import WindowSpeech, collapse_loops, drop_repeats
from subtitle_rag.contexts.markup import (
    join_lines,
    split_lines,
    strip_bullet,
    strip_labels,
    strip_quotes,
    strip_wrapping,
)
from subtitle_rag.contexts.sentence_filters import (
    has_no_korean_sentence,
    is_closer,
    is_complete,
    is_foreign,
    is_preamble,
    is_refusal,
    split_sentences,
)

MAX_CHARACTERS = 10_000
"""What is read of an answer, and of a window; fifty times what is asked for."""

ROUNDS = 8
"""Layers of wrapping that are taken off; an answer that is still changing then is nonsense."""


def clean(raw: str, *, window: str = "") -> str:
    """The context in `raw` as one line in NFC, or "" where there is none: a refusal, another language, an echo.

    `window` is the caption text that the model was given; sentences of it are no context. Cleaning twice changes
    nothing.
    """
    speech = WindowSpeech.of(plain_text(window[:MAX_CHARACTERS]))
    text = raw[:MAX_CHARACTERS]
    for _round in range(ROUNDS):
        inner = _unwrapped(text, speech)
        if inner == text:
            return text
        text = inner
    return ""


def _unwrapped(text: str, speech: WindowSpeech) -> str:
    """`text` with the outermost layers off."""
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(plain_text(line) for line in text.splitlines()).strip())
    text = strip_wrapping(_own_turn(_without_thoughts(strip_wrapping(text))))
    for source in _readings(text):
        lines = list(split_lines(source.strip(), speech))
        for chosen in ([line for line in lines if not line.doubtful], lines):
            answer = _sentences(join_lines(chosen), speech)
            if answer:
                return answer
    return ""


def _readings(text: str) -> Iterator[str]:
    """What may be the answer, best guess first."""
    plain = _unescaped(text)
    for source in dict.fromkeys((text, plain)):
        yield from _json_readings(source)
    yield from dict.fromkeys(_tag_readings(plain))


def _unescaped(text: str) -> str:
    """`text` without HTML's and JSON's escapes, as far as prose has no use for them."""
    text = re.sub(r"&(?:lt|gt|amp|quot|apos|nbsp|#39|#34);", lambda match: html.unescape(match[0]), text)
    if re.search(r"\\u[0-9a-fA-F]{4}", text):
        text = _with_code_points(text)
    text = text.replace('\\"', '"')
    return re.sub(r"(?<=[.!?:。\"])(?:\\r)?(?:\\n)+|(?:\\n){2,}|\\n(?=[-*•\d])|(?:\\n)+\s*\Z", "\n", text)


def _with_code_points(text: str) -> str:
    """Escapes of Hangul as Hangul; others stay, for halves of pairs and control characters are no text."""
    return re.sub(
        r"\\u(ac[0-9a-f]{2}|a[d-f][0-9a-f]{2}|[bc][0-9a-f]{3}|d[0-7][0-9a-f]{2}|20[0-2][0-9a-f]|00[2-7][0-9a-f])",
        lambda match: chr(int(match[1], 16)),
        text,
        flags=re.IGNORECASE,
    )


# --- thoughts and turns ---

_TAG_TALK = r"(?![ ]?(?:태그|토큰|블록|요소|엘리먼트|컴포넌트)(?:[을를은는이가의로와과,. ]|$))"
_THOUGHT = re.compile(
    rf"[<\[◁](/?)(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|생각|추론|사고)[>\]▷]{_TAG_TALK}"
    r"|<\|(?:begin|start)_(?:of_)?th(?:ought|inking)\|>|<\|(end)_(?:of_)?th(?:ought|inking)\|>"
    r"|^Thinking\.\.\.$|^\.\.\.(done) thinking\.?$",
    re.IGNORECASE | re.MULTILINE,
)
_TURN = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>|\[/?INST\]|<</?SYS>>"
    r"|\[\|[a-z_]{1,20}\|\]|\[(?:BOS|EOS)\]"
    r"|<\|[a-z_]{0,20}\Z|</[a-z가-힣_]{0,20}\Z"
)
_ROLE = re.compile(r"\s*(assistant|model|final|user|system|analysis|commentary|tool)\b(?:\s*\n|\s*\Z)", re.IGNORECASE)
_OTHERS = ("user", "system", "sys", "inst", "analysis", "commentary", "tool")


def _without_thoughts(text: str) -> str:
    """`text` without what the model thought. Before a lone closing tag all is thought, after a lone opening one too;
    where nothing follows the closing tag, it was a slip behind the answer."""
    kept: list[str] = []
    before = ""
    open_tags = end = 0
    for tag in _THOUGHT.finditer(text):
        if not open_tags:
            kept.append(text[end : tag.start()])
        closing = any(tag.groups())
        if closing and not open_tags:
            before, kept = "\n".join(kept), []
        open_tags = max(0, open_tags + (-1 if closing else 1))
        end = tag.end()
    if not open_tags:
        kept.append(text[end:])
    answer = "\n".join(kept).strip()
    return answer if answer or any(map(is_closer, split_sentences(before))) else before.strip()


def _own_turn(text: str) -> str:
    """The model's own first turn: what stands between a chat template's marks, less what it wrote for others."""
    if not _TURN.search(text):
        return text
    marks = [*(match[0].lower() for match in _TURN.finditer(text)), ""]
    other = False
    for piece, mark in zip(_TURN.split(text), marks, strict=True):
        role = _ROLE.match(piece)
        if role:
            other = role[1].lower() in _OTHERS
            piece = piece[role.end() :]
        if piece.strip() and not other:
            return piece.strip()
        if mark.strip("<>[]|") not in ("message", "end_header_id"):
            other = mark.strip("<>[]|") in _OTHERS
    return ""


# --- JSON and tags ---

_JSON = re.compile(
    r"(?:^(?:(?:[-*•①-⑳]|\d{1,2}[.)])\s?|\[[가-힣]{2,6}\]\s|[가-힣]{2,6}\s[-–—]\s|[네예],\s|\*\*|['“「])?"
    r"|[:：>`\"](?:\*\*)?\s?(?:[-*•]\s|\*\*|['“「])?)(?:json\s*)?"
    r"(?=[{\[]\s*[{\[\"'“]|\{\s*\w{1,30}\s*:|\"[^\"\n]{1,30}\"\s*:)",
    re.MULTILINE,
)
_FIELD = re.compile(
    r"[\"'“]?([A-Za-z_가-힣][\w가-힣 -]{0,30})[\"'”]?\s?[:：=]\s?(?:\[\s?)?([\"'“])(.*?)"
    r"(?:(?<!\\)(?:\2|”)\s?(?=,?\s?[}\]]|,\s?[\"'“{\[]|,?\s*\Z)|\Z)",
    re.DOTALL,
)
_BEST_KEY = re.compile(r"(?:context|문맥|맥락|컨텍스트|situation|상황)s?$", re.IGNORECASE)
_NO_KEY = re.compile(
    r"think|reason|thought|title|제목|keyword|키워드|tag|transcript|자막|chunk|청크|window|구간|input|query"
    r"|question|질문|note|type|name"
    r"|language|instruction|topic|생각|추론|description_of|format|schema",
    re.IGNORECASE,
)


def _json_readings(text: str) -> Iterator[str]:
    """The strings under a key for contexts, then those under any but keys for other things, each as an item."""
    start = _JSON.search(text)
    if not start:
        return
    found = _json_fields(text[start.end() :])
    for wanted in (
        [value for key, value in found if _BEST_KEY.search(key)],
        [value for key, value in found if not _NO_KEY.search(key)],
    ):
        if len(wanted) > 1:
            yield "\n".join(f"- {value}" for value in wanted if value.strip())
        elif wanted:
            yield wanted[0]


def _json_fields(text: str) -> list[tuple[str, str]]:
    """The strings of the JSON that `text` begins with, each with the innermost key above it; damaged JSON too."""
    decoder = json.JSONDecoder(strict=False)
    found: list[tuple[str, str]] = []
    text = re.sub(r",\s*(?=[}\]])", "", text)
    while text[:1] in ("{", "["):
        try:
            value, end = decoder.raw_decode(text)
            found += _strings("", value)
        except (ValueError, RecursionError):
            break
        text = text[end:].lstrip(" ,\n")
    if found:
        return found
    fields = [(match[1], _unslashed(match[3])) for match in _FIELD.finditer(text)]
    return [(key, part) for key, value in fields for part in re.split(r"[\"”]\s?,\s?[\"“]", value)] or [
        ("", _unslashed(part)) for part in re.findall(r'"((?:[^"\\]|\\.)+)"?', text) if text.startswith("[")
    ]


def _strings(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and re.match(r"\s*[{\[]", value):
        inner = _json_fields(value.strip())
        yield from ((name or key, item) for name, item in inner or [(key, value)])
    elif isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(key, item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(name if isinstance(item, str | list) else key, item)


def _unslashed(value: str) -> str:
    return _with_code_points(value).replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/").rstrip("\\}] \n")


_GIVEN = (
    r"(?:[a-z]{1,12}_|전체[ _]?|원본[ _]?)?(?:구간|자막|청크|윈도우|원문|대본|스크립트|대사|발화|chunk|window"
    r"|transcript|script|captions?"
    r"|subtitles?|document|segment|input|passage|excerpt)(?:_[a-z]{1,12}|[ _](?:구간|내용|텍스트|전체))?"
)
_ASKED = (
    r"문맥|맥락|컨텍스트|답변|응답|출력|요약|설명|문장|한국어|context|answer|response|output|summary|result"
    r"|situation|description|final|korean"
    r"|tool_call"
)
_NAME = rf"(?!chunk_context){_GIVEN}|(?:\w{{1,12}}_)?(?:{_ASKED})(?:_\w{{1,12}})?"
_TAG = re.compile(
    rf"(?:^|(?<=[.!?:>\]\n\"])\s?|(?<=[:：>*-] ))(?P<quote>\*\*|['\"“‘「`])?"
    rf"(?:<(?P<open>{_NAME})(?:\s[^<>\n]{{0,60}})?>|\[(?P<box>{_NAME})\])(?(quote)(?!['’\"”」`*])){_TAG_TALK}"
    rf"|[<\[]/(?P<close>{_NAME})[>\]]{_TAG_TALK}",
    re.IGNORECASE | re.MULTILINE,
)
_GIVEN_NAME = re.compile(_GIVEN, re.IGNORECASE)


def _tag_readings(text: str) -> Iterator[str]:
    """What the tags of an answer hold; what stands outside the tags of the prompt; all, without tags."""
    held: list[str] = []
    outside: list[str] = []
    kind, end = "", 0
    for tag in _TAG.finditer(text):
        piece, end_before, end = text[end : tag.start()], end, tag.end()
        name = tag["open"] or tag["box"] or tag["close"]
        given = bool(_GIVEN_NAME.fullmatch(name))
        if kind == "asked" or (tag["close"] and not kind and not given and end_before == 0):
            held.append(piece)
        if tag["close"] and given and not kind:
            outside.clear()
        elif kind != "given":
            outside.append(piece)
        kind = "" if tag["close"] else "given" if given else "asked"
    if kind != "given":
        outside.append(text[end:])
    if kind == "asked":
        held.append(text[end:])
    if end:
        yield "\n".join(held)
        yield "\n".join(outside)
    yield _TAG.sub("\n", text)


# --- sentences ---


def _sentences(text: str, speech: WindowSpeech) -> str:
    """The sentences of one line that are a context, "" where none is or the model slipped into another language."""
    text = strip_quotes(strip_labels(collapse_loops(speech.cut_from(text))))
    found = _opened(text, speech)
    opened = "".join(found).strip()
    inner = strip_quotes(strip_bullet(opened))
    if len(inner) < len(opened):  # quotes hid where its sentences end
        found = _opened(strip_labels(inner), speech)
    found = [part for part in found if not (is_closer(part) or is_refusal(part) or _english(part))]
    found = drop_repeats([part for part in found if not is_preamble(part)])
    while found and not is_complete(found[-1]):
        found.pop()
    answer = strip_labels(strip_quotes("".join(found).strip()))
    return "" if has_no_korean_sentence(answer) else answer


def _opened(text: str, speech: WindowSpeech) -> list[str]:
    """The sentences from the context's first on, none where that is a refusal; echoes of the window are left out."""
    found = [part for part in split_sentences(text) if not speech.is_echoed_by(part)]
    while found and (is_preamble(found[0]) or _english(found[0])):
        found.pop(0)
    if not found or is_refusal(found[0]):
        return []
    return [_without_announcement(found[0]), *found[1:]]


def _english(sentence: str) -> bool:
    """Whether it is a sentence, not a name, without Hangul or letters of scripts that a slip is told by."""
    return (
        not re.search("[가-힣]", sentence)
        and (len(re.findall(r"[A-Za-z']{2,}", sentence)) > 2 or is_preamble(sentence))
        and not is_foreign(sentence)
    )


def _without_announcement(sentence: str) -> str:
    """The first sentence without what announces it: "네, …", "요약하자면, …", "문맥은 다음과 같습니다: …"."""
    head, colon, rest = sentence.partition(": ")
    if colon and is_preamble(head + ":"):
        return rest
    return re.sub(
        r"^(?:(?:네|예|넵|물론이죠),\s+(?!다섯|여섯|일곱)|(?:요약|정리)(?:하자면|하면|해 ?보면),\s+)", "", sentence
    )
