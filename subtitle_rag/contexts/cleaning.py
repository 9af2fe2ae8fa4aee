"""Reduction of a small model's answer to the one or two Korean sentences that were requested.

It cleans but does not verify: a wrong name or a number ten times too large passes unchanged. Only wrapping is removed;
"" means that there was nothing else. Letters are never changed or added.

An answer is unwrapped from the outside in (thoughts, turns, JSON, tags, lines, sentences), repeatedly until nothing
changes, because models put a label into a quote into JSON. If two readings are possible (is `<구간>…</구간>` an echo of
the prompt, or the answer in the prompt's form?), the first that leaves a context wins.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from subtitle_rag.captions.caption_text import plain_text
from subtitle_rag.contexts.deduplicate import collapse_loops, drop_repeats, is_echo, without_echo
from subtitle_rag.contexts.markup import join_lines, split_lines, strip_bullet, strip_labels, strip_quotes
from subtitle_rag.contexts.sentence_filters import (
    ENDS,
    has_no_korean_sentence,
    is_announcement,
    is_closer,
    is_complete,
    is_foreign,
    is_preamble,
    is_refusal,
    is_spoken,
    letters,
    split_sentences,
)

MAX_CHARACTERS = 10_000
"""Maximum characters of an answer and of a window; fifty times the requested length."""

MAX_CONTEXT = 300
"""Maximum characters of a context by its request's schema."""

SCHEMA_KEYS = ("context", "summary")
"""Keys in the schemas of contexts and summaries."""

ROUNDS = 8
"""Maximum layers of wrapping; an answer with more is nonsense."""


def clean_context(raw: str, *, window: str = "", limit: int = MAX_CONTEXT, is_cut: bool = False) -> str:
    """Return the context in `raw` as one line in NFC, or "" for a refusal, another language or an echo.

    Cleaning twice changes nothing.

    Args:
        raw: the model's answer.
        window: the window's captions, whose sentences are not a context.
        limit: characters after which the schema ends a value; a value that long loses its unfinished last sentence.
        is_cut: whether the answer ended at the token limit, with the same effect.
    """
    speech = letters(plain_text(window[:MAX_CHARACTERS]))
    text = raw[:MAX_CHARACTERS]
    value = _schema_value(text)
    if value is not None:
        is_cut |= len(value) >= limit
        text = value
    if is_cut:
        text = _without_stump(text)
    for _round in range(ROUNDS):
        inner = _strip_layer(text, speech)
        if inner == text:
            return text
        text = inner
    return ""


_BARE = re.compile(
    "(?!(?i:.*assistant|analysis|commentary|final))[가-힣A-Za-z][가-힣A-Za-z0-9 ,.!?%'\"‘’“”]*[가-힣A-Za-z0-9.!?%]"
)
"""A line without any wrapping, as most answers under a schema: only its sentences are examined."""


def _strip_layer(text: str, speech: str) -> str:
    """Remove the outermost layers of wrapping."""
    text = "\n".join(plain_text(line) for line in unescape(text).splitlines()).strip()
    if assigned := _ASSIGNED.fullmatch(text):
        text = assigned["value"].strip()
    if _BARE.fullmatch(text) and not is_echo(text, speech):
        return _filter_sentences(text, speech)
    text = _without_announcement(_last_draft(_first_turn(_strip_thoughts(_last_channel(_BREAK.sub(" ", text))))))
    for source in _readings(text):
        lines = list(split_lines(source.strip(), speech))
        for candidates in ([line for line in lines if not line.doubtful], lines):
            answer = _filter_sentences(join_lines(candidates), speech)
            if answer:
                return answer
    return ""


def _readings(text: str) -> Iterator[str]:
    """Yield the candidates for the answer, best first."""
    yield from _json_readings(text)
    yield from dict.fromkeys(_tag_readings(text.replace('\\"', '"')))


# --- thoughts, turns, drafts ---

_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_FINAL = re.compile(r"assistant ?final|<\|channel\|> ?final ?<\|message\|>", re.IGNORECASE)
_CHANNEL_NAME = re.compile(r"^(?:assistant|analysis|commentary|final)(?:[:：]\s*|\n|(?=[가-힣{\"“]))")
_CHANNEL_START = re.compile(r"(?:analysis|commentary|assistant)(?=[^a-z]|assistant|final|[wt])|<\|channel\|>")
_DRAFT_NAME = "draft|초안|시안|수정본|최종본"
_VERSION = rf"{_DRAFT_NAME}|option|version|대안|후보|버전|안|문맥|맥락|context"
_DRAFT = re.compile(
    rf"^\W{{0,4}}(?:(?:(?:final|revised|최종|수정) )?(?:{_DRAFT_NAME}) ?\d{{0,2}}|(?:{_VERSION}) ?\d{{1,2}}"
    rf"|\d{{1,2}} ?(?:안|번째 ?(?:{_VERSION}))|(?:첫|두|세) ?번째 ?(?:{_VERSION}))"
    r"(?:\W{0,3}[:：]|\]\W{0,2}[:：]?)\W{0,3}\s*"
    r"|^\W{0,3}(?:또는|혹은|or)\W{0,3}$|(?<=[.!?])\s+\((?:또는|혹은|or)\)\s+",
    re.IGNORECASE | re.MULTILINE,
)
_ASSIGNED = re.compile(r"[\w .]{1,20}[:：]?\s?=\s?([\"'“‘])(?P<value>.+)[\"'”’]\s?;?", re.DOTALL)
"""A value assigned to a name, as in code: `문맥 = "…"`."""
_RULE = re.compile(r"^ *(?:-{3,}|\*{3,}|_{3,}|={3,}) *$", re.MULTILINE)


