"""The model files on this machine: downloads in the app's folder, and the user's own folders."""

import re
import shutil
import threading
from collections.abc import Generator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.installation.extras import MEANING, NEURAL, Extra
from subtitle_rag.models import local, manifest
from subtitle_rag.models.prompts import Prompts
from subtitle_rag.models.record import Record, hold_model, writing
from subtitle_rag.plugins import ENCODERS, is_built_in, plugin_names

if TYPE_CHECKING:
    from subtitle_rag.base.domain.events import ModelEvent

KIND_NAMES = {
    manifest.ENCODER: N_("encoder"),
    manifest.RERANKER: N_("reranker"),
    manifest.SPEECH: N_("model that hears speech"),
}
Status = Literal["missing", "partial", "here"]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model to load from `path`, without a network."""

    name: str
    """Its name in the manifest, or its folder."""
    path: Path
    id: str
    """Id of the vector space: `bge-m3@5617a9f6`, or a folder's name and eight digits of its digest."""
    kind: manifest.Kind
    has_sparse: bool
    dimensions: int
    """Length of an encoder's dense vectors."""
    max_tokens: int
    vectors: manifest.VectorKind = manifest.DENSE
    prompts: Prompts = field(default_factory=Prompts)
    pooling: manifest.PoolingMode = ""
    is_light: bool = False
    """Whether it encodes a window in hundredths of a second on a CPU."""
    graph: str = ""
    """Path of the ONNX graph in the folder; "" for a PyTorch model."""

    @property
    def extra(self) -> Extra:
        """Return the extra with the packages that run it."""
        return MEANING if self.graph else NEURAL

    def with_prompts(self, prompts: Prompts) -> "ModelFiles":
        """Return the model with these prompts, also in its id, in place of its own."""
        return replace(self, id=prompts.added_to(self.id), prompts=prompts)


@dataclass(frozen=True, slots=True)
class SpeechFiles:
    """A speech model to load from `path` without a network; `id` as in ModelFiles."""

    name: str
    path: Path
    id: str


@dataclass(frozen=True, slots=True)
class State:
    """Downloaded part of a model; `all_bytes` is None until the hub has answered."""

    status: Status
    bytes: int
    all_bytes: int | None
    revision: str


def encoder_source(name: str) -> str:
    """Return the entry point that opens an encoder, by its name or id; names of the manifest win."""
    source = re.split("[:@]", name, maxsplit=1)[0]
    if (
        source
        and manifest.hub_model(source) is None
        and (is_built_in(ENCODERS, source) or source in plugin_names(ENCODERS))
    ):
        return source
    return "files"


def is_added(name: str) -> bool:
    """Whether a plug-in adds the encoder of this name."""
    return not is_built_in(ENCODERS, encoder_source(name))


