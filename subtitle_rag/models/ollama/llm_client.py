"""One Ollama server: its models and answers."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from subtitle_rag.base.config.settings import LlmSettings, host_origin
from subtitle_rag.base.domain.errors import AppError, LlmError
from subtitle_rag.base.i18n import _
from subtitle_rag.models.ollama import responses
from subtitle_rag.models.ollama.host_guard import address, canonical, is_cloud_name, is_local
from subtitle_rag.models.ollama.loops import LoopGuard
from subtitle_rag.models.ollama.responses import LOOP, USELESS, Loaded, ModelInfo, PullProgress, Reply
from subtitle_rag.models.ollama.server_errors import overflow
from subtitle_rag.models.ollama.wire import QUESTION, Call, Json, Wire

logger = logging.getLogger(__name__)

TIMEOUT_S = 600
"""Longest wait for a silent server."""

TOKENS_PER_SECOND = 25 / 3
"""Prompt evaluation on a slow processor, for the timeout of a long prompt."""

TOKENS_PER_CHARACTER = 0.75
"""Safe estimate for Korean speech (A.X about 0.4, Gemma 0.5, Qwen 0.67)."""

_LEAST_PER_BYTE, _MOST_PER_BYTE = 0.09, 0.5  # every vocabulary in use is within, in Korean and English
KEEP_ALIVE = "30m"
"""Time for which the server keeps a model in memory after an answer."""
_FIRST_TOKENS = (4, 5)
_NEAR = 3
_LONG = 2_000  # minimum prompt bytes to learn a model's rate, so that the template counts little

Messages = Sequence[Mapping[str, str]]


class Gauge:
    """A model's tokens per byte, learned from its counts, to detect a silently cut prompt.

    A server that ignores `truncate: false` keeps `num_keep` tokens (4, and a first special token of some models) and
    the tail, about half of `num_ctx`: 2050 of 4096, 8194 of 16384 (ollama #17427, #17889). It answers with status 200;
    only `prompt_eval_count` shows the cut.
    """

    def __init__(self) -> None:
        self._per_byte: float | None = None

    def estimate(self, messages: Messages) -> int:
        """Estimate a prompt's tokens by the learned rate, or a safe one."""
        if self._per_byte is not None:
            return round(self._per_byte * _size(messages)) + 1
        return round(TOKENS_PER_CHARACTER * sum(len(message["content"]) for message in messages)) + 1

    def learn(self, messages: Messages, count: int) -> None:
        if count and _size(messages) >= _LONG:
            self._per_byte = count / _size(messages)

    def was_cut(self, messages: Messages, count: int, *, num_ctx: int, answer: int) -> bool:
        """Whether a prompt of `count` tokens lost its beginning, before or during the `answer` tokens."""
        if not count:  # missing for a cached prompt on servers of early 2024 (ollama #2068)
            return False
        if count + answer > num_ctx:
            return True
        least, most = _LEAST_PER_BYTE, _MOST_PER_BYTE
        if self._per_byte is not None:
            least, most = 0.5 * self._per_byte, 1.5 * self._per_byte
        near = any(abs(count - remaining) <= _NEAR for remaining in left_after_cut(num_ctx))
        return count < least * _size(messages) or (near and most * _size(messages) > num_ctx)


def left_after_cut(num_ctx: int) -> tuple[int, ...]:
    """Return the possible numbers of tokens left after a cut."""
    return tuple(num_ctx - (num_ctx - first_tokens) // 2 for first_tokens in _FIRST_TOKENS)


def _size(messages: Messages) -> int:
    """Return the bytes of all messages."""
    return sum(len(message["content"].encode()) for message in messages)


class Llm:
    """One host. Any thread may use it; answers of one model come one at a time, as the server gives them.

    Every request raises LlmError: `llm_not_running`, `llm_timeout`, `llm_broke_off`, `llm_nonsense`, `llm_failed`, and
    for a model `llm_model_missing` and `llm_cloud_refused`.
    """

    def __init__(self, host: str, settings: LlmSettings) -> None:
        """Check the host, without a request. Raises LlmError `bad_value` or `llm_host_refused`."""
        origin = host_origin(host, settings)
        self.host = address(host, remote=settings.remote, origin=origin)
        self._cloud = frozenset(map(canonical, settings.cloud))
        self._wire = Wire(self.host, origin)
        self._admitted: set[str] = set()
        self._gauges: dict[str, Gauge] = defaultdict(Gauge)
        self._num_ctx_cache: dict[tuple[str, int], int] = {}

    @property
    def is_local(self) -> bool:
        """Whether the host is this computer."""
        return is_local(self.host)

    def close(self) -> None:
        self._wire.close()

    def version(self) -> str:
        return str(self._wire.ask("GET", "/api/version").get("version", ""))

    def models(self) -> list[ModelInfo]:
        """List the host's models, including references to cloud models."""
        return [responses.model_from_tags(entry) for entry in self._models("/api/tags")]

    def writes(self, info: ModelInfo) -> bool:
        """Whether a model writes text rather than only vectors; asks `/api/show` if the list does not say."""
        capabilities = info.capabilities
        if not capabilities:
            try:
                answer = self._wire.ask("POST", "/api/show", {"model": info.name}, Call(self.host, info.name))
            except LlmError:
                logger.info("what %s can do is not known", info.name, exc_info=True)
                return True
            capabilities = responses.model_from_show(answer, {}, model=info.name, server="").capabilities
        return not capabilities or "embedding" not in capabilities or "completion" in capabilities

    def loaded(self) -> list[Loaded]:
        """List the models in the host's memory."""
        return [responses.loaded_model(entry) for entry in self._models("/api/ps")]

    def loaded_model(self, model: str) -> Loaded | None:
        """Return a model in the host's memory; None if it is not there."""
        return next((each for each in self.loaded() if canonical(each.name) == canonical(model)), None)

    def check(self, model: str) -> ModelInfo:
        """Return the model if it may be used. `chat` calls this first, so that no prompt goes to a cloud."""
        self._refuse_cloud(model, is_cloud_name(model))
        version = self.version()
        answer = self._wire.ask("POST", "/api/show", {"model": model}, Call(self.host, model))
        tags = self._models("/api/tags")
        entry: Json = next((each for each in tags if canonical(responses.text(each, "name")) == canonical(model)), {})
        info = responses.model_from_show(answer, entry, model=model, server=version)
        self._refuse_cloud(model, bool(info.remote_host), info.remote_host)
        self._admitted.add(canonical(model))
        return info

    def estimate(self, model: str, messages: Messages) -> int:
        """Estimate a prompt's tokens by the learned rate, or a safe one."""
        return self._gauges[canonical(model)].estimate(messages)

    def chat(
        self,
        messages: Messages,
        *,
        model: str,
        num_ctx: int,
        num_predict: int,
        seed: int,
        schema: Mapping[str, Any] | None = None,
        stop: threading.Event | None = None,
        on_text: Callable[[str], None] | None = None,
        is_useless: Callable[[str], bool] | None = None,
    ) -> Reply:
        """Return the model's answer, without its thoughts. The same seed and prompt give the same answer.

        An answer that loops is ended: the reply has the repeated phrase once, the `done_reason` `loop`, and no token
        counts if the server was cut short.

        Args:
            messages: the prompt.
            model: name of the model.
            num_ctx: context in tokens. Change it rarely: the server then reloads the model and forgets the prompt
                (ollama server/sched.go, `needsReload`).
            num_predict: most tokens of the answer.
            seed: makes the answer reproducible.
            schema: JSON schema of the answer.
            stop: cancels the request once set.
            on_text: called with each piece of text, slightly delayed so that a loop's repetitions never show.
            is_useless: ends the answer if true for the text so far.

        Raises:
            LlmError: also `llm_overflow` (refused or silently cut), `llm_out_of_memory`, `llm_stopped` by `stop`.
        """
        if canonical(model) not in self._admitted:
            self.check(model)
        body: Json = {"model": model, "messages": [dict(message) for message in messages], "stream": True}
        # `truncate` would drop the front of an over-long prompt; models think by default
        body |= {"think": False, "truncate": False, "keep_alive": KEEP_ALIVE}
        if schema is not None:
            body["format"] = dict(schema)
        body["options"] = {"num_ctx": num_ctx, "num_predict": num_predict, "temperature": 0, "seed": seed}
        call = Call(self.host, model, patience=self._patience(model, messages), stop=stop)
        guard = LoopGuard()
        pieces = sent = 0

        def give(text: str) -> None:
            nonlocal sent
            if on_text and len(text) > sent:
                on_text(text[sent:])
                sent = len(text)

        started = time.monotonic()
        try:
            with closing(self._wire.stream("/api/chat", body, call)) as parts:
                for part in parts:
                    if piece := responses.content(part, self.host, model):
                        pieces += 1
                        is_loop = guard.feed(piece)
                        give(guard.settled)
                        reason = LOOP if is_loop else USELESS if is_useless and is_useless(guard.text) else ""
                        if reason:
                            logger.info("an answer of %s was ended after %d pieces: %s", model, pieces, reason)
                            ms = round(1000 * (time.monotonic() - started))  # the server's counts come last
                            return Reply(guard.text, reason, model, tokens=pieces, ms=ms)
                    if part.get("done") is True:
                        reply = responses.reply(guard.text, part, model)
                        if guard.finish():
                            reply = replace(reply, text=guard.text, done_reason=LOOP)
                        return self._verify(messages, reply, num_ctx)
        finally:  # also when the connection breaks
            give(guard.text)
        raise call.failure("llm_nonsense", reason=_("unfinished") if pieces else _("empty"))

    def embed(
        self,
        texts: Sequence[str],
        *,
        model: str,
        num_ctx: int,
        num_gpu: int | None = None,
    ) -> list[list[float]]:
        """Return a vector for each text, in order (ollama docs/api.md, `/api/embed`). `num_gpu` 0: use the CPU.

        Texts are never cut: one that is too long is refused.

        Raises:
            LlmError: also `llm_overflow`, `llm_out_of_memory`, `model_kind`.
        """
        if canonical(model) not in self._admitted:
            self.check(model)
        options = {"num_ctx": num_ctx} if num_gpu is None else {"num_ctx": num_ctx, "num_gpu": num_gpu}
        body: Json = {"model": model, "input": list(texts), "truncate": False, "options": options}
        body["keep_alive"] = KEEP_ALIVE
        patience = self._patience(model, [{"content": text} for text in texts])
        call = Call(self.host, model, patience=patience)
        vectors = responses.embeddings(self._wire.ask("POST", "/api/embed", body, call), len(texts))
        if vectors is None:
            raise call.failure("llm_nonsense", reason=_("no vector for each text"))
        return vectors

    def pull(self, model: str, stop: threading.Event | None = None) -> Iterator[PullProgress]:
        """Download a model; the server resumes an earlier attempt.

        Raises:
            LlmError: also `unknown`, `hub_unreachable`, and `llm_stopped` once `stop` is set.
        """
        self._refuse_cloud(model, is_cloud_name(model))
        layers: dict[str, tuple[int, int]] = {}
        call = Call(self.host, model, patience=max(TIMEOUT_S, QUESTION), stop=stop)
        body = {"model": model, "stream": True}
        with closing(self._wire.stream("/api/pull", body, call)) as parts:
            for part in parts:
                if digest := responses.text(part, "digest"):  # a layer's first line has no `completed`
                    before = layers.get(digest, (0, 0))[1]
                    layers[digest] = responses.number(part, "total"), max(before, responses.number(part, "completed"))
                total, completed = (sum(each) for each in zip((0, 0), *layers.values(), strict=True))
                yield PullProgress(responses.text(part, "status"), completed, total)
                if responses.text(part, "status") == "success":
                    return
        raise call.failure("llm_nonsense", reason=_("unfinished"))

    def _models(self, path: str) -> list[Json]:
        entries = self._wire.ask("GET", path).get("models")
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []

    def _refuse_cloud(self, model: str, runs_there: bool, remote: str = "") -> None:
        if runs_there and canonical(model) not in self._cloud:
            raise LlmError("llm_cloud_refused", host=self.host, model=model, remote_host=remote)

    def _patience(self, model: str, messages: Messages) -> float:
        """Return the timeout in seconds: the server is silent until it has read the prompt."""
        return max(TIMEOUT_S, self.estimate(model, messages) / TOKENS_PER_SECOND)

    def _verify(self, messages: Messages, reply: Reply, num_ctx: int) -> Reply:
        """Return the reply if the model read the whole prompt, else raise."""
        num_ctx_given = self._allocated_num_ctx(reply.model, num_ctx)
        gauge = self._gauges[canonical(reply.model)]
        room = min(num_ctx_given or num_ctx, num_ctx)
        if gauge.was_cut(messages, reply.prompt_tokens, num_ctx=room, answer=reply.tokens):
            tokens = max(gauge.estimate(messages), reply.prompt_tokens)
            raise overflow(tokens, room, read=reply.prompt_tokens, host=self.host, model=reply.model)
        gauge.learn(messages, reply.prompt_tokens)
        return replace(reply, num_ctx=num_ctx_given)

    def _allocated_num_ctx(self, model: str, num_ctx: int) -> int:
        """Return the context that the server gave the model for `num_ctx`; asked once for each."""
        key = canonical(model), num_ctx
        if key not in self._num_ctx_cache:
            try:
                loaded = self.loaded_model(model)
            except LlmError:  # the answer is complete; the next request will report the failure
                logger.info("what the server made of num_ctx is not known", exc_info=True)
                return 0
            if loaded is None or not loaded.context_length:
                return 0
            self._num_ctx_cache[key] = loaded.context_length
        return self._num_ctx_cache[key]


def host_with(hosts: Sequence[Llm], model: str) -> tuple[Llm, ModelInfo]:
    """Return the first host with the model; raise the first failure of `Llm.check` if there is none."""
    return next(_usable(hosts, model))


def hosts_with(hosts: Sequence[Llm], model: str) -> list[tuple[Llm, ModelInfo]]:
    """List the hosts with the model in the same version. Raises like `host_with`."""
    ready = list(_usable(hosts, model))
    return [(host, info) for host, info in ready if info.digest == ready[0][1].digest]


@dataclass(frozen=True, slots=True)
class LocalModels:
    """The models of hosts, except references to cloud models."""

    sizes: Mapping[str, int]
    """Name → bytes."""
    embedders: frozenset[str]
    """Models that only make vectors."""
    failures: tuple[AppError, ...]
    """Errors of the hosts that do not answer."""


def local_models(hosts: Iterable[Llm]) -> LocalModels:
    """List the hosts' own models."""
    sizes: dict[str, int] = {}
    embedders: set[str] = set()
    failures: list[AppError] = []
    for host in hosts:
        try:
            local_infos = [info for info in host.models() if not info.remote_host]
            sizes |= {info.name: info.size for info in local_infos}
            embedders |= {info.name for info in local_infos if not host.writes(info)}
        except AppError as error:
            logger.info("a host's models are not known", exc_info=True)
            failures.append(error)
    return LocalModels(sizes, frozenset(embedders), tuple(failures))


def _usable(hosts: Sequence[Llm], model: str) -> Iterator[tuple[Llm, ModelInfo]]:
    """Yield the hosts with the model, at least one."""
    failures: list[AppError] = []
    for host in hosts:
        try:
            info = host.check(model)
        except AppError as error:
            logger.info("a host cannot be used", exc_info=True)
            failures.append(error)
        else:
            yield host, info
    if len(failures) == len(hosts):
        raise failures[0] if failures else LlmError("llm_off")