def final_message(text: str, *, is_whole: bool = False) -> str:
    """Return a text without the thoughts or channel at its start; "" while they go on and it may grow."""
    if _CHANNEL_START.match(text):
        return _last_channel(text) if is_whole or _FINAL.search(text) else ""
    return _strip_thoughts(text) if _THOUGHT.match(text) else text


def _last_channel(text: str) -> str:
    """Return the message in gpt-oss's last channel; servers leave its marks in the text, or only their words."""
    return _CHANNEL_NAME.sub("", _FINAL.split(text)[-1].strip())


def _last_draft(text: str) -> str:
    """Return the last of an answer's numbered drafts."""
    return next((draft for draft in reversed(_DRAFT.split(text)) if draft.strip()), text)


def _without_announcement(text: str) -> str:
    """Remove a sentence above a line of dashes that only announces the text below."""
    head, *rest = _RULE.split(text, maxsplit=1)
    is_announced = rest and rest[0].strip() and is_announcement(head)
    return rest[0].strip() if is_announced else text


_THOUGHT = re.compile(
    r"[<\[◁](/?)(?:think|thinking|thoughts?|reasoning|생각|추론)[>\]▷]"
    r"|<\|(?:begin|start)_of_thought\|>|<\|(end)_of_thought\|>",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad)>|\[/?INST\]|\[\|[a-z_]{1,20}\|\]"
)


def _strip_thoughts(text: str) -> str:
    """Remove the model's thoughts: everything before a lone closing tag, and after a lone opening one."""
    outside: list[str] = []
    open_tags = end = 0
    for tag in _THOUGHT.finditer(text):
        if not open_tags:
            outside.append(text[end : tag.start()])
        closing = any(tag.groups())
        if closing and not open_tags:
            outside.clear()
        open_tags = max(0, open_tags + (-1 if closing else 1))
        end = tag.end()
    if not open_tags:
        outside.append(text[end:])
    return "\n".join(outside).strip()


def _first_turn(text: str) -> str:
    """Return the first text between the marks of a chat template; the rest is not for the user."""
    return next((piece.strip() for piece in _TURN.split(text) if piece.strip()), "")


# --- JSON and tags ---


def answer_object(raw: str) -> dict[str, Any] | None:
    """Return an answer's JSON object, or the last one in it after thoughts, channels, prose and fences.

    Newer servers enforce the schema, so the whole answer is parsed first, strictly.
    """
    text = raw[:MAX_CHARACTERS]
    value = _whole_object(text)
    if value is not None:
        return value
    text = _first_turn(_strip_thoughts(_last_channel(text)))
    last_object, at = None, text.find("{")
    while at >= 0:
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            last_object = value
        at = text.find("{", end)
    return last_object


def _whole_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _schema_value(text: str) -> str | None:
    """Return the string under the schema's key; None unless the text is exactly one JSON object.

    Nothing else counts then: other keys are not part of the answer, and an empty string means no answer.
    """
    value = _whole_object(text)
    if value is None:
        return None
    texts = [value[key] for key in SCHEMA_KEYS if isinstance(value.get(key), str)]
    return texts[0] if texts else None


def _without_stump(text: str) -> str:
    """Remove the unfinished last sentence of a cut text."""
    *finished, last = split_sentences(text.rstrip()) or [""]
    closed = last.rstrip("\"'”’」』)]} \n").endswith(tuple(ENDS))
    return text if closed else "".join(finished)


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
_CONTEXT_KEY = re.compile(r"(?:context|문맥|맥락|상황)s?$", re.IGNORECASE)


def _json_readings(text: str) -> Iterator[str]:
    """Yield the strings under a key for contexts, then those under any key, each string as an item."""
    start = _JSON.search(text)
    if not start:
        return
    fields = _json_fields(text[start.end() :])
    for values in ([value for key, value in fields if _CONTEXT_KEY.search(key)], [value for _key, value in fields]):
        if len(values) > 1:
            yield "\n".join(f"- {value}" for value in values if value.strip())
        elif values:
            yield values[0]


