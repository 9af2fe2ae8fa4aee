"""A loaded model of the Ollama stand-in: its context, its prefix cache, and how it cuts long prompts."""

import json
import threading
from dataclasses import dataclass, field

from tests.stand_ins.ollama_models import Json, Model
from tests.stand_ins.ollama_requests import Asked, common

DEFAULT_CONTEXT = 4_096  # on machines with less than 24 GiB of graphics memory
BATCH = 512 + 4  # a hybrid model loses its cache if more tokens follow the common prefix
_EVALUATION = 2_000_000  # pretended nanoseconds for a token of the prompt


class Refused(Exception):  # noqa: N818
    """A response with a status other than 200."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


@dataclass
class Runner:
    """A loaded model that runs one request at a time, as with OLLAMA_NUM_PARALLEL=1."""

    model: Model
    num_ctx: int = 0
    held: bytes = b""  # cached prompt
    slot: threading.Lock = field(default_factory=threading.Lock)

    def read(self, request: Asked, *, strict: bool) -> tuple[int, int]:
        """Evaluate the prompt; return its tokens, and the nanoseconds for those that were not cached.

        Raises:
            Refused: 400 with llama-server's message as text in Ollama's error. With `strict` also if no room is left
                for the answer, which the real server notices only while answering.
        """
        self._load(request)
        prompt = render(request.messages)
        request.prompt = prompt.encode()
        tokens = self.model.count(prompt)
        answer = int(request.options.get("num_predict", -1))
        if request.truncate is False and self.model.heeds_truncate:
            if tokens >= self.num_ctx or (strict and tokens + max(answer, 0) > self.num_ctx):
                raise Refused(400, overflow(tokens, self.num_ctx))
        elif tokens > self.num_ctx:
            prompt, tokens = self._cut(prompt, tokens, request)
        return tokens, self._evaluate(request, prompt.encode(), tokens)

    def _load(self, request: Asked) -> None:
        """Load the model if `num_ctx` changed (ollama server/sched.go, `needsReload`)."""
        wanted = min(int(request.options.get("num_ctx", DEFAULT_CONTEXT)), self.model.context_length)
        request.reloaded = self.num_ctx != wanted
        if request.reloaded:
            self.num_ctx, self.held = wanted, b""
        request.num_ctx = wanted

    def _cut(self, prompt: str, tokens: int, request: Asked) -> tuple[str, int]:
        """Return the first `num_keep` tokens and the tail, about half of `num_ctx` in total (ollama #17427)."""
        request.cut = True
        cached_tokens = int(request.options.get("num_keep", 4)) + self.model.bos
        left = self.num_ctx - (self.num_ctx - cached_tokens) // 2
        per_token = len(prompt) / tokens
        return prompt[: round(cached_tokens * per_token)] + prompt[-round((left - cached_tokens) * per_token) :], left

    def _evaluate(self, request: Asked, prompt: bytes, tokens: int) -> int:
        cached = int(tokens * common(self.held, prompt) / max(1, len(prompt)))
        if self.model.hybrid and tokens - cached > BATCH:
            cached = 0
        request.cached, request.evaluated = cached, tokens - cached
        self.held = prompt
        return request.evaluated * _EVALUATION


def render(messages: list[Json]) -> str:
    """Return the prompt's text by a ChatML template."""
    said = "".join(f"<|im_start|>{each['role']}\n{each.get('content', '')}<|im_end|>\n" for each in messages)
    return f"{said}<|im_start|>assistant\n"


def overflow(tokens: int, num_ctx: int) -> str:
    message = f"request ({tokens} tokens) exceeds the available context size ({num_ctx} tokens), try increasing it"
    error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
    return json.dumps({"error": error | {"n_prompt_tokens": tokens, "n_ctx": num_ctx}})
