"""Ask a local model one structured question: a JSON schema goes out, a checked value comes back.

The answer is outside text. It counts only after its reader has checked it against the schema.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from subtitle_rag.contexts import MARGIN, context_prompt, estimate
from subtitle_rag.domain import AppError, LlmError
from subtitle_rag.llm import LOOP, Llm, ModelInfo

logger = logging.getLogger(__name__)

TRIES = 2
"""Tries of one question, each with its own seed: even under a schema a model may run on."""
ENDING = frozenset(
    {
        *("llm_not_running", "llm_timeout", "llm_broke_off", "llm_busy", "llm_stopped"),
        *("llm_out_of_memory", "llm_model_missing", "llm_cloud_refused"),
    }
)
"""Failures that the next question would meet again."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """Rules, material, and the reader of the answer's JSON object.

    `read` raises ValueError, KeyError or TypeError for an object that breaks the schema.
    """

    system: str
    user: str
    schema: Mapping[str, Any] = field(repr=False)
    read: Callable[[Mapping[str, Any]], T] = field(repr=False)
    num_predict: int = 512

    @property
    def messages(self) -> list[dict[str, str]]:
        return context_prompt.Messages(self.system, self.user).as_list()

    def tokens(self) -> int:
        """Estimate the size of its request, on the safe side."""
        return estimate(self.system + self.user) + self.num_predict + MARGIN


@dataclass(slots=True)
class Cost:
    """The cost of answers; `estimated` and `prompt_tokens` are the prompts' size by our estimate and by the server."""

    calls: int = 0
    estimated: int = 0
    prompt_tokens: int = 0
    tokens: int = 0
    ms: int = 0

    def add(self, cost: "Cost") -> None:
        self.calls += cost.calls
        self.estimated += cost.estimated
        self.prompt_tokens += cost.prompt_tokens
        self.tokens += cost.tokens
        self.ms += cost.ms

    def to_json(self) -> dict[str, int]:
        return {
            "calls": self.calls,
            "prompt_tokens_counted": self.estimated,
            "prompt_tokens": self.prompt_tokens,
            "tokens": self.tokens,
            "ms": self.ms,
        }

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> "Cost":
        """Read the cost of a stored line, for which `is_json` holds."""
        return cls(*(int(entry.get(name, 0)) for name in cls().to_json()))

    @classmethod
    def is_json(cls, entry: Mapping[str, Any]) -> bool:
        return all(isinstance(entry.get(name, 0), int) for name in cls().to_json())


class Asker:
    """A model at a host, always with the same context size: another one would make the server reload the model."""

    def __init__(self, host: Llm, info: ModelInfo, *, seed: int, num_ctx: int) -> None:
        self.info = info
        self._host = host
        self._seed = seed
        self._num_ctx = min(num_ctx, info.context_length or num_ctx)
        self._cost = Cost()

    def ask(self, task: Task[T]) -> T:
        """Ask for an answer.

        Raises:
            LlmError: from `Llm.chat`; `llm_unusable` where every answer broke the schema.
        """
        return self._read(task)[0]

    def _read(self, task: Task[T]) -> tuple[T, str]:
        """Ask for an answer, and return it with its text. Raises the errors of `ask`."""
        reason = ""
        for number in range(TRIES):
            estimated = self._host.estimate(self.info.name, task.messages)
            reply = self._host.chat(
                task.messages,
                model=self.info.name,
                num_ctx=self._num_ctx,
                num_predict=task.num_predict,
                seed=self._seed + number,
                schema=task.schema,
            )
            self._cost.add(Cost(1, estimated, reply.prompt_tokens, reply.tokens, reply.ms))
            if reply.done_reason in ("length", LOOP):
                reason = reply.done_reason
                continue
            try:
                return task.read(_object(reply.text)), reply.text
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                reason = f"{type(error).__name__}: {error}"[:120]
        raise LlmError("llm_unusable", host=self._host.host, model=self.info.name, reason=reason)

    def spent(self) -> Cost:
        """Take the cost since the last call."""
        spent, self._cost = self._cost, Cost()
        return spent

    def saved(self) -> Cost:
        """Take the cost since the last call of answers that were stored before."""
        return Cost()


class StoringAsker(Asker):
    """Store each answer, and read it from there the next time.

    So a kill between the requests of one judgement repeats none of them.
    """

    def __init__(self, host: Llm, info: ModelInfo, replies: "ReplyStore", *, seed: int, num_ctx: int) -> None:
        super().__init__(host, info, seed=seed, num_ctx=num_ctx)
        self._replies = replies
        self._key = f"{info.digest}/{seed}"
        self._saved = Cost()

    def ask(self, task: Task[T]) -> T:
        text = json.dumps([self._key, task.messages, task.schema, task.num_predict], ensure_ascii=False)
        key = hashlib.sha256(text.encode()).hexdigest()[:32]
        stored = self._replies.reply(key)
        if stored is not None:
            try:
                value = task.read(_object(stored[0]))
            except (ValueError, KeyError, TypeError, RecursionError):
                logger.info("a stored answer is asked for again", exc_info=True)
            else:
                self._saved.add(stored[1])
                return value
        before = replace(self._cost)
        value, reply = self._read(task)
        cost = Cost(**{name: getattr(self._cost, name) - getattr(before, name) for name in Cost.__slots__})
        self._replies.put_reply(key, reply, cost)
        return value

    def saved(self) -> Cost:
        saved, self._saved = self._saved, Cost()
        return saved


class ReplyStore(Protocol):
    """Where a `StoringAsker` keeps answers."""

    def reply(self, key: str) -> tuple[str, Cost] | None: ...

    def put_reply(self, key: str, text: str, cost: Cost) -> None: ...


def host_with(hosts: Sequence[Llm], model: str) -> tuple[Llm, ModelInfo]:
    """Return the first host with the model; raises the first host's failure of `Llm.check` if none has."""
    failure: AppError | None = None
    for host in hosts:
        try:
            return host, host.check(model)
        except AppError as error:
            logger.info("a host cannot be asked", exc_info=True)
            failure = failure or error
    raise failure or LlmError("llm_off")


def context_size(tokens: int) -> int:
    """Return the smallest `num_ctx` that holds so many tokens, else the largest."""
    return next((size for size in context_prompt.BUCKETS if tokens <= size), context_prompt.BUCKETS[-1])


def tagged(name: str, text: str) -> str:
    """Outside text as material: nothing in it can end the tag."""
    return f"<{name}>\n{context_prompt.neutral(text)}\n</{name}>"


def text_field(entry: Mapping[str, Any], name: str) -> str:
    """Read a text field, on one line; raises ValueError."""
    value = entry[name]
    if not isinstance(value, str):
        raise ValueError(name)
    return context_prompt.neutral(value)


def bool_field(entry: Mapping[str, Any], name: str) -> bool:
    """Read a field of true or false; raises ValueError."""
    value = entry[name]
    if not isinstance(value, bool):
        raise ValueError(name)
    return value


def _object(reply: str) -> Mapping[str, Any]:
    """Return the JSON object in an answer; older servers let models wrap it into prose or a fence."""
    start, end = reply.find("{"), reply.rfind("}")
    entry = json.loads(reply[start : end + 1]) if start >= 0 else None
    if not isinstance(entry, dict):
        raise ValueError("no JSON object")
    return entry