def _json_fields(text: str) -> list[tuple[str, str]]:
    """Return the strings in JSON, even damaged JSON, each with the innermost key above it."""
    decoder = json.JSONDecoder(strict=False)
    fields: list[tuple[str, str]] = []
    while text[:1] in ("{", "["):
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            break
        fields += _strings("", value)
        text = text[end:].lstrip(" ,\n")
    return fields or [(match[1], _unescape(match[3])) for match in _FIELD.finditer(text)]


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


def _unescape(value: str) -> str:
    """Decode JSON's escapes in a string that is not complete JSON.

    Code points of Hangul and punctuation are decoded; others stay, because surrogates and control characters are not
    text.
    """
    value = re.sub(
        r"\\u(ac[0-9a-f]{2}|a[d-f][0-9a-f]{2}|[bc][0-9a-f]{3}|d[0-7][0-9a-f]{2}|20[0-2][0-9a-f]|00[2-7][0-9a-f])",
        lambda match: chr(int(match[1], 16)),
        value,
        flags=re.IGNORECASE,
    )
    return value.replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/").rstrip("\\}] \n")


_PROMPT_TAG = (
    r"(?:전체[ _]?)?(?:구간|자막|원문|대본|chunk|window|transcript|captions?|subtitles?|segment)"
    r"(?:_[a-z]{1,12}|[ _]내용)?"
)
_ANSWER_TAG = "문맥|맥락|컨텍스트|답변|출력|요약|설명|문장|context|answer|response|output|summary|result"
_NAME = rf"(?!chunk_context){_PROMPT_TAG}|(?:\w{{1,12}}_)?(?:{_ANSWER_TAG})(?:_\w{{1,12}})?"
_TAG = re.compile(
    rf"(?:^|(?<=[.!?:>\]\n\"])\s?|(?<=[:：>*-] ))(?P<quote>\*\*|['\"“‘「`])?"
    rf"(?:<(?P<open>{_NAME})(?:\s[^<>\n]{{0,60}})?>|\[(?P<box>{_NAME})\])(?(quote)(?!['’\"”」`*]))"
    rf"|[<\[]/(?P<close>{_NAME})[>\]]",
    re.IGNORECASE | re.MULTILINE,
)
_PROMPT_TAG_NAME = re.compile(_PROMPT_TAG, re.IGNORECASE)


def _tag_readings(text: str) -> Iterator[str]:
    """Yield the contents of an answer's tags, the text after the last one, and the text without tags."""
    inside: list[str] = []
    kind, end = "", 0
    for tag in _TAG.finditer(text):
        if kind == "asked":
            inside.append(text[end : tag.start()])
        end = tag.end()
        of_prompt = _PROMPT_TAG_NAME.fullmatch(tag["open"] or tag["box"] or tag["close"])
        kind = "" if tag["close"] else "given" if of_prompt else "asked"
    if end:
        yield "\n".join(inside)
        if kind != "given":
            yield text[end:]
    yield _TAG.sub("\n", text)


# --- sentences ---


def _filter_sentences(text: str, speech: str) -> str:
    """Return the sentences of a line that form a context; "" if none does, or the line is in another language."""
    text = strip_quotes(strip_labels(collapse_loops(without_echo(text, speech))))
    parts = _from_context_on(text, speech)
    line = "".join(parts).strip()
    inner = strip_quotes(strip_bullet(line))
    if len(inner) < len(line):  # quotes hid the end of its sentences
        parts = _from_context_on(strip_labels(inner), speech)
    parts = drop_repeats([part for part in parts if not any(test(part) for test in _NO_CONTEXT)])
    while parts and not is_complete(parts[-1]):
        parts.pop()
    answer = "".join(parts).strip()
    return "" if has_no_korean_sentence(answer) else answer


def _from_context_on(text: str, speech: str) -> list[str]:
    """Split a line from the context's first sentence on, without echoes of the window; [] for a refusal."""
    parts = [part for part in split_sentences(text) if not is_echo(part, speech)]
    while parts and is_preamble(parts[0]):
        parts.pop(0)
    if not parts or is_refusal(parts[0]):
        return []
    return [_strip_announcement(parts[0]), *parts[1:]]


def _is_english(sentence: str) -> bool:
    """Whether it is an English sentence, not a name: without Hangul or other scripts."""
    words = re.findall(r"[A-Za-z']{2,}", sentence)
    return len(words) > 2 and not re.search("[가-힣]", sentence) and not is_foreign(sentence)


_NO_CONTEXT = (is_closer, is_preamble, is_spoken, _is_english)
"""Tests for sentences that are not a context."""


def _strip_announcement(sentence: str) -> str:
    """Remove the announcement of the first sentence: "네, …", "요약하자면, …", "문맥은 다음과 같습니다: …"."""
    head, colon, rest = sentence.partition(": ")
    if colon and is_preamble(head + ":"):
        return rest
    return re.sub(r"^(?:(?:네|예|넵|물론이죠),\s+(?!다섯|여섯|일곱)|(?:요약|정리)(?:하자면|하면),\s+)", "", sentence)
