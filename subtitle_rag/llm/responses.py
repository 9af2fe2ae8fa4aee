"""The server's responses as values; a field of the wrong kind counts as missing."""

import math
from dataclasses import replace
from typing import Any

from subtitle_rag.domain import LlmError
from subtitle_rag.llm.values import Loaded, ModelInfo, Reply

Json = dict[str, Any]

_NO_TEMPLATE = ("", "{{ .Prompt }}")
_NANOSECONDS = 1_000_000  # in a millisecond


def model_entries(answer: Json) -> list[Json]:
    entries = answer.get("models")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def text(entry: Json, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def number(entry: Json, key: str) -> int:
    value = entry.get(key)
    return value if isinstance(value, int) else 0


def model_from_tags(entry: Json) -> ModelInfo:
    """Read an entry of `/api/tags`."""
    details = _table(entry, "details")
    return ModelInfo(
        name=text(entry, "name") or text(entry, "model"),
        digest=text(entry, "digest"),
        size=number(entry, "size"),
        parameters=text(details, "parameter_size"),
        quantization=text(details, "quantization_level"),
        capabilities=_strings(entry, "capabilities"),
        remote_host=text(entry, "remote_host"),
    )


def model_from_show(answer: Json, entry: Json, *, model: str, server: str) -> ModelInfo:
    """Read a model from `/api/show`; digest and size are those of its entry in `/api/tags`."""
    from_list, details, facts = model_from_tags(entry), _table(answer, "details"), _table(answer, "model_info")
    rendered = text(answer, "renderer") or text(answer, "parser") or text(answer, "template") not in _NO_TEMPLATE
    return replace(
        from_list,
        name=model,
        parameters=text(details, "parameter_size"),
        quantization=text(details, "quantization_level"),
        capabilities=_strings(answer, "capabilities"),
        context_length=next((number(facts, key) for key in facts if key.endswith(".context_length")), 0),
        dimensions=next((number(facts, key) for key in facts if key.endswith(".embedding_length")), 0),
        cache_bytes=_cache_bytes(facts),
        path="rendered" if rendered else "native",
        remote_host=text(answer, "remote_host") or from_list.remote_host,
        server=server,
    )


def _cache_bytes(facts: Json) -> int:
    """Return the bytes of the KV cache for a token: keys and values of 16 bits for each head of each layer.

    Too much for models whose layers share caches or slide a window; 0 if the model does not say enough
    (ggml docs/gguf.md, `[llm].attention`).
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
    return Loaded(
        text(entry, "model") or text(entry, "name"),
        text(entry, "digest"),
        number(entry, "size"),
        number(entry, "size_vram"),
        number(entry, "context_length"),
    )


def content(part: Json, host: str, model: str) -> str:
    """Return the text of one line of an answer; thoughts stand in another field and are left out."""
    message = part.get("message")
    if not isinstance(message, dict):
        raise LlmError("llm_nonsense", host=host, model=model, reason="no message")
    return text(message, "content")


def embeddings(answer: Json, count: int) -> "list[list[float]] | None":
    """Return the vectors of `/api/embed`, all of one length; None unless there are `count` of them."""
    rows = answer.get("embeddings")
    if not isinstance(rows, list) or len(rows) != count:
        return None
    if not all(isinstance(row, list) and row and all(_is_finite(value) for value in row) for row in rows):
        return None
    return [[float(value) for value in row] for row in rows] if len({len(row) for row in rows}) == 1 else None


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def reply(content: str, last: Json, model: str) -> Reply:
    """Make the whole answer, with the counts of its last line."""
    cached = last.get("prompt_eval_cached_count")
    return Reply(
        text=content,
        done_reason=text(last, "done_reason"),
        model=model,
        prompt_tokens=number(last, "prompt_eval_count"),
        cached_tokens=cached if isinstance(cached, int) else None,
        tokens=number(last, "eval_count"),
        prompt_ms=number(last, "prompt_eval_duration") // _NANOSECONDS,
        load_ms=number(last, "load_duration") // _NANOSECONDS,
        ms=number(last, "total_duration") // _NANOSECONDS,
    )


def _table(entry: Json, key: str) -> Json:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _strings(entry: Json, key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
