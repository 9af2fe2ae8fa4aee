"""Values of the LLM client, parsed from the server's responses.

A field of the wrong type counts as missing.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.base.i18n import _

Json = dict[str, Any]

_NANOSECONDS = 1_000_000  # in a millisecond

STRUCTURED_SINCE = (0, 21, 1)
"""Older versions ignored a JSON schema for gemma4 and qwen3.5 with thinking off (ollama #14645, #15260)."""

LENGTH = "length"
"""`done_reason` of an answer cut at the most tokens allowed."""
LOOP = "loop"
"""`done_reason` of an answer that was ended because it repeated itself."""
USELESS = "useless"
"""`done_reason` of an answer that was ended because it was of no use."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer. `done_reason` is `stop`, `LENGTH` at the limit `num_predict`, `LOOP` or `USELESS`."""

    text: str
    done_reason: str
    model: str
    prompt_tokens: int = 0
    """All tokens of the prompt, evaluated or cached; 0 if unknown."""
    cached_tokens: int | None = None
    """Cached tokens of the prompt; None if unknown (before 0.33)."""
    tokens: int = 0
    prompt_ms: int = 0
    """Time to evaluate the uncached tokens."""
    ms: int = 0
    """Total time, including the server's queue."""
    num_ctx: int = 0
    """The context that the server allocated; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model of a host. Only `Llm.check` fills all fields; from `Llm.models`, `context_length` is 0."""

    name: str
    digest: str
    size: int
    capabilities: tuple[str, ...] = ()
    context_length: int = 0
    """The trained context; the server reduces a larger `num_ctx` to it."""
    cache_bytes: int = 0
    """Bytes of the KV cache per token of `num_ctx`, at 16 bits a value; 0 if unknown."""
    remote_host: str = ""
    """The model's host, if it is another one."""
    server: str = ""
    """Ollama's version."""

    @property
    def structured(self) -> bool:
        """Whether this server enforces a JSON schema for every model."""
        return tuple(map(int, re.findall(r"\d+", self.server)[:3])) >= STRUCTURED_SINCE


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in a host's memory."""

    name: str
    context_length: int


@dataclass(frozen=True, slots=True)
class PullProgress:
    """The progress of a download. `total` grows as the server lists layers; `completed` never shrinks."""

    status: str
    completed: int
    total: int


def text(entry: Json, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def number(entry: Json, key: str) -> int:
    value = entry.get(key)
    return value if isinstance(value, int) else 0


def model_from_tags(entry: Json) -> ModelInfo:
    """Read an entry of `/api/tags`."""
    return ModelInfo(
        name=text(entry, "name") or text(entry, "model"),
        digest=text(entry, "digest"),
        size=number(entry, "size"),
        capabilities=_strings(entry, "capabilities"),
        remote_host=text(entry, "remote_host"),
    )


def model_from_show(answer: Json, entry: Json, *, model: str, server: str) -> ModelInfo:
    """Read a model from `/api/show`, with digest and size from its entry in `/api/tags`."""
    from_list, facts = model_from_tags(entry), answer.get("model_info")
    facts = facts if isinstance(facts, dict) else {}
    return replace(
        from_list,
        name=model,
        capabilities=_strings(answer, "capabilities"),
        context_length=next((number(facts, key) for key in facts if key.endswith(".context_length")), 0),
        cache_bytes=_cache_bytes(facts),
        remote_host=text(answer, "remote_host") or from_list.remote_host,
        server=server,
    )


def _cache_bytes(facts: Json) -> int:
    """Return the bytes of the KV cache per token: 16-bit keys and values for each head of each layer.

    Too high for models whose layers share caches or slide a window; 0 if the metadata is incomplete (ggml docs/gguf.md,
    `[llm].attention`).
    """
    name = text(facts, "general.architecture")
    layers, heads = number(facts, f"{name}.block_count"), number(facts, f"{name}.attention.head_count")
    per_head = number(facts, f"{name}.embedding_length") // heads if heads else 0
    sizes = [number(facts, f"{name}.attention.{part}_length") or per_head for part in ("key", "value")]
    by_layer = facts.get(f"{name}.attention.head_count_kv")
    if isinstance(by_layer, list):
        cached_heads = sum(each for each in by_layer if isinstance(each, int))
    else:
        cached_heads = layers * (number(facts, f"{name}.attention.head_count_kv") or heads)
    return 2 * cached_heads * sum(sizes)


def loaded_model(entry: Json) -> Loaded:
    """Read an entry of `/api/ps`."""
    return Loaded(text(entry, "model") or text(entry, "name"), number(entry, "context_length"))


def content(part: Json, host: str, model: str) -> str:
    """Return the text in one line of an answer, without thoughts, which are in another field."""
    message = part.get("message")
    if not isinstance(message, dict):
        raise LlmError("llm_nonsense", host=host, model=model, reason=_("no message"))
    return text(message, "content")


def embeddings(answer: Json, count: int) -> "list[list[float]] | None":
    """Return the vectors of `/api/embed`, all of one length; None unless there are `count` of them."""
    rows = answer.get("embeddings")
    if not isinstance(rows, list) or len(rows) != count:
        return None
    if not all(isinstance(row, list) and row and {*map(type, row)} <= {int, float} for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or not all(math.isfinite(value) for row in rows for value in row):
        return None
    return [[float(value) for value in row] for row in rows]


def reply(content: str, last: Json, model: str) -> Reply:
    """Build the whole answer, with the counts of its last line."""
    cached = last.get("prompt_eval_cached_count")
    return Reply(
        text=content,
        done_reason=text(last, "done_reason"),
        model=model,
        prompt_tokens=number(last, "prompt_eval_count"),
        cached_tokens=cached if isinstance(cached, int) else None,
        tokens=number(last, "eval_count"),
        prompt_ms=number(last, "prompt_eval_duration") // _NANOSECONDS,
        ms=number(last, "total_duration") // _NANOSECONDS,
    )


def _strings(entry: Json, key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
