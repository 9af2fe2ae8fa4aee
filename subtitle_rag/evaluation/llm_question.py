"""Structured questions to a local model: a JSON schema goes out, a checked value comes back.

The answer is outside text. It counts only after its reader has checked it against the schema.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar

from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.base.domain.events import Totals
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.cleaning import answer_object
from subtitle_rag.contexts.context_prompt import MARGIN
from subtitle_rag.contexts.prompt_layout import estimate
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import LOOP, ModelInfo

logger = logging.getLogger(__name__)

TRIES = 2
"""Attempts per question, each with another seed: even under a schema a model may not stop."""
ENDING = frozenset(
    {
        *("llm_not_running", "llm_timeout", "llm_broke_off", "llm_stopped"),
        *("llm_out_of_memory", "llm_model_missing", "llm_cloud_refused"),
    }
)
"""Failures that the next question would meet again."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StructuredRequest(Generic[T]):
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
        """Return a safe estimate of its request's tokens."""
        return estimate(self.system + self.user) + self.num_predict + MARGIN


@dataclass(slots=True)
class Cost(Totals):
    """Cost of answers; the fields are its JSON keys."""

    calls: int = 0
    prompt_tokens_counted: int = 0
    """By our estimate; `prompt_tokens` is the server's count."""
    prompt_tokens: int = 0
    tokens: int = 0
    ms: int = 0

    def to_json(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def is_json(cls, entry: Mapping[str, Any]) -> bool:
        return all(isinstance(entry.get(name, 0), int) for name in cls.__match_args__)


@dataclass(slots=True)
class Asker:
    """A model on a host, always with the same context size, since another one would reload the model."""

    host: Llm
    info: ModelInfo
    seed: int
    num_ctx: int
    _cost: Cost = field(default_factory=Cost)

    def ask(self, task: StructuredRequest[T]) -> T:
        """Ask for an answer. Raises LlmError from `Llm.chat`, or `llm_nonsense` if every answer broke the schema."""
        reason = ""
        for number in range(TRIES):
            estimated = self.host.estimate(self.info.name, task.messages)
            reply = self.host.chat(
                task.messages,
                model=self.info.name,
                num_ctx=min(self.num_ctx, self.info.context_length or self.num_ctx),
                num_predict=task.num_predict,
                seed=self.seed + number,
                schema=task.schema,
            )
            self._cost.add(Cost(1, estimated, reply.prompt_tokens, reply.tokens, reply.ms))
            if reply.done_reason in ("length", LOOP):
                reason = reply.done_reason
                continue
            try:
                return task.read(_object(reply.text))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                reason = f"{type(error).__name__}: {error}"[:120]
        raise LlmError("llm_nonsense", host=self.host.host, model=self.info.name, reason=reason)

    def spent(self) -> Cost:
        """Return the cost since the last call."""
        spent, self._cost = self._cost, Cost()
        return spent


def context_size(tokens: int) -> int:
    """Return the smallest `num_ctx` for this many tokens, else the largest."""
    return next((size for size in context_prompt.BUCKETS if tokens <= size), context_prompt.BUCKETS[-1])


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with all of these fields."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def tagged(name: str, text: str) -> str:
    """Return outside text as material between tags, which nothing in it can close."""
    return f"<{name}>\n{context_prompt.neutral_text(text)}\n</{name}>"


def text_field(entry: Mapping[str, Any], name: str) -> str:
    """Read a text field, on one line. Raises ValueError."""
    value = entry[name]
    if not isinstance(value, str):
        raise ValueError(name)
    return context_prompt.neutral_text(value)


def bool_field(entry: Mapping[str, Any], name: str) -> bool:
    """Read a boolean field. Raises ValueError."""
    value = entry[name]
    if not isinstance(value, bool):
        raise ValueError(name)
    return value


def _object(reply: str) -> Mapping[str, Any]:
    """Return the JSON object in an answer. Raises ValueError if there is none."""
    entry = answer_object(reply)
    if entry is None:
        raise ValueError("no JSON object")
    return entry
