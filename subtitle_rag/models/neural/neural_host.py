"""Process with the neural models of a home (`hosting`); its client is `neural_client`.

A model takes seconds to load and gigabytes of memory; importing PyTorch alone blocks the GIL for a second and allocates
half a gigabyte for good. So the app and all commands share one process per home. It is the first to be killed when
memory runs out, and exits to return its memory. It runs on all cores at a low priority; among its own work, queries go
first (`local_model.PriorityLock`).

The host lingers for `SUBTITLE_RAG_NEURAL_LINGER` seconds (300). A model unused for `SUBTITLE_RAG_NEURAL_IDLE` seconds
(600) is dropped, and the process exits after the last one, even with clients: the next call starts another.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.hosting.entry import HostKind, seconds_from
from subtitle_rag.base.platforms import step_back
from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind as ModelKind
from subtitle_rag.models.model_store import ModelFiles
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.local_model import QUERY, LocalModel, PriorityLock
from subtitle_rag.models.neural.protocols import Encoded

logger = logging.getLogger(__name__)

IDLE_S = 600.0
CALM_S = 3.0
"""Seconds without a query before a reranker of unknown speed is measured."""
CAPACITY = {ENCODER: 2, RERANKER: 1}
"""Maximum number of models in memory at once; two encoders while one replaces the other."""
NICENESS = 3
OOM_SCORE = 500


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory."""

    id: str
    kind: ModelKind
    plan: Plan


@dataclass(frozen=True, slots=True)
class HostState:
    """The process's memory and models."""

    pid: int
    bytes: int | None
    """Resident memory; None if unknown."""
    models: tuple[LoadedModel, ...]


@dataclass(eq=False, slots=True)
class _Slot:
    """An engine that loads its model at its first use."""

    files: ModelFiles
    engine: LocalModel[Any]
    users: int = 0
    last_use: float = field(default_factory=time.monotonic)
    is_measured: bool = False
    """Whether its speed has been looked up or measured."""


