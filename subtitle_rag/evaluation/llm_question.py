"""One structured question to a local model: a JSON schema goes out, a checked value comes back.

What a model answers is outside text: it counts only after its reader has taken it for what the schema asks.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from subtitle_rag.contexts import prompt
from subtitle_rag.errors import AppError, LlmError
from subtitle_rag.llm import Llm, ModelInfo

logger = logging.getLogger(__name__)

TRIES = 2
"""Answers to one question, each with a seed of its own; a schema does not keep a model from running on."""
ENDING = frozenset(
    {
        *("llm_not_running", "llm_timeout", "llm_broke_off", "llm_busy", "llm_stopped"),
        *("llm_out_of_memory", "llm_model_missing", "llm_cloud_refused"),
    }
)
"""Failures after which the next question would fare no better."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """What is asked: `system` rules, `user` material, and how the answer's JSON object is read.

    `read` raises ValueError, KeyError or TypeError for an object that is not what the schema asks.
    """

    system: str
    user: str
    schema: Mapping[str, Any] = field(repr=False)
    read: Callable[[Mapping[str, Any]], T] = field(repr=False)
    num_predict: int = 512

    @property
    def messages(self) -> list[dict[str, str]]:
        return prompt.Messages(self.system, self.user).as_list()

    def tokens(self) -> int:
        """All that its request needs, on the safe side."""
        return prompt.estimate(self.system + self.user) + self.num_predict + prompt.MARGIN


@dataclass(slots=True)
class Cost:
    """What answers have cost; `counted` is what was reckoned of the prompts before, `read` what the server counted."""

    calls: int = 0
    counted: int = 0
    read: int = 0
    written: int = 0
    ms: int = 0

    def add(self, other: "Cost") -> None:
        self.calls += other.calls
        self.counted += other.counted
        self.read += other.read
        self.written += other.written
        self.ms += other.ms

    def to_json(self) -> dict[str, int]:
        return {
            "calls": self.calls,
            "prompt_tokens_counted": self.counted,
            "prompt_tokens": self.read,
            "tokens": self.written,
            "ms": self.ms,
        }


class Asker:
    """A model at a host, always with the same context: another one would have the server load the model anew."""

    def __init__(self, host: Llm, info: ModelInfo, *, seed: int, num_ctx: int) -> None:
        self.info = info
        self._host = host
        self._seed = seed
        self._num_ctx = min(num_ctx, info.context_length or num_ctx)
        self._cost = Cost()

    def ask(self, task: Task[T]) -> T:
        """The model's answer.

        Raises:
            LlmError: what `Llm.chat` raises; `llm_unusable` where no answer was what the schema asks.
        """
        reason = ""
        for number in range(TRIES):
            counted = self._host.estimate(self.info.name, task.messages)
            reply = self._host.chat(
                task.messages,
                model=self.info.name,
                num_ctx=self._num_ctx,
                num_predict=task.num_predict,
                seed=self._seed + number,
                schema=task.schema,
            )
            self._cost.add(Cost(1, counted, reply.prompt_tokens, reply.tokens, reply.ms))
            if reply.done_reason == "length":
                reason = "length"
                continue
            try:
                return task.read(_object(reply.text))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                reason = f"{type(error).__name__}: {error}"[:120]
        raise LlmError("llm_unusable", host=self._host.host, model=self.info.name, reason=reason)

    def spent(self) -> Cost:
        """What was spent since this was last asked."""
        spent, self._cost = self._cost, Cost()
        return spent


def ready(hosts: Sequence[Llm], model: str) -> tuple[Llm, ModelInfo]:
    """The first host that has the model; raises what `Llm.check` raises at the first one where none has."""
    failure: AppError | None = None
    for host in hosts:
        try:
            return host, host.check(model)
        except AppError as error:
            logger.info("a host cannot be asked", exc_info=True)
            failure = failure or error
    raise failure or LlmError("llm_off")


def bucket(tokens: int) -> int:
    """The smallest `num_ctx` that holds so many tokens; the largest where none does."""
    return next((size for size in prompt.BUCKETS if tokens <= size), prompt.BUCKETS[-1])


def tagged(name: str, text: str) -> str:
    """Outside text as material: nothing in it can end the tag."""
    return f"<{name}>\n{prompt.neutral(text)}\n</{name}>"


def text(entry: Mapping[str, Any], name: str) -> str:
    """A field that must be a text, on one line; raises ValueError."""
    value = entry[name]
    if not isinstance(value, str):
        raise ValueError(name)
    return prompt.neutral(value)


def truth(entry: Mapping[str, Any], name: str) -> bool:
    """A field that must be true or false; raises ValueError."""
    value = entry[name]
    if not isinstance(value, bool):
        raise ValueError(name)
    return value


def _object(said: str) -> Mapping[str, Any]:
    """The JSON object in an answer; older servers let models wrap it into prose or a fence."""
    start, end = said.find("{"), said.rfind("}")
    found = json.loads(said[start : end + 1]) if start >= 0 else None
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    return found
