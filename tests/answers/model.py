"""An answering model for the stand-in of Ollama: it quotes the scene that shares most with the question."""

import re
from typing import Any

from tests.stand_ins.ollama import Turn

_SCENE = re.compile(r"^\[(\d+)\] ?(?:\(.*\))?(?: \[score: [\d.]+\])?(?: ?(?:문맥|자막|Context|Captions): (.*))?$")


def scenes(system: str) -> dict[int, str]:
    """The scenes in a system message, by number, with all their lines."""
    body = re.split(r"\n<(?:장면|scenes)>\n", system, maxsplit=1)[1]
    found: dict[int, str] = {}
    at = 0
    for line in body.splitlines()[:-1]:
        match = _SCENE.match(line)
        if match:
            at = int(match[1])
            found[at] = match[2] or ""
        elif cells := re.fullmatch(r"\| \[(\d+)\] \|(.*)\|", line):
            found[int(cells[1])] = " ".join(cells[2].split("|")[1:])
        elif at:
            found[at] += " " + re.sub(r"^(?:문맥|자막|Context|Captions): ", "", line)
    return found


def quoting(sent: dict[str, Any]) -> str:
    """Some words of the scene that holds most letter pairs of the question, with its number."""
    system, question = sent["messages"][0]["content"], sent["messages"][-1]["content"]
    pairs = {a + b for a, b in zip(question, question[1:], strict=False) if (a + b).isalnum()}
    given = scenes(system)
    best = max(given, key=lambda number: (sum(pair in given[number] for pair in pairs), -number))
    words = given[best].split()
    at = max(range(len(words)), key=lambda at: sum(pair in " ".join(words[at : at + 12]) for pair in pairs))
    return f"{' '.join(words[at : at + 12])}라고 합니다 [{best}]."


def slow(sent: dict[str, Any]) -> Turn:
    return Turn(quoting(sent), pace=0.03)
