"""Requests received by the Ollama stand-in, and rules for the next ones."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.stand_ins.loopback import Hold
from tests.stand_ins.ollama_models import Json, Turn

KINDS = {"/api/chat", "/api/embed", "/api/generate", "/api/pull", "/api/show", "/api/tags", "/api/ps", "/api/version"}


@dataclass
class Asked:
    """One request. Only kind `chat` has the fields about the prompt, once the model has started."""

    kind: str  # the last part of the path: chat, pull, show, tags, ps, version, other
    order: int  # among all requests
    headers: dict[str, str] = field(default_factory=dict)  # names in lower case
    sent: Json = field(default_factory=dict)
    prompt: bytes = b""  # as the template renders it, before any cut
    cached: int = 0  # tokens found in the cache
    evaluated: int = 0  # tokens that were not
    num_ctx: int = 0  # context size of the loaded model
    reloaded: bool = False  # for this request, which lost the cache
    cut: bool = False  # the prompt lost its front
    outcome: str = ""  # `answered`, `refused`, or `gone` if the client disconnected
    ended: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def model(self) -> str:
        return str(self.sent.get("model", ""))

    @property
    def messages(self) -> list[Json]:
        return list(self.sent.get("messages", []))

    @property
    def options(self) -> Json:
        return dict(self.sent.get("options") or {})

    @property
    def truncate(self) -> Any:
        return self.sent.get("truncate")

    @property
    def think(self) -> Any:
        return self.sent.get("think")


class KindHold(Hold):
    """A hold of up to `times` requests of one kind."""

    def __init__(self, kind: str, times: int | None) -> None:
        super().__init__()
        self.kind, self.times = kind, times


@dataclass
class Failure:
    """Error response to the next requests of a kind."""

    kind: str
    status: int
    error: Any
    times: int | None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


Answer = str | Turn | Callable[[Json], str | Turn]


def takes(rule: KindHold | Failure, kind: str) -> bool:
    """Whether the rule applies to this request, which then counts as one of its uses."""
    if rule.kind != kind or rule.times == 0:
        return False
    if rule.times is not None:
        rule.times -= 1
    return True


def shared_prefix(requests: Sequence[Asked]) -> float:
    """Return the share of the prompts' bytes that repeat the start of the model's previous prompt."""
    before: dict[str, bytes] = {}
    shared = total = 0
    for request in requests:
        if request.kind != "chat" or not request.prompt:
            continue
        if request.model in before:
            shared += common(before[request.model], request.prompt)
            total += len(request.prompt)
        before[request.model] = request.prompt
    return shared / total if total else 0.0


def common(one: bytes, other: bytes) -> int:
    """Return the number of leading bytes that both share."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[:middle] == other[:middle]:
            least = middle
        else:
            most = middle - 1
    return least
