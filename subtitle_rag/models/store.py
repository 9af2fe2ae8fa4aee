"""Which model files are here: those that were fetched into the app's folder, and folders that the user names."""

import shutil
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from subtitle_rag.config import ModelSettings
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import ModelEvent
from subtitle_rag.i18n import N_, _
from subtitle_rag.models import local, manifest
from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind, Neural
from subtitle_rag.models.record import Record, matches

KIND_NAMES = {ENCODER: N_("encoder"), RERANKER: N_("reranker")}
Problem = Literal["", "missing", "size", "content"]
Status = Literal["missing", "partial", "here"]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model that can be loaded from `path`, without a network."""

    name: str
    """As the settings have it: in the manifest, or a folder."""
    path: Path
    id: str
    """Names the vectors' space: `bge-m3@5617a9f6`, or a folder's name and eight digits of its content's digest."""
    kind: Kind
    has_sparse: bool
    dimensions: int
    """Of an encoder's dense vectors."""
    max_tokens: int


@dataclass(frozen=True, slots=True)
class State:
    """How much of a model is here; `all_bytes` is None until the hub has told it."""

    status: Status
    bytes: int
    all_bytes: int | None
    revision: str


@dataclass(frozen=True, slots=True)
class FileChecked:
    """A file of a model, and what is wrong with it."""

    path: str
    bytes: int
    problem: Problem


class ModelStore:
    """The models in `folder`, which need not be there yet. Nothing is fetched unless `fetch` is called."""

    def __init__(self, folder: Path, settings: ModelSettings) -> None:
        self.folder = folder
        self.settings = settings

    def chosen(self, kind: Kind) -> str:
        """The name or folder that the settings give; empty where they want none."""
        return self.settings.encoder if kind == ENCODER else self.settings.reranker

    def files(self, name: str, kind: Kind) -> ModelFiles:
        """The files of a model by its name in the manifest, or of a folder.

        Raises:
            UsageError: `model_unknown`, `model_kind`.
            AppError: `model_missing`, `model_damaged`.
        """
        offered, folder = self._place(name)
        record = Record.read(folder)
        offered = offered or (manifest.neural(record.name) if record else None)
        if offered is None:
            return _of_folder(name, folder, kind)
        if offered.kind != kind:
            raise UsageError("model_kind", name=name, kind=_(KIND_NAMES[kind]))
        record = _whole(offered.name, folder, record)
        return ModelFiles(
            name=offered.name,
            path=folder,
            id=record.id,
            kind=kind,
            has_sparse=offered.has_sparse,
            dimensions=offered.dimensions,
            max_tokens=offered.max_tokens,
        )

    def state(self, name: str) -> State:
        """How much of it is here, by the lengths of its files; raises UsageError `model_unknown`."""
        offered, folder = self._place(name)
        record = Record.read(folder)
        if record is None:
            status: Status = "missing" if offered else "here"
            return State(status, 0 if offered else local.size(folder), None, offered.revision if offered else "")
        whole = [file for file in record.files if file.whole(folder)]
        arrived = sum(path.stat().st_size for path in folder.rglob("*.part"))
        complete = record.complete and len(whole) == len(record.files)
        there = sum(file.bytes for file in whole) + (0 if complete else arrived)
        return State("here" if complete else "partial", there, record.bytes, record.revision)

    def check(self, name: str, stop: threading.Event | None = None) -> Iterator[FileChecked]:
        """Every file as it is found, by all its bytes.

        A folder without a record is searched for config.json and for weights that end where they should.

        Raises:
            UsageError: `model_unknown`.
            AppError: `model_missing`, `interrupted`.
        """
        offered, folder = self._place(name)
        record = Record.read(folder)
        if record is None and offered:
            raise AppError("model_missing", name=offered.name)
        if record is None:
            yield from (FileChecked(path, local.size(folder / path), wrong) for path, wrong in local.problems(folder))
            return
        for file in record.files:
            problem: Problem = ""
            if not file.whole(folder):
                problem = "size" if (folder / file.path).is_file() else "missing"
            elif not matches(folder / file.path, file, stop):
                problem = "content"
            yield FileChecked(file.path, file.bytes, problem)

    def due_bytes(self, offered: Neural) -> int:
        """How much `fetch` would bring, as far as that is known without asking."""
        state = self.state(offered.name)
        return max(0, (state.all_bytes or round(offered.disk_gb * 1e9)) - state.bytes)

    def fetch(self, name: str, stop: threading.Event | None = None) -> Generator[ModelEvent, None, None]:
        """Bring a model of the manifest from the hub, or what of it is missing or damaged.

        Raises what `download.fetch` raises, and UsageError `model_unknown`.
        """
        from subtitle_rag.models import download

        yield from download.fetch(self.folder, self._offered(name), stop)

    def remove(self, name: str) -> int:
        """Delete a fetched model; returns how many bytes that frees.

        Raises:
            UsageError: `model_unknown`; a folder of the user's own is not touched.
            AppError: `model_missing`.
            BusyError: `model_busy`, `folder_unwritable`.
        """
        from subtitle_rag.models.guard import alone, writing

        offered = self._offered(name)
        folder = self.folder / offered.folder
        if not folder.is_dir():
            raise AppError("model_missing", name=offered.name)
        with writing(self.folder), alone(self.folder, offered):
            freed = local.size(folder)
            shutil.rmtree(folder)
        return freed

    def _offered(self, name: str) -> Neural:
        offered = manifest.neural(name)
        if offered is None:
            raise UsageError("model_unknown", name=name)
        return offered

    def _place(self, name: str) -> tuple[Neural | None, Path]:
        """What the manifest says, and the folder."""
        offered = manifest.neural(name)
        folder = self.folder / offered.folder if offered else Path(name).expanduser()
        if not name or not (offered or folder.is_dir()):
            raise UsageError("model_unknown", name=name)
        return offered, folder


def _whole(name: str, folder: Path, record: Record | None) -> Record:
    if record is None or not record.complete:
        raise AppError("model_missing", name=name)
    for file in record.files:
        if not file.whole(folder):
            raise AppError("model_damaged", name=name, reason=_("{file} is cut short").format(file=file.path))
    return record


def _of_folder(name: str, folder: Path, kind: Kind) -> ModelFiles:
    """Of a folder that another program made."""
    for path, problem in local.problems(folder):
        if problem:
            text = _("{file} is missing") if problem == "missing" else _("{file} is cut short")
            raise AppError("model_damaged", name=name, reason=text.format(file=path))
    shape = local.shape(folder)
    if shape is None:
        raise AppError("model_damaged", name=name, reason=_("{file} cannot be read").format(file="config.json"))
    if shape.kind != kind:
        raise UsageError("model_kind", name=name, kind=_(KIND_NAMES[kind]))
    return ModelFiles(
        name=name,
        path=folder,
        id=f"{folder.resolve().name}@{local.digest(folder)}",
        kind=kind,
        has_sparse=shape.has_sparse,
        dimensions=shape.dimensions,
        max_tokens=shape.max_tokens,
    )
