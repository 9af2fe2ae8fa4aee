"""The neural models for everybody: a client of the process that holds them (`neural_host`), started when needed."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.errors import AppError
from subtitle_rag.hosting.host_client import Client
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import ENCODER, RERANKER
from subtitle_rag.models.manifest import Kind as ModelKind
from subtitle_rag.retrieval.device import INT8
from subtitle_rag.retrieval.encoder import CACHE_SIZE
from subtitle_rag.retrieval.neural import Encoded
from subtitle_rag.retrieval.neural_wire import KIND, HostState, Spec

if TYPE_CHECKING:
    from subtitle_rag.models.model_store import ModelFiles, ModelStore

logger = logging.getLogger(__name__)

FEWEST, MOST = 8, 256
"""Texts in a call."""
CALL_S = 0.5
"""A call that takes less may have twice as many, one that takes four times as long half of them."""
Call = Callable[..., Any]
Stamp = frozenset[tuple[str, int, int]]


class _Pace:
    """Cuts long work into calls of about a second, whatever the machine, so that it can be stopped between two."""

    def __init__(self) -> None:
        self._count = FEWEST

    def calls(
        self, call: Callable[[list[str]], list[Any]], texts: Sequence[str], stop: threading.Event | None
    ) -> list[Any]:
        """What the calls give, in the order of the texts. Those of about one length go together, the longest first.

        Raises:
            AppError: `model_stopped`, where `stop` was set between two calls.
        """
        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))
        made: dict[int, Any] = {}
        while len(made) < len(order):
            if stop is not None and stop.is_set():
                raise AppError("model_stopped")
            chunk = order[len(made) : len(made) + self._count]
            began = time.monotonic()
            made.update(zip(chunk, call([texts[at] for at in chunk]), strict=True))
            took = time.monotonic() - began
            if took < CALL_S:
                self._count = min(MOST, self._count * 2)
            elif took > 4 * CALL_S:
                self._count = max(FEWEST, self._count // 2)
        return [made[at] for at in range(len(texts))]


class HostedEncoder:
    """`Encoder` through the host process; what its files tell needs no process."""

    def __init__(self, call: Call, spec: Spec, dimensions: int) -> None:
        self._call = call
        self._spec = spec
        self.id = spec.id
        self.dimensions = dimensions
        self.has_sparse = spec.has_sparse
        self._pace = _Pace()
        self._remembered = lru_cache(CACHE_SIZE)(self._query)

    def passages(self, texts: Sequence[str], *, stop: threading.Event | None = None) -> list[Encoded]:
        """The vectors of these texts, in their order; AppError `model_stopped` where `stop` was set between calls."""
        return self._pace.calls(lambda chunk: self._call("passages", self._spec, chunk), texts, stop)

    def query(self, text: str) -> Encoded:
        """The vectors of a query; the last ones are remembered, so that nobody is asked."""
        return self._remembered(text)

    def _query(self, text: str) -> Encoded:
        encoded: Encoded = self._call("query", self._spec, text)
        return encoded


class HostedReranker:
    """`Reranker` through the host process."""

    def __init__(self, call: Call, spec: Spec) -> None:
        self._call = call
        self._spec = spec
        self._pace = _Pace()
        self._depth: int | None = None
        self.id = spec.id

    @property
    def depth(self) -> int | None:
        """Asks the process until it knows; that loads no model."""
        if self._depth is None:
            self._depth = self._call("depth", self._spec)
        return self._depth

    def scores(self, query: str, passages: Sequence[str], *, stop: threading.Event | None = None) -> list[float]:
        """See `Reranker.scores`; AppError `model_stopped` where `stop` was set between calls."""
        return self._pace.calls(lambda chunk: self._call("scores", self._spec, query, chunk), passages, stop)


class HostedModels(Client):
    """`Models` of a store's settings, through the host process of `folder`; safe from any number of threads.

    The process starts with the first call to a model. A model whose files are not here is None, as
    all are without the extra `neural`; a wrong setting or a
    damaged folder raises what `ModelStore.files` raises.
    """

    def __init__(self, folder: Path, store: "ModelStore") -> None:
        super().__init__(KIND, folder)
        self._store = store
        self._encoders: dict[Spec, HostedEncoder] = {}
        self._rerankers: dict[Spec, HostedReranker] = {}
        self._known: dict[tuple[str, ModelKind], tuple[Stamp, ModelFiles]] = {}

    def encoder(self, id: str | None = None) -> HostedEncoder | None:
        """The encoder of this id, by default the one that the settings name."""
        files = self._files(self._store.configured(ENCODER), ENCODER) if id is None else self._with_id(id)
        if files is None:
            return None
        spec = self._spec(files, id)
        return self._encoders.setdefault(spec, HostedEncoder(self._call, spec, files.dimensions))

    def reranker(self) -> HostedReranker | None:
        files = self._files(self._store.configured(RERANKER), RERANKER)
        if files is None:
            return None
        spec = self._spec(files)
        return self._rerankers.setdefault(spec, HostedReranker(self._call, spec))

    def load_soon(self, encoder_id: str | None) -> None:
        """Begin to load this encoder (None: none) and the reranker, as far as they are here. A hint: whoever needs
        them meets the failure, if there is one."""
        threading.Thread(target=self._load, args=(encoder_id,), name="models-loader", daemon=True).start()

    def _load(self, encoder_id: str | None) -> None:
        try:
            for model in (self.encoder(encoder_id) if encoder_id else None, self.reranker()):
                if model is not None:
                    self._call("load", model._spec)
        except (AppError, RuntimeError):  # a RuntimeError where this was closed meanwhile
            logger.info("models were not loaded ahead", exc_info=True)

    def unload(self) -> None:
        """Have the process, where one runs, give its memory back; it leaves."""
        self._call_running("unload")

    def state(self) -> HostState | None:
        """What the process holds; None where none runs."""
        state: HostState | None = self._call_running("state")
        return state

    def _spec(self, files: "ModelFiles", id: str | None = None) -> Spec:
        """`id` tells of a precision other than the settings': the one that the vectors were made with."""
        own = self._store.settings
        device, precision = own.device, own.precision
        if id is not None and id.endswith(INT8) != (precision == "int8"):
            device, precision = ("cpu", "int8") if id.endswith(INT8) else (device, "auto")
        full = files.id + INT8 if precision == "int8" else files.id
        return Spec(files.kind, str(files.path), full, device, precision, files.has_sparse, files.max_tokens)

    def _with_id(self, id: str) -> "ModelFiles | None":
        """Of the encoder that the settings name, or one that the manifest does; None where none has this id."""
        wanted = id.removesuffix(INT8)
        for name in dict.fromkeys((self._store.configured(ENCODER), *(each.name for each in manifest.encoders()))):
            try:
                files = self._files(name, ENCODER)
            except AppError:  # not the one
                logger.debug("%s cannot be used", name, exc_info=True)
                continue
            if files and files.id == wanted:
                return files
        return None

    def _files(self, name: str, kind: ModelKind) -> "ModelFiles | None":
        """A model's files, looked through again where one of them has changed; None where they are not here."""
        if not name or not NEURAL.is_installed:
            return None
        known = self._known.get((name, kind))
        if known and known[0] == _stamp(known[1].path):
            return known[1]
        try:
            files = self._store.files(name, kind)
        except AppError as error:
            if error.code == "model_missing":
                return None
            raise
        self._known[name, kind] = _stamp(files.path), files
        return files


def _stamp(folder: Path) -> Stamp:
    """Tells a folder's state from an earlier one without reading its files."""
    try:
        told = [(path.name, path.stat()) for path in folder.iterdir()]
    except OSError:
        return frozenset()
    return frozenset((name, status.st_size, status.st_mtime_ns) for name, status in told)
