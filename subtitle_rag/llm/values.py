"""Values of the LLM client."""

import re
from dataclasses import dataclass

STRUCTURED_SINCE = (0, 21, 1)
"""Before, a JSON schema was ignored for gemma4 and qwen3.5 while thinking was off (ollama #14645, #15260)."""


LOOP = "loop"
"""`done_reason` of an answer that repeated itself and was ended."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer. `done_reason` is `stop`, `length` at the limit `num_predict`, or `LOOP`."""

    text: str
    done_reason: str
    model: str
    prompt_tokens: int = 0
    """All tokens of the prompt, evaluated or cached; 0 if unknown."""
    cached_tokens: int | None = None
    """The cached ones; None if unknown (before 0.33)."""
    tokens: int = 0
    prompt_ms: int = 0
    """Evaluation of the uncached tokens."""
    load_ms: int = 0
    ms: int = 0
    """The full time, including the server's queue."""
    num_ctx: int = 0
    """The context that the server allocated; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model of a host. Only `Llm.check` reads all fields; from `Llm.models` `context_length` is 0."""

    name: str
    digest: str
    size: int
    parameters: str = ""
    quantization: str = ""
    capabilities: tuple[str, ...] = ()
    context_length: int = 0
    """The trained context; the server cuts a larger `num_ctx` down to it."""
    dimensions: int = 0
    """The length of its embeddings; 0 if unknown."""
    cache_bytes: int = 0
    """Bytes of the KV cache for each token of `num_ctx`, at 16 bits a value; 0 if unknown."""
    path: str = ""
    """A hint: `rendered` if Ollama builds (and cuts) the prompt, `native` if llama-server does (and refuses long ones):
    ollama #17889."""
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
    digest: str
    size: int
    size_vram: int
    """The part in GPU memory."""
    context_length: int


@dataclass(frozen=True, slots=True)
class PullProgress:
    """The progress of a download. `total` grows as the server lists layers; `completed` never shrinks."""

    status: str
    completed: int
    total: int
    done: bool = False