class ModelStore:
    """The models in `folder`, which may not exist yet. Only `fetch` downloads."""

    def __init__(self, folder: Path, settings: ModelSettings) -> None:
        self.folder = folder
        self.settings = settings

    def configured(self, kind: manifest.Kind) -> str:
        """Return the name or folder in the settings, or ""."""
        settings = self.settings
        names = {manifest.ENCODER: settings.encoder, manifest.RERANKER: settings.reranker}
        return names.get(kind, settings.speech)

    def files(self, name: str, kind: manifest.Kind) -> ModelFiles:
        """Return the files of a model, given its name in the manifest or its folder.

        Raises:
            UsageError: `unknown`, `model_kind`.
            AppError: `model_missing`, `model_damaged`.
        """
        model, folder, id = self._find(name, kind)
        if not isinstance(model, manifest.NeuralModel):
            return _of_folder(name, folder, _graph(name, folder), kind)
        files = ModelFiles(
            name=model.name,
            path=folder,
            id=id,
            kind=kind,
            has_sparse=model.has_sparse or model.vectors == manifest.SPARSE,
            dimensions=model.dimensions,
            max_tokens=model.max_tokens,
            vectors=model.vectors,
            pooling=model.pooling,
            is_light=model.is_light,
            graph=model.graph,
        )
        return files.with_prompts(model.prompts)

    def speech_files(self, name: str) -> SpeechFiles:
        """Return the files of a speech model, given its name in the manifest or its folder.

        Raises:
            UsageError: `unknown`, `model_kind`.
            AppError: `model_missing`, `model_damaged`.
        """
        model, folder, id = self._find(name, manifest.SPEECH)
        if model is not None:
            return SpeechFiles(model.name, folder, id)
        for file in local.SPEECH_FILES:
            if not (folder / file).is_file():
                raise AppError("model_damaged", name=name, reason=_("{file} is missing").format(file=file))
        return SpeechFiles(name, folder, f"{folder.resolve().name}@{local.digest(folder)}")

    def _find(self, name: str, kind: manifest.Kind) -> tuple[manifest.HubModel | None, Path, str]:
        """Return manifest entry, folder and id of a completely downloaded model, or only the user's own folder.

        Raises:
            UsageError: `unknown`, `model_kind`.
            AppError: `model_missing`, `model_damaged`.
        """
        model, folder = self._locate(name)
        record = Record.read(folder)
        model = model or (manifest.hub_model(record.name) if record else None)
        if model is None:
            return None, folder, ""
        if model.kind != kind:
            raise UsageError("model_kind", name=name, kind=_(KIND_NAMES[kind]))
        if record is None or not record.complete:
            raise AppError("model_missing", name=model.name)
        if short := next((file.path for file in record.files if not file.has_length(folder)), None):
            raise AppError("model_damaged", name=model.name, reason=_("{file} is cut short").format(file=short))
        return model, folder, record.id

    def required_extra(self, name: str) -> Extra | None:
        """Return the extra that a model needs, given its name or folder; None if it needs none."""
        if not name or manifest.is_ollama(name) or is_added(name):
            return None
        try:
            model, folder = self._locate(name)
        except UsageError:  # reported when its files are needed
            return NEURAL
        return model.extra if model else MEANING if _graph(name, folder) else NEURAL

    def knows_prompts(self, name: str) -> bool:
        """Whether the manifest or the encoder's own files give the prompts."""
        if manifest.is_ollama(name):
            return manifest.ollama_encoder(name) is not None
        if is_added(name):
            return True
        model, folder = self._locate(name)
        return bool(model or Record.read(folder) or local.file_prompts(folder))

    def state(self, name: str) -> State:
        """Return the downloaded part, by file lengths. Raises UsageError `unknown`."""
        if is_added(name):
            return State("here", 0, None, "")
        model, folder = self._locate(name)
        record = Record.read(folder)
        if record is None:
            status: Status = "missing" if model else "here"
            return State(status, 0 if model else local.size(folder), None, model.revision if model else "")
        present = [file for file in record.files if file.has_length(folder)]
        arrived = sum(path.stat().st_size for path in folder.rglob("*.part"))
        complete = record.complete and len(present) == len(record.files)
        downloaded = sum(file.bytes for file in present) + (0 if complete else arrived)
        return State("here" if complete else "partial", downloaded, record.bytes, record.revision)

    def due_bytes(self, model: manifest.HubModel) -> int:
        """Estimate the bytes that `fetch` would download, without a request."""
        state = self.state(model.name)
        return max(0, (state.all_bytes or round(model.disk_gb * 1e9)) - state.bytes)

    def fetch(self, name: str, stop: threading.Event | None = None) -> "Generator[ModelEvent, None, None]":
        """Download the missing or damaged files of a model in the manifest.

        Raises the errors of `download.fetch`, and UsageError `unknown`.
        """
        from subtitle_rag.models import download

        yield from download.fetch(self.folder, self._in_manifest(name), stop)

    def remove(self, name: str) -> int:
        """Delete a downloaded model and return its bytes.

        Raises:
            UsageError: `unknown`, also for a user's own folder.
            AppError: `model_missing`.
            BusyError: `busy`, `unwritable`.
        """
        model = self._in_manifest(name)
        folder = self.folder / model.folder
        if not folder.is_dir():
            raise AppError("model_missing", name=model.name)
        with writing(self.folder), hold_model(self.folder, model):
            freed = local.size(folder)
            shutil.rmtree(folder)
        return freed

    def _in_manifest(self, name: str) -> manifest.HubModel:
        model = manifest.hub_model(name)
        if model is None:
            raise unknown_model(name)
        return model

    def _locate(self, name: str) -> tuple[manifest.HubModel | None, Path]:
        """Return the manifest entry, if any, and the folder."""
        model = manifest.hub_model(name)
        folder = self.folder / model.folder if model else Path(name).expanduser()
        if folder.suffix == ".onnx" and folder.is_file():
            folder = local.graph_folder(folder)
        if not name or not (model or folder.is_dir()):
            raise unknown_model(name)
        return model, folder


def unknown_model(name: str) -> UsageError:
    return UsageError("unknown", kind=_("model or folder of a model"), name=name, command="subtitle-rag models list")


def _graph(name: str, folder: Path) -> str:
    """Return the graph in `name`, else any graph in the folder unless PyTorch can run its weights."""
    path = Path(name).expanduser()
    if path.suffix == ".onnx":
        return path.relative_to(folder).as_posix()
    is_for_torch = local.has_weights(folder) and NEURAL.is_installed
    return "" if is_for_torch else local.find_graph(folder)


def _of_folder(name: str, folder: Path, graph: str, kind: manifest.Kind) -> ModelFiles:
    """Return the files of another program's folder."""
    for path, problem in local.problems(folder, graph):
        text = _("{file} is missing") if problem == "missing" else _("{file} is cut short")
        raise AppError("model_damaged", name=name, reason=text.format(file=path))
    shape = local.shape(folder)
    if shape is None:
        raise AppError("model_damaged", name=name, reason=_("{file} cannot be read").format(file="config.json"))
    if shape.kind != kind:
        raise UsageError("model_kind", name=name, kind=_(KIND_NAMES[kind]))
    id = f"{folder.resolve().name}@{local.digest(folder, graph)}"
    files = ModelFiles(name, folder, id, **asdict(shape), graph=graph)
    prompts = local.file_prompts(folder) if graph else None  # sentence-transformers reads them itself
    return files.with_prompts(prompts) if prompts else files
