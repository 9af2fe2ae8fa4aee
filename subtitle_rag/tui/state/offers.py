"""Packages and models for search by meaning, and the update of yt-dlp: offers to install, and their progress."""

import logging
import sys
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

from subtitle_rag.domain import BusyError, LlmError, PackagesAdvanced
from subtitle_rag.installation import NEURAL, extractor_age
from subtitle_rag.library import MODEL_OFFER
from subtitle_rag.models import ENCODER, RERANKER, NeuralModel, manifest
from subtitle_rag.tui.state.stage_progress import StageProgress, StageState

if TYPE_CHECKING:
    from subtitle_rag.retrieval import EncoderOffer
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelDownload(StageProgress):
    """Progress of the download, the encoder first."""

    names: tuple[str, ...] = ()
    """Models to download, wholly or in part."""
    done: int = 0
    """Bytes of all of them."""
    all: int = 0
    """By the manifest, until the hub has answered."""
    rate: float | None = None
    """Bytes per second."""
    packages: int = 0
    """Megabytes of missing packages."""
    environment: str = ""
    """The Python environment for the packages."""
    by_hand: str = ""
    """The instruction for the user, if the program cannot install packages by itself."""
    step: PackagesAdvanced | None = None
    """Progress of the packages."""
    through_ollama: "EncoderOffer | None" = None
    """The encoder that Ollama offers instead of packages."""
    config_text: str = ""
    """The lines for the config, if the program could not write them there."""

    @property
    def fetchable(self) -> bool:
        """The download can be started or resumed here."""
        return self.state in ("offered", "dismissed", "paused", "failed")

    @property
    def is_by_ollama(self) -> bool:
        """Ollama fetches an encoder, which `find_download` does not look for."""
        return any(map(manifest.is_ollama, self.names))


def find_download(runtime: "Runtime") -> ModelDownload | None:
    """Return the possible download. None if the settings name no model of the manifest, or if the encoder is installed
    and nothing else is partly downloaded. Reads files: for worker threads."""
    try:
        models = missing_models(runtime)
        partial = any(runtime.models.state(model.name).status == "partial" for model in models)
        if not (partial or lacks_packages(runtime) or any(model.kind == ENCODER for model in models)):
            return None
        state: StageState = "paused" if partial else "offered"
        if partial and any(_elsewhere(runtime, model) for model in models):
            state = "elsewhere"
        elif runtime.library.database.get_setting(MODEL_OFFER):
            state = "dismissed"
        return sized_download(runtime, models, state)
    except OSError:  # a folder that cannot be read takes no library down
        logger.warning("the models' folder cannot be read", exc_info=True)
        return None


def find_through_ollama(runtime: "Runtime") -> "EncoderOffer | None":
    """Return the encoder of the settings' Ollama; None if none is there, or it is not needed. Asks the server."""
    if not (lacks_packages(runtime) and runtime.settings.llm.hosts):
        return None
    try:
        return runtime.offered_encoder()
    except LlmError:
        logger.info("Ollama offers no encoder", exc_info=True)
        return None


def lacks_packages(runtime: "Runtime") -> bool:
    """Return whether the settings name an encoder and its packages are missing."""
    name = runtime.models.configured(ENCODER)
    return bool(name) and not manifest.is_ollama(name) and not NEURAL.is_installed


def missing_models(runtime: "Runtime") -> list[NeuralModel]:
    """Return the models of settings and manifest that are not installed."""
    models = [manifest.neural_model(runtime.models.configured(kind)) for kind in (ENCODER, RERANKER)]
    return [model for model in models if model and runtime.models.state(model.name).status != "here"]


def sized_download(runtime: "Runtime", models: list[NeuralModel], state: StageState) -> ModelDownload:
    """Return the offer of models and, if needed, of packages, with their sizes."""
    done = sum(runtime.models.state(model.name).bytes for model in models)
    remaining = sum(runtime.models.due_bytes(model) for model in models)
    offer = ModelDownload(state, names=tuple(model.name for model in models), done=done, all=done + remaining)
    if not lacks_packages(runtime):
        return offer
    from subtitle_rag.installation import PackageInstaller

    refusal = PackageInstaller(runtime.settings.paths.cache).refusal(NEURAL)
    by_hand = refusal.hint if refusal else ""
    return replace(offer, packages=NEURAL.megabytes, environment=sys.prefix, by_hand=by_hand)


def _elsewhere(runtime: "Runtime", model: NeuralModel) -> bool:
    """Return whether another process is downloading the model."""
    from subtitle_rag.models import hold_model

    try:
        with hold_model(runtime.models.folder, model):
            return False
    except BusyError:
        return True
    except OSError:  # the download reports it
        logger.info("the models' folder cannot be used", exc_info=True)
        return False


@dataclass(frozen=True, slots=True)
class ExtractorUpdate(StageProgress):
    """The installed yt-dlp, which ages within weeks, and the progress of its update."""

    version: str = ""
    days: int = 0
    has_failed: bool = False

    @property
    def can_start(self) -> bool:
        return self.state in ("offered", "failed")


def find_update(runtime: "Runtime") -> ExtractorUpdate | None:
    """Return the due update, or None. Reads the library: for worker threads."""
    failures = runtime.library.failure_details("yt_dlp_outdated")
    try:
        age = extractor_age(failures)
    except PackageNotFoundError:  # an installer is just changing it
        return None
    if not age.is_due:
        return None
    return ExtractorUpdate("offered", version=age.version, days=age.days, has_failed=age.has_failed)
