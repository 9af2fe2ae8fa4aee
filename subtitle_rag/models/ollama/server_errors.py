"""Ollama's failures as `LlmError`s.

The same failure can be an HTTP status with text, a line in a stream with status 200, or llama-server's JSON quoted
inside Ollama's (ollama llm/llama_server.go, `statusErrorMessage`).
"""

import json
import logging
import re
import unicodedata
from typing import Any

from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.base.i18n import _

logger = logging.getLogger(__name__)

LONGEST = 200
"""Maximum number of characters of a server's text."""

_OVERFLOW = re.compile(r"exceed_context_size_error|exceeds the (available )?context (size|length)|prompt is too long")
_NO_EMBEDDINGS = re.compile(r"does not support embedd?ings?", re.IGNORECASE)
_REQUEST = re.compile(r"request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)")
_MEMORY = re.compile(  # ollama llm/status.go, `outOfMemorySubstrings`, and the refusal in server/sched.go
    "out of memory|out of device memory|malloc failed|failed to allocate|unable to allocate|allocation failed|"
    "not enough memory|insufficient memory|vk_error_out_of_device_memory|outofmemory|"
    "requires more system memory|signal: killed",
    re.IGNORECASE,
)
_MISSING = re.compile(r"model .*not found", re.IGNORECASE)
_REGISTRY = re.compile(r'(?:Get|Head|Post) \\*"https?://(?!127\.|localhost|\[::1\])([^/"\s\\]+)[^"]*": (.*)', re.DOTALL)
"""Go's message for a failed request, with address and reason. Ollama's own runners have loopback addresses."""
_NO_CONNECTION = re.compile(
    "dial tcp|no such host|no route to host|network is (unreachable|down)|name resolution|server misbehaving|"
    "connection (refused|reset)|i/o timeout|TLS handshake timeout|deadline exceeded|proxyconnect",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"pull model manifest: .*(file does not exist|not found)", re.IGNORECASE)


def tidy(text: str) -> str:
    """Put a server's text on one line, without control characters, and shorten it."""
    line = "".join(" " if unicodedata.category(each).startswith("C") else each for each in text)
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def from_response(status: int, error: Any, *, host: str, model: str) -> LlmError:
    """Return the `LlmError` for the server's HTTP status (-1 inside a stream) and error."""
    text, numbers = _innermost_error(error)
    about = {"host": host, "model": model}
    if _OVERFLOW.search(text):
        if numbers is None and (match := _REQUEST.search(text)):
            numbers = int(match[1]), int(match[2])
        tokens, num_ctx = numbers or (0, 0)
        return overflow(tokens, num_ctx, exact=bool(tokens), host=host, model=model)
    if _MEMORY.search(text):
        return LlmError("llm_out_of_memory", reason=tidy(text), **about)
    if "token repeat limit" in text:  # the model repeated one token (ollama llm/llama_server.go)
        return LlmError("llm_nonsense", reason=tidy(text), **about)
    if (registry := _REGISTRY.search(text)) and _NO_CONNECTION.search(registry[2]):
        logger.debug("%s: the model registry cannot be reached: %s", host, tidy(text))
        return LlmError("hub_unreachable", name=model, reason=_("no connection"), **{**about, "host": registry[1]})
    if _UNKNOWN.search(text):
        return LlmError("unknown", kind=_("model"), name=model, command="subtitle-rag models list", **about)
    if _NO_EMBEDDINGS.search(text):
        return LlmError("model_kind", name=model, kind=_("encoder"), **about)
    if status == 404 and model and _MISSING.search(text):
        return LlmError("llm_model_missing", **about)
    if status == 503:
        return LlmError("llm_broke_off", reason=tidy(text), **about)
    return LlmError("llm_failed", status=status, reason=tidy(text) or str(status), **about)


def overflow(
    tokens: int, num_ctx: int, *, exact: bool = False, read: int | None = None, host: str, model: str
) -> LlmError:
    """Return the error of an over-long prompt.

    Args:
        tokens: tokens of the prompt.
        num_ctx: context of the model.
        exact: whether `tokens` is counted rather than estimated.
        read: tokens read by a server that silently cut the prompt; by default `num_ctx`.
        host: the server.
        model: the model.
    """
    read = num_ctx if read is None else read
    return LlmError(
        "llm_overflow", n_prompt_tokens=tokens, n_ctx=num_ctx, read=read, exact=exact, host=host, model=model
    )


def _innermost_error(error: Any) -> tuple[str, tuple[int, int] | None]:
    """Return the innermost text, and llama-server's two numbers if present."""
    numbers = None
    while True:
        if isinstance(error, str):
            try:
                inner = json.loads(error)
            except ValueError:
                return error, numbers
            if not isinstance(inner, dict):
                return error, numbers
            error = inner
        if not isinstance(error, dict):
            return str(error), numbers
        if isinstance(error.get("n_prompt_tokens"), int) and isinstance(error.get("n_ctx"), int):
            numbers = (error["n_prompt_tokens"], error["n_ctx"])
        if "error" in error:
            error = error["error"]
        else:
            return " ".join(str(error[key]) for key in ("message", "type") if key in error), numbers
