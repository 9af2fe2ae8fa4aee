"""Encoders in Ollama instead of this program: dense vectors without its heavy packages.

The server is documented in ollama docs/api.md, `/api/embed`. On NVIDIA cards it fails for some texts of bge-m3 (`json:
unsupported value: NaN`, ollama #15582, #14657, #16625), but not with `num_gpu: 0`.
"""

import logging
import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.domain.errors import AppError, BusyError, LlmError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.points import DenseVector
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import OLLAMA
from subtitle_rag.models.neural.protocols import Encoded, makes_pieces
from subtitle_rag.models.ollama.host_guard import canonical
from subtitle_rag.models.prompts import Prompts, without_prompts

if TYPE_CHECKING:
    from subtitle_rag.models.ollama.llm_client import Llm

logger = logging.getLogger(__name__)

NUM_CTX = 2048
"""Tokens for a text. A window with title and context has some 500; a change would reload the model."""
BATCH = 16
"""Texts per request: some seconds on a slow processor."""
CACHE_SIZE = 64
"""Queries in the cache."""
CHECK_S = 60.0
"""Seconds until the server is asked again for its version of the model."""
DIGITS = 8
"""Digits of the model's digest in an encoder's id."""
NOT_A_NUMBER = "NaN"

_SENTENCE_END = re.compile(r"(?<=[.!?…。])\s+")


