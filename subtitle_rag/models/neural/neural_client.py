"""Client of the neural host (`neural_host`), started when needed, for encoders and the reranker."""

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.hosting.host_client import Client
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import DENSE, ENCODER, RERANKER, Kind as ModelKind
from subtitle_rag.models.model_store import ModelFiles, ModelStore, encoder_source
from subtitle_rag.models.neural.encoder import CACHE_SIZE
from subtitle_rag.models.neural.neural_host import KIND, HostState
from subtitle_rag.models.neural.protocols import Encoded, Encoder, EncoderSource, makes_pieces
from subtitle_rag.models.prompts import Prompts, without_prompts
from subtitle_rag.plugins import ENCODERS, is_built_in, load_plugin, plugin_failure

if TYPE_CHECKING:
    from subtitle_rag.models.neural.ollama_encoder import OllamaEncoders

logger = logging.getLogger(__name__)

Call = Callable[..., Any]
Stamp = frozenset[tuple[str, int, int]]


class HostedEncoder:
    """`Encoder` in the host process; id and dimensions come from the model's files, without a call."""

    must_wait = False

    def __init__(self, call: Call, files: ModelFiles) -> None:
        self._call = call
        self.files = files
        self.id = files.id
        self.dimensions = files.dimensions if files.vectors == DENSE else 0
        self.has_sparse = files.has_sparse
        self.is_light = files.is_light
        self.query: Callable[[str], Encoded] = lru_cache(CACHE_SIZE)(partial(call, "query", files))

    @property
    def has_pieces(self) -> bool:
        return makes_pieces(self)

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return list(self._call("passages", self.files, list(texts)))


class HostedReranker:
    """`Reranker` in the host process."""

    def __init__(self, call: Call, files: ModelFiles) -> None:
        self._call = call
        self.files = files
        self._depth: int | None = None
        self.id = files.id

    @property
    def depth(self) -> int | None:
        """The measured depth; each read asks the process until one is known, without loading a model."""
        if self._depth is None:
            self._depth = self._call("depth", self.files)
        return self._depth

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        return list(self._call("scores", self.files, query, list(passages)))


class HostedModels(Client):
    """`Models` for a store's settings, in the host process of `folder`. Thread-safe.

    The process starts with the first call to a model. A model is None if its files or the extra that runs it are
    missing. A wrong setting or a damaged folder raises the errors of `ModelStore.files`.
    """

    def __init__(self, folder: Path, store: ModelStore, ollama: "OllamaEncoders | None" = None) -> None:
        """Prepare the client; `ollama` has the server's encoders, which `ollama_encoder.OLLAMA_MODELS` opens."""
        super().__init__(KIND, folder)
        self._store = store
        self.ollama = ollama
        self._encoders: dict[ModelFiles, HostedEncoder] = {}
        self._rerankers: dict[ModelFiles, HostedReranker] = {}
        self._files_cache: dict[tuple[str, ModelKind], tuple[Stamp, ModelFiles]] = {}

    def encoder(self, id: str | None = None) -> Encoder | None:
        """Return the encoder of this id, by default the one in the settings."""
        name = id or self._store.configured(ENCODER)
        part = encoder_source(name)
        source = load_plugin(ENCODERS, part, EncoderSource) if name else None
        try:
            return source.open_encoder(name, self) if source else None
        except Exception as error:  # a plug-in may raise anything
            if isinstance(error, AppError) or is_built_in(ENCODERS, part):
                raise
            raise plugin_failure(ENCODERS, part, error) from error

    def hosted_encoder(self, name: str) -> HostedEncoder | None:
        """Return the encoder of a name in the settings, or of an id, by its model's files."""
        files = self._files(name, ENCODER) if name == self._store.configured(ENCODER) else self._with_id(name)
        if files is None:
            return None
        return self._encoders.setdefault(files, HostedEncoder(self.call, files))

    def reranker(self) -> HostedReranker | None:
        files = self._files(self._store.configured(RERANKER), RERANKER)
        if files is None:
            return None
        return self._rerankers.setdefault(files, HostedReranker(self.call, files))

    def load_soon(self, encoder_id: str | None) -> None:
        """Start loading this encoder, if any, and the reranker."""

        def load() -> None:
            for model in (self.encoder(encoder_id) if encoder_id else None, self.reranker()):
                if isinstance(model, (HostedEncoder, HostedReranker)):
                    self.call("load", model.files)

        self._load_ahead(load)

    def close(self) -> None:
        if self.ollama is not None:
            self.ollama.close()
        super().close()

    def unload(self) -> None:
        """Make a running process free its memory and exit."""
        self._call_running("unload")

    def state(self) -> HostState | None:
        """Return the process's memory and models; None if none runs."""
        state: HostState | None = self._call_running("state")
        return state

    def _with_id(self, id: str) -> ModelFiles | None:
        """Look for the id among the encoders in the settings and the manifest, with the prompts in the id."""
        model_id = without_prompts(id)
        for name in dict.fromkeys((self._store.configured(ENCODER), *(each.name for each in manifest.encoders()))):
            try:
                files = self._files(name, ENCODER)
            except AppError:
                logger.debug("%s cannot be used", name, exc_info=True)
                continue
            if files and without_prompts(files.id) == model_id:
                return files.with_prompts(Prompts.of(id) or Prompts())
        return None

    def _files(self, name: str, kind: ModelKind) -> ModelFiles | None:
        """Check a model's files, again if one has changed; None if they are missing."""
        if not name:
            return None
        cached = self._files_cache.get((name, kind))
        if cached and cached[0] == _stamp(cached[1].path):
            return cached[1] if cached[1].extra.is_installed else None
        try:
            files = self._store.files(name, kind)
        except AppError as error:
            if error.code == "model_missing":
                return None
            raise
        self._files_cache[name, kind] = _stamp(files.path), files
        return files if files.extra.is_installed else None


class ModelFolders:
    """`EncoderSource` of the manifest's encoders and of the user's own folders."""

    def open_encoder(self, name: str, models: HostedModels) -> HostedEncoder | None:
        return models.hosted_encoder(name)


MODEL_FILES = ModelFolders()


def _stamp(folder: Path) -> Stamp:
    """Return names, sizes and times of a folder's files, to detect changes without reading them."""
    try:
        entries = [(path.name, path.stat()) for path in (*folder.iterdir(), *folder.glob("onnx/*"))]
    except OSError:
        return frozenset()
    return frozenset((name, status.st_size, status.st_mtime_ns) for name, status in entries)
