"""A stand-in for Ollama on loopback, used by the official client.

    with StandIn() as ollama:
        ollama.add(Model("a.x-4.0-light:q4_k_m"))
        ollama.answer("국수를 삶는 장면입니다.")

It has the parts of the API that the app uses, simulates the prefix cache, and cuts long prompts like the real server.
It proves nothing about a real model's answers.
"""

import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.stand_ins.loopback import Loopback, Server
from tests.stand_ins.ollama_models import Json, Model, Turn, embedding, full_name, show_answer, tag_entry
from tests.stand_ins.ollama_requests import KINDS, Answer, Asked, Failure, KindHold, shared_prefix, takes
from tests.stand_ins.ollama_runner import DEFAULT_CONTEXT, Refused, Runner

__all__ = ["Asked", "Model", "StandIn", "Turn", "shared_prefix"]

_ANSWER = 50_000_000  # pretended nanoseconds for a token of the answer
_PIECE = 4  # characters of a token


class _Gone(Exception):  # noqa: N818
    """The client has disconnected."""


class _Cut(Exception):  # noqa: N818
    """The connection must end without a response."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.stand_in.wiring.add(self.connection)

    def finish(self) -> None:
        self.server.stand_in.wiring.discard(self.connection)
        with suppress(ConnectionError):
            super().finish()

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # the client disconnected during its request
            self.close_connection = True
            return
        self._answer(json.loads(body or "{}"))

    def _answer(self, sent: Json) -> None:
        stand_in = self.server.stand_in
        request = stand_in.note(self.path, {name.lower(): value for name, value in self.headers.items()}, sent)
        try:
            self._serve(stand_in, request)
            request.outcome = request.outcome or "answered"
        except Refused as refused:
            request.outcome = "refused"
            self._send(refused.status, {"error": refused.error})
        except _Cut:
            request.outcome, self.close_connection = "cut", True
        except (_Gone, ConnectionError):
            request.outcome, self.close_connection = "gone", True
        finally:
            request.ended.set()

    def _serve(self, stand_in: "StandIn", request: Asked) -> None:
        hold, failure = stand_in.rules(request)
        if hold and not hold.wait(self._gone):
            raise _Gone
        if failure:
            request.outcome = "refused"
            self._send(failure.status, {"error": failure.error}, failure.raw, failure.headers)
            return
        answer = stand_in.serve(request)
        if isinstance(answer, dict):
            self._send(200, answer)
        else:
            self._stream(answer, stand_in.split)

    def _send(self, status: int, answer: Json, raw: bytes | None = None, headers: Json | None = None) -> None:
        body = json.dumps(answer, ensure_ascii=False).encode() if raw is None else raw
        self.send_response(status)
        head = {"Content-Type": "application/json; charset=utf-8", "Content-Length": len(body)}
        for name, value in {**head, **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, lines: Iterator[bytes], split: int) -> None:
        """Send lines in small chunks that split syllables; nothing is sent before the first line."""
        begun = False
        try:
            for line in lines:
                if not begun:
                    self._begin()
                    begun = True
                for at in range(0, len(line), split):
                    piece = line[at : at + split]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                if self._gone():
                    raise _Gone
        finally:
            lines.close()  # type: ignore[attr-defined]
        if not begun:
            self._begin()
        self.wfile.write(b"0\r\n\r\n")

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _gone(self) -> bool:
        ready, _, _ = select.select([self.connection], [], [], 0)
        return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: `StandIn.requests` has the requests."""


