"""What goes through the door, as values."""

import re
from dataclasses import dataclass

STRUCTURED_SINCE = (0, 21, 1)
"""Before, a JSON schema was ignored for gemma4 and qwen3.5 while thinking was off (ollama #14645, #15260)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer, as it came. `done_reason` is `stop`, or `length` where `num_predict` ended it."""

    text: str
    done_reason: str
    model: str
    prompt_tokens: int
    """All of the prompt, whether evaluated or found in the cache; 0 where the server does not say."""
    cached_tokens: int | None
    """Those that were found in the cache; None where the server does not say (before 0.33)."""
    tokens: int
    prompt_ms: int
    """Evaluating what was not in the cache."""
    load_ms: int
    ms: int
    """Everything, waiting in the server's queue included."""
    num_ctx: int
    """The context that the server really gave the model; 0 where it does not say."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that a host has. `Llm.models` leaves out what only `Llm.check` asks for: `context_length` is 0 then."""

    name: str
    digest: str
    size: int
    parameters: str = ""
    quantization: str = ""
    capabilities: tuple[str, ...] = ()
    context_length: int = 0
    """What the model was trained for; a larger `num_ctx` is cut down to it."""
    path: str = ""
    """A hint: `rendered` where Ollama makes the prompt's text itself (and cuts what is too long), `native` where
    llama-server does (and refuses it): ollama #17889."""
    remote_host: str = ""
    """Where the model runs if not on the host itself."""
    server: str = ""
    """Ollama's version."""

    @property
    def structured(self) -> bool:
        """Whether this server holds every model to a JSON schema."""
        return tuple(map(int, re.findall(r"\d+", self.server)[:3])) >= STRUCTURED_SINCE


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in a host's memory."""

    name: str
    digest: str
    size: int
    size_vram: int
    """Its part that lies on the GPU."""
    context_length: int


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download is. `total` grows while the server finds the model's layers; `completed` never shrinks."""

    status: str
    completed: int
    total: int
    done: bool = False
