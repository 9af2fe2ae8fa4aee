"""The process that holds the neural models for everybody (`hosting`); `neural_client` starts it and talks to it.

A model takes seconds to load and gigabytes to hold; PyTorch's import alone holds the GIL for a second and keeps half a
gigabyte for good. So the models of a library's home live in one process, whose clients are the app and every run of
the command line. It is the first that the system kills when memory runs out, and the way to give memory back for good
is to leave. It runs on all cores at a low priority, so that other programs stay fluid; of its own work, what a person
waits for goes first (`turns`).

It lingers for `SUBTITLE_RAG_NEURAL_LINGER` seconds (300). A model that nobody used for `SUBTITLE_RAG_NEURAL_IDLE`
seconds (600) goes, and after the last one the process, whoever is connected: the next call starts another.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag import i18n
from subtitle_rag.config import ModelSettings
from subtitle_rag.errors import AppError
from subtitle_rag.models.manifest import ENCODER, RERANKER
from subtitle_rag.retrieval.neural import Encoded
from subtitle_rag.retrieval.neural_wire import KIND, HeldModel, HostState, Spec
from subtitle_rag.retrieval.priority_lock import QUERY, PriorityLock

if TYPE_CHECKING:
    from subtitle_rag.retrieval.encoder import FlagEncoder
    from subtitle_rag.retrieval.reranker import CrossReranker

logger = logging.getLogger(__name__)

METHODS = frozenset({"load", "passages", "query", "scores", "depth", "unload", "state"})
LINGER_S = 300.0
IDLE_S = 600.0
CALM_S = 3.0
"""Seconds without a query after which the reranker's speed is measured, if it never was on this machine."""
MOST = {ENCODER: 2, RERANKER: 1}
"""Models that are held at once; two encoders while one takes the other's place."""
NICENESS = 3
SACRIFICE = 500
"""Its score where Linux looks for a process to kill; others have 0, and 1000 is the highest."""


@dataclass(eq=False, slots=True)
class _Held:
    """An engine, which loads its model when it is first used, once, whoever asks."""

    spec: Spec
    engine: "FlagEncoder | CrossReranker"
    users: int = 0
    last: float = field(default_factory=time.monotonic)
    """When it was used last."""
    timed: bool = False
    """Whether its speed has been looked at."""