class NeuralService:
    """Engines by model files; the file `depths` stores the speed of rerankers."""

    methods = frozenset({"load", "passages", "query", "scores", "depth", "unload", "state"})

    def __init__(self, depths: Path, idle_s: float) -> None:
        self._depths = depths
        self._idle_s = idle_s
        self._priority = PriorityLock()
        self._lock = threading.Lock()
        self._slots: dict[ModelFiles, _Slot] = {}
        self._last_query = time.monotonic()
        self._unloaded = False
        self._final_pass = self._priority.take(QUERY)

    def call(self, order: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ARG002
        try:
            return getattr(self, method)(*args, **options)
        except ValueError as error:  # raised by the libraries
            raise RuntimeError(str(error)) from error

    def load(self, files: ModelFiles) -> None:
        with self._using(files) as engine:
            if not engine.loaded:
                logger.info("loading %s %s", files.kind, files.id)
            engine.load()

    def passages(self, files: ModelFiles, texts: Sequence[str]) -> list[Encoded]:
        with self._using(files) as engine:
            return list(engine.passages(texts))

    def query(self, files: ModelFiles, text: str) -> Encoded:
        self._last_query = time.monotonic()
        with self._using(files) as engine:
            encoded: Encoded = engine.query(text)
        return encoded

    def scores(self, files: ModelFiles, query: str, passages: Sequence[str]) -> list[float]:
        self._last_query = time.monotonic()
        with self._using(files) as engine:
            return list(engine.scores(query, passages))

    def depth(self, files: ModelFiles) -> int | None:
        """Return the reranker's stored depth, without loading a model."""
        with self._using(files) as engine:
            depth: int | None = engine.depth
        return depth

    def unload(self) -> None:
        """Drop all models and exit, unless another call needs one meanwhile."""
        with self._lock:
            for slot in list(self._slots.values()):
                self._drop(slot)
            self._unloaded = True

    def state(self) -> HostState:
        with self._lock:
            engines = [(slot.files.kind, slot.engine) for slot in self._slots.values()]
        models = (LoadedModel(engine.id, kind, engine.plan) for kind, engine in engines if engine.loaded)
        return HostState(os.getpid(), _memory(), tuple(models))

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        with self._lock:
            for slot in list(self._slots.values()):
                if not slot.users and time.monotonic() - slot.last_use >= self._idle_s:
                    self._drop(slot)
            empty = not self._slots
        if not leaving and time.monotonic() - self._last_query >= CALM_S:
            self._measure()
        return empty and quiet_s > 0 and (self._unloaded or quiet_s >= self._idle_s)

    def close(self) -> None:
        self._lock.acquire()
        self._final_pass.__enter__()  # PyTorch must not be running when the interpreter exits

    @contextmanager
    def _using(self, files: ModelFiles) -> Iterator[Any]:
        with self._lock:
            slot = self._slots.get(files) or self._open(files)
            slot.users += 1
        try:
            yield slot.engine
        finally:
            with self._lock:
                slot.users -= 1
                slot.last_use = time.monotonic()

    def _open(self, files: ModelFiles) -> _Slot:
        """Open an engine for the model, and drop the least recently used one beyond `CAPACITY`."""
        slot = _Slot(files, self._engine(files))
        kind = files.kind
        rivals = [each for each in self._slots.values() if each.files.kind == kind]
        rivals.sort(key=lambda each: (each.users > 0, each.last_use))
        for rival in rivals[: max(0, len(rivals) + 1 - CAPACITY[kind])]:
            self._drop(rival)
        self._slots[files] = slot
        self._unloaded = False
        return slot

    def _engine(self, files: ModelFiles) -> LocalModel[Any]:
        from subtitle_rag.models.neural.device import plan_device, plan_graph
        from subtitle_rag.models.neural.onnx_models import OnnxEncoder, OnnxReranker
        from subtitle_rag.models.neural.reranker import CrossReranker
        from subtitle_rag.models.neural.sentence_encoder import open_encoder

        if files.graph and files.kind == ENCODER:
            return OnnxEncoder(files, files.id, plan_graph(waits=False), turns=self._priority)
        if files.graph:
            plan = plan_graph(waits=True)
            return OnnxReranker(files, files.id, plan, depths=self._depths, turns=self._priority)
        plan = plan_device()
        if files.kind == ENCODER:
            return open_encoder(files, files.id, plan, turns=self._priority)
        return CrossReranker(files.path, files.id, plan, depths=self._depths, turns=self._priority)

    def _drop(self, slot: _Slot) -> None:
        """Free the model after the current pass; a call in progress loads it again."""
        del self._slots[slot.files]
        slot.engine.close()

    def _measure(self) -> None:
        """Measure the speed of a loaded reranker once; searches wait meanwhile."""
        from subtitle_rag.models.neural.reranker import PairReranker

        with self._lock:
            slots = list(self._slots.values())
        for slot in slots:
            engine = slot.engine
            if slot.is_measured or not isinstance(engine, PairReranker) or not engine.loaded:
                continue
            slot.is_measured = True
            if engine.depth is not None:
                continue
            try:
                engine.measure()
            except (AppError, OSError):
                logger.warning("measuring the reranker failed", exc_info=True)


def _memory() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _prepare_process() -> None:
    """Use the client's language, stay offline, and yield processor and memory to other programs."""
    i18n.activate(i18n.system_language())
    os.environ["HF_HUB_OFFLINE"] = "1"  # models are loaded from folders
    step_back(NICENESS, OOM_SCORE)


def _unreachable(reason: str) -> BusyError:
    return BusyError("model_unreachable", reason=reason)


def open_service(folder: Path) -> NeuralService:
    return NeuralService(folder / "depths.json", seconds_from("SUBTITLE_RAG_NEURAL_IDLE", IDLE_S))


def _died(_folder: Path, signal: str) -> AppError | None:
    # a processor without the instructions of the model's library
    return AppError("model_unsupported") if signal == "SIGILL" else None


KIND = HostKind(
    path=f"{__name__}:KIND",
    service=f"{__name__}:open_service",
    protocol=11,
    linger_s=300.0,
    linger_variable="SUBTITLE_RAG_NEURAL_LINGER",
    reply_s=900.0,  # for models on a slow disk, or a long queue for one processor
    unreachable=_unreachable,
    failure=lambda folder, error: _unreachable(f"{folder}: {error.strerror or error}"),
    died=_died,
    prepare_process=_prepare_process,
)