class StandIn(Loopback):
    """The server, to use in `with`; `stop` and `start` take it away and bring it back on the same port."""

    HANDLER = _Handler

    def __init__(self, *, version: str = "0.33.3") -> None:
        super().__init__()
        self.version = version
        self.split = 61  # bytes of a chunk
        self.strict = True  # refuse a prompt that leaves no room for the answer
        self.counts_cached = True  # servers before 0.33 do not report cached tokens
        self.one_model = False  # the memory has room for one model
        self.no_internet = ""
        """Error of each pull by a server without a connection."""
        self.dies_after: int | None = None  # bytes of the next pull, which then breaks off
        self.requests: list[Asked] = []
        self.wiring: set[socket.socket] = set()
        self._models: dict[str, Model] = {}
        self._offered: dict[str, Model] = {}
        self._runners: dict[str, Runner] = {}
        self._answers: list[Answer] = []
        self._rules: list[KindHold | Failure] = []

    def start(self) -> None:
        """Start without a loaded model."""
        if self._server is None:
            self._runners.clear()
        super().start()

    def stop(self) -> None:
        """Break off every response and refuse connections, as if killed."""
        super().stop()
        for connection in list(self.wiring):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for rule in self._rules:
            if isinstance(rule, KindHold):
                rule.release()

    def add(self, *models: Model) -> None:
        """Install models."""
        self._models |= {model.name.lower(): model for model in models}

    def offer(self, *models: Model) -> None:
        """Make models available for pulls."""
        self._offered |= {model.name.lower(): model for model in models}

    def remove(self, name: str) -> None:
        """Uninstall a model."""
        self._models.pop(full_name(name).lower(), None)

    def answer(self, *answers: Answer) -> None:
        """Set the answers of the next chats; after them, the models behave normally again."""
        with self._lock:
            self._answers.extend(answers)

    def refuse(
        self,
        kind: str,
        status: int = 500,
        error: Any = "something went wrong",
        *,
        times: int | None = 1,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Refuse the next requests of a kind.

        Args:
            kind: last part of the path.
            status: status of the response.
            error: its error.
            times: number of requests; None: all.
            raw: a body that is not JSON.
            headers: its headers.
        """
        with self._lock:
            self._rules.append(Failure(kind, status, error, times, raw, headers or {}))

    def hold(self, kind: str = "chat", *, times: int | None = 1) -> KindHold:
        """Hold the next requests of this kind before their first byte, until they are released."""
        hold = KindHold(kind, times)
        with self._lock:
            self._rules.append(hold)
        return hold

    def has_chats(self, count: int) -> Callable[[], bool]:
        """Return a condition: at least `count` chats were requested."""
        return lambda: self.count("chat") >= count

    def count(self, kind: str | None = None) -> int:
        return len(self.asked(kind))

    def asked(self, kind: str | None = None) -> list[Asked]:
        with self._lock:
            return [each for each in self.requests if kind in (None, each.kind)]

    def clear(self) -> None:
        """Forget the requests so far."""
        with self._lock:
            self.requests.clear()

    def unload(self) -> None:
        """Unload all models, as after `keep_alive`."""
        self._runners.clear()

    def note(self, path: str, headers: dict[str, str], sent: Json) -> Asked:
        kind = path.rpartition("/")[2] if path in KINDS else "other"
        with self._lock:
            request = Asked(kind, len(self.requests), headers, sent)
            self.requests.append(request)
        return request

    def rules(self, request: Asked) -> tuple[KindHold | None, Failure | None]:
        with self._lock:
            hold = next((r for r in self._rules if isinstance(r, KindHold) and takes(r, request.kind)), None)
            failure = next((r for r in self._rules if isinstance(r, Failure) and takes(r, request.kind)), None)
        return hold, failure

    def serve(self, request: Asked) -> Json | Iterator[bytes]:
        if request.kind == "version":
            return {"version": self.version}
        if request.kind == "tags":
            return {"models": [tag_entry(model) for model in self._models.values()]}
        if request.kind == "ps":
            return {"models": [_loaded(runner) for runner in list(self._runners.values()) if runner.num_ctx]}
        if request.kind == "show":
            return show_answer(self._model(request))
        if request.kind == "pull":
            return self._pull(request)
        if request.kind == "chat":
            return self._chat(request)
        if request.kind == "embed":
            return self._embed(request)
        raise Refused(404, "404 page not found")

    def _model(self, request: Asked) -> Model:
        model = self._models.get(full_name(request.model).lower())
        if model is None:
            raise Refused(404, f"model '{request.model}' not found")
        return model

    def _chat(self, request: Asked) -> Json | Iterator[bytes]:
        model = self._model(request)
        if request.think and not model.thinks(True):
            raise Refused(400, f'"{request.model}" does not support thinking')
        with self._lock:
            scripted = self._answers.pop(0) if self._answers else None
            runner = self._runners.setdefault(model.name.lower(), Runner(model))
        scripted = scripted(request.sent) if callable(scripted) else scripted
        turn = (
            model.turn(request.sent) if scripted is None else Turn(scripted) if isinstance(scripted, str) else scripted
        )
        if turn.status != 200:
            raise Refused(turn.status, turn.refusal)
        with runner.slot:
            tokens, evaluation = runner.read(request, strict=self.strict)
        lines = self._lines(request, model, turn, tokens, evaluation)
        return lines if request.sent.get("stream", True) else _joined(lines)

    def _embed(self, request: Asked) -> Json:
        """Embed texts, like llama-server through Ollama 0.24."""
        model = self._model(request)
        if "embedding" not in model.capabilities:
            raise Refused(501, "this model does not support embeddings")
        texts: list[str] = request.sent["input"]
        if not all(texts):
            raise Refused(500, "Failed to create new sequence: no input provided")
        self._load_for(request, model)
        if request.truncate is False and any(model.count(text) > request.num_ctx for text in texts):
            raise Refused(400, "the input length exceeds the context length")
        on_card = request.options.get("num_gpu") != 0
        if on_card and model.unreadable and any(model.unreadable in text for text in texts):
            raise Refused(500, "failed to encode response: json: unsupported value: NaN")
        return {"model": request.model, "embeddings": [embedding(model, text) for text in texts]}

    def _load_for(self, request: Asked, model: Model) -> None:
        """Load a model for an embedding, and unload the others if there is room for only one."""
        with self._lock:
            if self.one_model:
                for name in [name for name in self._runners if name != model.name.lower()]:
                    del self._runners[name]
            runner = self._runners.setdefault(model.name.lower(), Runner(model))
        request.num_ctx = runner.num_ctx = min(
            int(request.options.get("num_ctx", DEFAULT_CONTEXT)), model.context_length
        )

    def _lines(self, request: Asked, model: Model, turn: Turn, tokens: int, evaluation: int) -> Iterator[bytes]:
        limit = int(request.options.get("num_predict", -1))
        pieces = [turn.text[at : at + _PIECE] for at in range(0, len(turn.text), _PIECE)]
        short = 0 <= limit < len(pieces)
        if turn.thinking and model.thinks(request.think):
            yield _line(request, {"role": "assistant", "content": "", "thinking": turn.thinking})
        for piece in pieces[:limit] if short else pieces:
            time.sleep(turn.pace)
            yield _line(request, {"role": "assistant", "content": piece})
        if turn.cut:
            raise _Cut
        if turn.error is not None:
            yield json.dumps({"error": turn.error}).encode() + b"\n"
        elif turn.garbled:
            yield turn.garbled
        elif not turn.unfinished:
            count = min(limit, len(pieces)) if short else len(pieces)
            counts = {"eval_count": count, "eval_duration": count * _ANSWER, "load_duration": 1_000_000}
            counts |= {"prompt_eval_count": tokens, "prompt_eval_duration": evaluation}
            counts |= {"total_duration": sum(value for key, value in counts.items() if "duration" in key)}
            if self.counts_cached:
                counts["prompt_eval_cached_count"] = request.cached
            reason = "length" if short else turn.done_reason
            yield _line(request, {"role": "assistant", "content": ""}, done=True, done_reason=reason, **counts)

    def _pull(self, request: Asked) -> Iterator[bytes]:
        model = self._offered.get(full_name(request.model).lower())
        yield _status("pulling manifest")
        if self.no_internet:
            yield json.dumps({"error": self.no_internet}).encode() + b"\n"
            return
        if model is None:
            yield json.dumps({"error": "pull model manifest: file does not exist"}).encode() + b"\n"
            return
        for number, size in enumerate(model.layers):
            digest = f"sha256:{number}{model.digest[1:]}"
            yield _status(f"pulling {digest[7:19]}", digest=digest, total=size)
            for completed in self._fetched(model, digest, size):
                yield _status(f"pulling {digest[7:19]}", digest=digest, total=size, completed=completed)
        yield _status("verifying sha256 digest")
        yield _status("writing manifest")
        self.add(model)
        yield _status("success")

    def _fetched(self, model: Model, digest: str, size: int) -> Iterator[int]:
        """Yield the bytes fetched so far, a tenth of a layer at a time, continuing an earlier pull."""
        step = max(1, size // 10)
        while (completed := model.known_layers.get(digest, 0)) < size:
            model.known_layers[digest] = min(size, completed + step)
            yield model.known_layers[digest]
            if self.dies_after is not None and sum(model.known_layers.values()) >= self.dies_after:
                self.dies_after = None
                raise _Cut
        yield size


def _line(request: Asked, message: Json, *, done: bool = False, **more: Any) -> bytes:
    line = {"model": request.model, "created_at": "2026-10-04T00:00:00Z", "message": message, "done": done, **more}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _status(status: str, **more: Any) -> bytes:
    return json.dumps({"status": status, **more}).encode() + b"\n"


def _joined(lines: Iterator[bytes]) -> Json:
    """Return the streamed lines as a single response."""
    parts = [json.loads(line) for line in lines]
    if "error" in parts[-1]:
        raise Refused(500, parts[-1]["error"])
    said = "".join(part["message"]["content"] for part in parts)
    return {**parts[-1], "message": {"role": "assistant", "content": said}}


def _loaded(runner: Runner) -> Json:
    entry: Json = {"name": runner.model.name, "model": runner.model.name, "digest": runner.model.digest}
    entry |= {"size": runner.model.size, "size_vram": 0, "expires_at": "2318-10-04T00:00:00+09:00"}
    return entry | {"context_length": runner.num_ctx}
