"""What the process that holds the neural models (`neural_host`) and its clients (`neural_client`) say to each other."""

from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.hosting.entry import HostKind
from subtitle_rag.models.manifest import Kind as ModelKind
from subtitle_rag.retrieval.device import Plan


@dataclass(frozen=True, slots=True)
class Spec:
    """A model, and how it is to run."""

    kind: ModelKind
    path: str
    id: str
    """With `/int8` where it is to run so."""
    device: str
    """As the settings have it, like the precision."""
    precision: str
    has_sparse: bool
    max_tokens: int


@dataclass(frozen=True, slots=True)
class HeldModel:
    """A model that is loaded."""

    id: str
    kind: ModelKind
    plan: Plan


@dataclass(frozen=True, slots=True)
class HostState:
    """What the process holds."""

    pid: int
    bytes: int | None
    """Of memory; None where the system does not tell."""
    models: tuple[HeldModel, ...]


def _unreachable(reason: str) -> BusyError:
    return BusyError("model_unreachable", reason=reason)


def _failure(folder: Path, error: OSError) -> AppError:
    return _unreachable(f"{folder}: {error.strerror or error}")


KIND = HostKind(
    module="subtitle_rag.retrieval.neural_host",
    protocol=1,
    unreachable=_unreachable,
    failure=_failure,
    reply_s=900.0,  # where models come from a slow disk, or many wait for one processor
)
