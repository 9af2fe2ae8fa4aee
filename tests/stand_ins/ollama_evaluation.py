"""The Ollama stand-in's made questions and judgements, by rules: the same prompt gives the same answer."""

import json
import re
from typing import Any
from zlib import crc32

from tests.stand_ins.ollama_models import Json

_SENTENCE = re.compile(r"(?<=[.?!])\s+")


def evaluates(sent: Json) -> str:
    """Return an answer for any schema in `question_drafts` and `measures`."""
    fields = list(sent["format"]["properties"])
    material = "\n".join(message["content"] for message in sent["messages"])
    answer: dict[str, Any] = {}
    if "question" in fields:
        answer = _question(fields, material)
    elif "known" in fields:
        answer = {"known": False, "answer": ""}
    elif "same" in fields:
        answer = {"same": False}
    elif "useful" in fields:
        words, scene = _words(_held(material, "모범 답")[0]), _held(material, "장면")[0]
        answer = {"reason": "말이 같습니다.", "useful": any(word in scene for word in words)}
    elif "claims" in fields:
        answer = {"claims": _claims(material)}
    elif "questions" in fields:
        text = _held(material, "답")[0]
        answer = {"noncommittal": "모릅니다" in text, "questions": [f"{text[:20]} 무엇인가요 {n}?" for n in range(3)]}
    elif "grade" in fields:
        answer = {"reason": "묻는 것에 답합니다.", "noncommittal": "모릅니다" in _held(material, "답")[0], "grade": 4}
    return json.dumps(answer, ensure_ascii=False)


def _question(fields: list[str], material: str) -> dict[str, Any]:
    windows = [text for tag in ("구간", "구간 1", "구간 2") for text in _held(material, tag)]
    words = [word for text in windows for word in _words(text)[: 4 - len(windows)]]
    quotes = [name for name in fields if name.startswith("evidence")]
    draft = {"question": f"{', '.join(words)} 값은 왜 그런가요?", "answer": f"{words[0]} 이야기입니다."}
    return draft | {name: text[:24] for name, text in zip(quotes, windows, strict=True)}


def _claims(material: str) -> list[dict[str, Any]]:
    scenes = " ".join(text for at in range(1, 21) for text in _held(material, f"장면 {at}"))
    claims = _SENTENCE.split(_held(material, "답")[0])
    return [{"claim": claim, "supported": any(word in scenes for word in _words(claim)[:1])} for claim in claims]


def _held(material: str, tag: str) -> list[str]:
    return re.findall(rf"^<{tag}>\n(.*)\n</{tag}>$", material, re.MULTILINE)


def _words(text: str) -> list[str]:
    """Return the words of a text in an order that depends on all of it, so that texts with the same words differ."""
    return sorted(set(re.findall(r"[가-힣]{2,}|\d+", text)), key=lambda word: crc32(f"{word} {text}".encode()))
