"""The server's responses as values; a field of the wrong kind counts as missing."""

from typing import Any

from subtitle_rag.errors import LlmError
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
    return ModelInfo(
        name=model,
        digest=from_list.digest,
        size=from_list.size,
        parameters=text(details, "parameter_size"),
        quantization=text(details, "quantization_level"),
        capabilities=_strings(answer, "capabilities"),
        context_length=next((number(facts, key) for key in facts if key.endswith(".context_length")), 0),
        path="rendered" if rendered else "native",
        remote_host=text(answer, "remote_host") or from_list.remote_host,
        server=server,
    )


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
        num_ctx=0,
    )


def _table(entry: Json, key: str) -> Json:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _strings(entry: Json, key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
