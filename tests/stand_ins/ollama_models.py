"""Models of the Ollama stand-in, and their answers."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

Json = dict[str, Any]

OUT_OF_MEMORY = "model requires more system memory (6.1 GiB) than is available (3.4 GiB)"
TOKENS_PER_CHARACTER = 1 / 1.7


@dataclass(frozen=True)
class Turn:
    """An answer, possibly with a fault; `cut`, `error` and `unfinished` take effect after `text` was sent."""

    text: str = ""
    thinking: str = ""
    done_reason: str = "stop"
    status: int = 200
    refusal: str = ""  # error message for another status
    error: Any = None  # error line in a stream with status 200
    cut: bool = False  # the connection ends
    unfinished: bool = False  # the stream ends normally, but without `done`
    garbled: bytes = b""  # sent in place of the last line
    pace: float = 0.0  # seconds between two pieces of text


@dataclass
class Model:
    """A model, by default with the tag `:latest`; `behaviour` is a key of `BEHAVIOURS` or a function of the request."""

    name: str
    digest: str = ""
    context_length: int = 16_384
    behaviour: "str | Callable[[Json], Turn | str]" = "normal"
    size: int = 4_400_000_000
    capabilities: tuple[str, ...] = ("completion",)
    template: str = "{{ if .System }}<|im_start|>system\n{{ .System }}<|im_end|>{{ end }}"
    remote_host: str = ""
    tokens_per_character: float = TOKENS_PER_CHARACTER
    heeds_truncate: bool = True  # servers before 2025 ignore the field
    only_thinks: bool = False  # `think: false` changes nothing, as with qwen3:4b (ollama #13154)
    bos: bool = False  # a special first token, which a cut keeps too
    hybrid: bool = False  # loses its cache if more than a batch follows the common prefix (llama.cpp #19794)
    layers: tuple[int, ...] = (4_000, 300, 20)  # sizes in bytes, for a pull
    dimensions: int = 8  # of its embeddings
    unreadable: str = ""  # texts with this word have no vector on a graphics card (ollama #15582)
    known_layers: dict[str, int] = field(default_factory=dict)  # digest → bytes that a pull has fetched

    def __post_init__(self) -> None:
        self.name = full_name(self.name)
        self.digest = self.digest or sha256(self.name.encode()).hexdigest()

    def thinks(self, think: Any) -> bool:
        """Whether it thinks: a capable model does unless the request says no (ollama server/routes.go)."""
        return self.only_thinks or ("thinking" in self.capabilities and think is not False)

    def turn(self, sent: Json) -> Turn:
        behave = BEHAVIOURS[self.behaviour] if isinstance(self.behaviour, str) else self.behaviour
        turn = behave(sent)
        return Turn(turn) if isinstance(turn, str) else turn

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return round(len(text) * self.tokens_per_character)


def full_name(name: str) -> str:
    """Return the name with its tag, as the server lists it."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def context(sent: Json) -> str:
    """Return a Korean sentence of some words from the window, else from the captions, and the title.

    It depends only on the prompt. A negated word is left out, since alone it says the opposite.
    """
    line = {role: "\n".join(m["content"] for m in sent["messages"] if m["role"] == role) for role in ("system", "user")}
    window = re.search(r"<구간>(.*?)</구간>", line["user"], re.DOTALL)
    window = window or re.search(r"<자막>(.*?)</자막>", line["system"], re.DOTALL)
    text = window[1] if window else line["user"]
    words = list(dict.fromkeys(re.findall(r"(?<![가-힣])(?<!안 )[가-힣]{2,}|\d+", text)))
    longest = sorted(words, key=lambda word: (-len(word), word))[:3]
    shown = dict.fromkeys([*longest, *words[:1], *words[-2:]])
    title = re.search(r"제목: *(.+)", line["system"])
    start = f"{title[1].strip()} 영상에서 " if title else ""
    return f"{start}{', '.join(shown) or '말'} 이야기를 하는 부분입니다."


def _normal(sent: Json) -> str:
    """Return the context, as the first property of the schema if there is one."""
    text, schema = context(sent), sent.get("format")
    if isinstance(schema, dict):
        return json.dumps({next(iter(schema.get("properties", {})), "context"): text}, ensure_ascii=False)
    return text


BEHAVIOURS: dict[str, Callable[[Json], Turn | str]] = {
    "normal": _normal,
    "preamble": lambda sent: f"네, 알겠습니다! 다음은 요청하신 문맥입니다:\n\n{context(sent)}\n\n도움이 되길 바랍니다.",
    "thinks": lambda sent: Turn(context(sent), thinking="사용자가 문맥을 원한다."),
    "think_leak": lambda sent: f"구간을 먼저 살펴보자.\n</think>\n\n{context(sent)}",
    "chinese": lambda sent: "这一段介绍了韩国首尔的一家餐厅,以及面条的做法。",
    "empty": lambda sent: "",
    "refusal": lambda sent: "죄송하지만 자막이 주어지지 않아 답변을 드릴 수 없습니다.",
    "loop": lambda sent: Turn("국수를 삶고 " * 40, done_reason="length"),
    "slow": lambda sent: Turn(context(sent), pace=0.02),
    "dying": lambda sent: Turn(context(sent)[:8], cut=True),
    "unfinished": lambda sent: Turn(context(sent)[:8], unfinished=True),
    "silent": lambda sent: Turn(unfinished=True),
    "error": lambda sent: Turn(context(sent)[:8], error="an error was encountered while running the model"),
    "garbled": lambda sent: Turn(context(sent)[:8], garbled=b'{"message": {"role": "assis\n'),
    "out_of_memory": lambda sent: Turn(status=500, refusal=OUT_OF_MEMORY),
    "busy": lambda sent: Turn(status=503, refusal="server busy, please try again. maximum pending requests exceeded"),
}


def embedding(model: Model, text: str) -> list[float]:
    """Return a vector of length 1, similar for texts that share words; it depends only on the words."""
    values = [1e-3] * model.dimensions
    for word in re.findall(r"[가-힣]{2}|[a-z]+|\d+", text.lower()):
        values[int(sha256(word.encode()).hexdigest(), 16) % model.dimensions] += 1.0
    norm = sum(value * value for value in values) ** 0.5
    return [value / norm for value in values]


def tag_entry(model: Model) -> Json:
    """Return a model's entry in `/api/tags` (ollama api/types.go, `ListModelResponse`)."""
    entry = {
        "name": model.name,
        "model": model.name,
        "modified_at": "2026-10-04T09:00:00+09:00",
        "size": model.size,
        "digest": model.digest,
        "details": _details(),
        "capabilities": list(model.capabilities),
    }
    return entry | _remote(model)


def show_answer(model: Model) -> Json:
    """Return a model's `/api/show` (ollama api/types.go, `ShowResponse`)."""
    facts = {
        "general.architecture": "qwen2",
        "qwen2.context_length": model.context_length,
        "qwen2.embedding_length": model.dimensions,
        "qwen2.block_count": 28,
        "qwen2.attention.head_count": 28,
        "qwen2.attention.head_count_kv": 4,
        "qwen2.attention.key_length": 128,
        "qwen2.attention.value_length": 128,
    }
    answer: Json = {"license": "Apache-2.0", "template": model.template, "details": _details(), "model_info": facts}
    return answer | {"capabilities": list(model.capabilities)} | _remote(model)


def _remote(model: Model) -> Json:
    return {"remote_host": model.remote_host, "remote_model": model.name} if model.remote_host else {}


def _details() -> Json:
    return {"format": "gguf", "family": "qwen2", "parameter_size": "7.3B", "quantization_level": "Q4_K_M"}