class NeuralService:
    """Engines by their `Spec`; `depths` is the file that remembers how fast rerankers are."""

    def __init__(self, depths: Path, idle_s: float) -> None:
        self._depths = depths
        self._idle_s = idle_s
        self._turns = PriorityLock()
        self._lock = threading.Lock()
        self._held: dict[Spec, _Held] = {}
        self._asked = time.monotonic()
        self._unloaded = False
        self._last_turn = self._turns.take(QUERY)

    def greet(self) -> None:
        """Clients order nothing."""

    def call(self, session: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ARG002
        if method not in METHODS:
            raise ValueError(f"no such method: {method!r}")
        try:
            return getattr(self, method)(*args, **options)
        except ValueError as error:  # of the libraries
            raise RuntimeError(str(error)) from error

    def load(self, spec: Spec) -> None:
        with self._using(spec) as engine:
            if not engine.loaded:
                logger.info("loading %s %s", spec.kind, spec.id)
            engine.load()

    def passages(self, spec: Spec, texts: Sequence[str]) -> list[Encoded]:
        with self._using(spec) as engine:
            encoded: list[Encoded] = engine.passages(texts)
        return encoded

    def query(self, spec: Spec, text: str) -> Encoded:
        self._asked = time.monotonic()
        with self._using(spec) as engine:
            encoded: Encoded = engine.query(text)
        return encoded

    def scores(self, spec: Spec, query: str, passages: Sequence[str]) -> list[float]:
        self._asked = time.monotonic()
        with self._using(spec) as engine:
            scores: list[float] = engine.scores(query, passages)
        return scores

    def depth(self, spec: Spec) -> int | None:
        """Loads nothing."""
        with self._using(spec) as engine:
            depth: int | None = engine.depth
        return depth

    def unload(self) -> None:
        """Let go of all models and leave, unless another is asked for at the same time."""
        with self._lock:
            for held in list(self._held.values()):
                self._drop(held)
            self._unloaded = True

    def state(self) -> HostState:
        with self._lock:
            engines = [(held.spec.kind, held.engine) for held in self._held.values()]
        models = (HeldModel(engine.id, kind, engine.plan) for kind, engine in engines if engine.loaded)
        return HostState(os.getpid(), _memory(), tuple(models))

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        with self._lock:
            for held in list(self._held.values()):
                if not held.users and time.monotonic() - held.last >= self._idle_s:
                    self._drop(held)
            empty = not self._held
        if not leaving and time.monotonic() - self._asked >= CALM_S:
            self._measure()
        return empty and quiet_s > 0 and (self._unloaded or quiet_s >= self._idle_s)

    def close(self) -> None:
        self._lock.acquire()
        self._last_turn.__enter__()  # PyTorch does not bear it to be at work while the interpreter ends

    @contextmanager
    def _using(self, spec: Spec) -> Iterator[Any]:
        with self._lock:
            held = self._held.get(spec) or self._open(spec)
            held.users += 1
        try:
            yield held.engine
        finally:
            with self._lock:
                held.users -= 1
                held.last = time.monotonic()

    def _open(self, spec: Spec) -> _Held:
        """An engine for the model, in the place of the one that was not used for the longest time."""
        held = _Held(spec, self._engine(spec))
        others = [each for each in self._held.values() if each.spec.kind == spec.kind]
        others.sort(key=lambda each: (each.users > 0, each.last))
        for each in others[: max(0, len(others) + 1 - MOST[spec.kind])]:
            self._drop(each)
        self._held[spec] = held
        self._unloaded = False
        return held

    def _engine(self, spec: Spec) -> "FlagEncoder | CrossReranker":
        from subtitle_rag.retrieval import device, encoder, reranker

        plan = device.plan(ModelSettings(device=spec.device, precision=spec.precision))
        path = Path(spec.path)
        if spec.kind == ENCODER:
            limit = min(spec.max_tokens, encoder.PASSAGE_TOKENS)
            return encoder.FlagEncoder(
                path, spec.id, plan, has_sparse=spec.has_sparse, max_tokens=limit, turns=self._turns
            )
        engine = reranker.CrossReranker(path, spec.id, plan, turns=self._turns)
        engine.depth = reranker.read_depth(self._depths, reranker.depth_key(engine))
        return engine

    def _drop(self, held: _Held) -> None:
        """Give its memory back, after the pass that is under way; whoever is in the midst of a call has it again."""
        del self._held[held.spec]
        held.engine.close()

    def _measure(self) -> None:
        """Time a reranker that is loaded, once; a search that comes meanwhile waits for its end."""
        from subtitle_rag.retrieval.reranker import CrossReranker, depth_key, write_depth

        with self._lock:
            everyone = list(self._held.values())
        for held in everyone:
            engine = held.engine
            if held.timed or not isinstance(engine, CrossReranker) or not engine.loaded:
                continue
            held.timed = True
            if engine.depth is not None:
                continue
            try:
                write_depth(self._depths, depth_key(engine), engine.measure())
            except (AppError, OSError):
                logger.warning("measuring the reranker failed", exc_info=True)


def _memory() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _step_back() -> None:
    """Let other programs go first, and be killed first."""
    if sys.platform != "win32":
        os.nice(NICENESS)
    if sys.platform == "linux":
        with suppress(OSError):  # where that is not allowed it matters little
            Path("/proc/self/oom_score_adj").write_text(str(SACRIFICE), encoding="ascii")


def open_service(folder: Path) -> NeuralService:
    return NeuralService(folder / "depths.json", float(os.environ.get("SUBTITLE_RAG_NEURAL_IDLE") or IDLE_S))


def main(argument: str) -> int:
    """Run the host that `argument` (JSON: folder, report) asks for; the process's exit status."""
    from subtitle_rag.hosting.server import serve

    i18n.activate(i18n.system_language())  # that of the client that started it: reasons are told in it
    os.environ["HF_HUB_OFFLINE"] = "1"  # models are loaded from folders
    _step_back()
    return serve(KIND, argument, open_service, float(os.environ.get("SUBTITLE_RAG_NEURAL_LINGER") or LINGER_S))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