class OllamaEncoder:
    """`neural.Encoder` in an Ollama server. Thread-safe.

    Raises:
        LlmError: the codes of `Llm.embed`.
        AppError: `encoder_changed` if the server's version of the model differs from `id`, or its vectors' length from
            the manifest.
        BusyError: `encoder_waits` for a query, while the server has no memory for it next to the model for contexts.
    """

    has_sparse = False

    def __init__(self, llm: "Llm", id: str, *, is_writing: Callable[[], bool] = lambda: False) -> None:
        """Prepare the encoder; `is_writing` tells whether contexts are being written.

        `id` is `ollama:bge-m3@0123abcd` with prompts; without them, the manifest's apply.
        """
        self._llm = llm
        self.id = id
        name, _at, self._digest = without_prompts(id).rpartition("@")
        self._model = manifest.ollama_encoder(name)
        self._prompts = Prompts.of(id) or (self._model.prompts if self._model else Prompts())
        self.is_light = bool(self._model and self._model.is_light)
        self._name = name.removeprefix(OLLAMA)
        self._is_writing = is_writing
        self._checked_at = -math.inf
        self._lock = threading.Lock()
        self._cached_query = lru_cache(CACHE_SIZE)(self._query)
        self.is_crowded = False
        """Whether the server has unloaded the model for contexts to load this one."""

    @cached_property
    def dimensions(self) -> int:
        if self._model is not None:
            return self._model.dimensions
        return len(self._llm.embed(["."], model=self._name, num_ctx=NUM_CTX)[0])

    @property
    def has_pieces(self) -> bool:
        return makes_pieces(self)

    def passages(self, texts: Sequence[str]) -> list[Encoded | None]:
        prompt = self._prompts.document
        vectors: list[Encoded | None] = []
        for batch in split_batches((prompt + (text.strip() or ".") for text in texts), BATCH):
            with self._lock:
                self._check_version()
                models_before = self._other_models()
                vectors += self._batch(batch)
                self.is_crowded = self.is_crowded or bool(models_before - self._other_models())
        return vectors

    def query(self, text: str) -> Encoded:
        return self._cached_query(text.strip() or ".")

    @property
    def must_wait(self) -> bool:
        """Whether encoding would unload the model that is writing contexts, and lose its cache."""
        return self.is_crowded and self._is_writing()

    def _query(self, text: str) -> Encoded:
        if self.must_wait:
            raise BusyError("encoder_waits", name=self._name)
        self._check_version()
        [vector] = self._batch([self._prompts.query + text])
        if vector is None:
            raise LlmError("llm_nonsense", host=self._llm.host, model=self._name, reason=NOT_A_NUMBER)
        return vector

    def _check_version(self) -> None:
        """Refuse to mix vectors from two versions of a model."""
        if time.monotonic() - self._checked_at < CHECK_S:
            return
        digest = find_digest(self._llm, self._name)
        if digest is None:
            raise LlmError("llm_model_missing", host=self._llm.host, model=self._name)
        if not digest.startswith(self._digest):
            raise AppError("encoder_changed", name=self._name, reason=_("it is another version"))
        self._checked_at = time.monotonic()

    def _other_models(self) -> set[str]:
        if not self._is_writing():
            return set()
        return {canonical(each.name) for each in self._llm.loaded()} - {canonical(self._name)}

    def _batch(self, texts: Sequence[str]) -> list[Encoded | None]:
        """Encode texts in one request. After an error in one text, halve the batch until that text is alone."""
        try:
            return [self._unit(vector) for vector in self._llm.embed(texts, model=self._name, num_ctx=NUM_CTX)]
        except LlmError as error:
            if not (error.code == "llm_overflow" or _is_of_text(error)):
                raise
            if len(texts) > 1:
                middle = len(texts) // 2
                return self._batch(texts[:middle]) + self._batch(texts[middle:])
            if error.code == "llm_overflow":
                return self._shortened(texts[0], error)
        return [self._by_processor(texts[0])]

    def _shortened(self, text: str, error: LlmError) -> list[Encoded | None]:
        """Encode the first half of a text's sentences, or of its characters if it is one sentence."""
        sentences = _SENTENCE_END.split(text)
        middle = len(sentences) // 2
        shorter = " ".join(sentences[:middle]) if middle else text[: len(text) // 2]
        if not shorter:
            raise error
        logger.warning("a passage of %d characters is too long for %s and loses its end", len(text), self._name)
        return [each and replace(each, is_cut=True) for each in self._batch([shorter])]

    def _by_processor(self, text: str) -> Encoded | None:
        try:
            [vector] = self._llm.embed([text], model=self._name, num_ctx=NUM_CTX, num_gpu=0)
            return self._unit(vector)
        except LlmError as error:
            if not _is_of_text(error):
                raise
            logger.warning("%s makes no vector of a passage", self._name, exc_info=True)
            return None

    def _unit(self, vector: Sequence[float]) -> Encoded:
        if len(vector) != self.dimensions:
            reason = _("{found} numbers instead of {wanted}").format(found=len(vector), wanted=self.dimensions)
            raise AppError("encoder_changed", name=self._name, reason=reason)
        norm = math.sqrt(sum(value * value for value in vector)) or 1.0
        return Encoded(DenseVector(tuple(value / norm for value in vector)), None)


class OllamaEncoders:
    """The encoders of one Ollama server, each with its version checked at the first use."""

    def __init__(self, open_llm: "Callable[[], Llm]", is_writing: Callable[[], bool]) -> None:
        """Prepare the encoders; `open_llm` opens the server in the settings, or raises LlmError."""
        self._open_llm = open_llm
        self._is_writing = is_writing
        self._lock = threading.Lock()
        self._llm: Llm | None = None
        self._encoders: dict[str, OllamaEncoder] = {}
        self._ids: dict[str, tuple[float, str]] = {}

    def encoder(self, name: str) -> OllamaEncoder | None:
        """Return the encoder of a name or id; None if the server lacks the model with this name.

        An id needs no request. A name is looked up again after `CHECK_S` seconds.

        Raises:
            LlmError: `llm_off`, and the codes for a server that does not answer.
        """
        with self._lock:
            self._llm = self._llm or self._open_llm()
            id = name if "@" in name else self._id(self._llm, name)
            if id is None:
                return None
            if id not in self._encoders:
                self._encoders[id] = OllamaEncoder(self._llm, id, is_writing=self._is_writing)
            return self._encoders[id]

    def _id(self, llm: "Llm", name: str) -> str | None:
        looked_up_at, id = self._ids.get(name, (-math.inf, ""))
        if time.monotonic() - looked_up_at < CHECK_S:
            return id
        digest = find_digest(llm, name.removeprefix(OLLAMA))
        if digest is None:
            return None
        model = manifest.ollama_encoder(name)
        id = (model.prompts if model else Prompts()).added_to(f"{name}@{digest[:DIGITS]}")
        self._ids[name] = time.monotonic(), id
        return id

    def close(self) -> None:
        with self._lock:
            if self._llm is not None:
                self._llm.close()
            self._llm = None
            self._encoders.clear()


class OllamaModels:
    """`EncoderSource` of the encoders in Ollama."""

    def open_encoder(self, name: str, models: Any) -> OllamaEncoder | None:
        opened: OllamaEncoders | None = models.ollama
        return opened.encoder(name) if opened else None


OLLAMA_MODELS = OllamaModels()


@dataclass(frozen=True, slots=True)
class EncoderOffer:
    """An encoder that the manifest offers for a server."""

    name: str
    """Name, with the prefix `ollama:`."""
    is_pulled: bool
    """Whether the server has it."""
    disk_gb: float


def choose_encoder(llm: "Llm") -> EncoderOffer:
    """Return the manifest's first encoder that the server has, or else its first one.

    Raises:
        LlmError: the codes for a server that does not answer.
    """
    pulled = {canonical(each.name) for each in llm.models()}
    encoders = manifest.ollama_encoders()
    model = next((each for each in encoders if canonical(each.pull_name) in pulled), encoders[0])
    return EncoderOffer(model.name, canonical(model.pull_name) in pulled, model.disk_gb)


def find_digest(llm: "Llm", model: str) -> str | None:
    """Return the digest of a model on the server, without its algorithm; None if the model is missing."""
    digest = next((each.digest for each in llm.models() if canonical(each.name) == canonical(model)), None)
    return digest.rpartition(":")[2] if digest else None


def _is_of_text(error: LlmError) -> bool:
    """Whether the server failed because of the text itself."""
    return error.code == "llm_failed" and NOT_A_NUMBER in str(error.details.get("reason", ""))
