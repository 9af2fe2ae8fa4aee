"""Packages and models for search by meaning: offers to install, and their progress."""

import logging
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from subtitle_rag.domain import BusyError, LlmError
from subtitle_rag.installation import install_refusal
from subtitle_rag.library import MODEL_OFFER
from subtitle_rag.models import ENCODER, RERANKER, NeuralModel, SearchStep, manifest, search_step
from subtitle_rag.tui.state.stage_progress import StageName, StageProgress, StageState

if TYPE_CHECKING:
    from subtitle_rag.installation import Extra
    from subtitle_rag.retrieval.neural import EncoderOffer
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepOffer:
    """A step of search, and what it still needs."""

    step: SearchStep
    bytes: int
    """Bytes of its models to download."""
    packages: int
    """Megabytes of missing packages."""
    by_hand: str = ""
    """The instruction for the user, if the program cannot install packages by itself."""

    @classmethod
    def of(cls, runtime: "Runtime", step: SearchStep) -> "StepOffer":
        models = [model for model in step.models if runtime.models.state(model.name).status != "here"]
        size = sum(runtime.models.due_bytes(model) for model in models)
        if step.extra is None or step.extra.is_installed:
            return cls(step, size, 0)
        return cls(step, size, step.extra.megabytes, by_hand_line(step.extra))

    @property
    def all_bytes(self) -> int:
        return self.bytes + self.packages * 1_000_000


@dataclass(frozen=True, slots=True)
class ModelDownload(StageProgress):
    """Progress of the download, the encoder first."""

    stage: ClassVar[StageName] = "offer"

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
    installer_line: str = ""
    """The last line of the packages' installer."""
    through_ollama: "EncoderOffer | None" = None
    """The encoder that Ollama offers instead of packages."""
    light: StepOffer | None = None
    """The light step, where it is a choice."""
    full: StepOffer | None = None
    """The full step, where it is a choice."""
    config_text: str = ""
    """The lines for the config, if the program could not write them there."""

    @property
    def fetchable(self) -> bool:
        """The download can be started or resumed here."""
        return self.state in ("offered", "dismissed", "paused", "failed")

    @property
    def is_further(self) -> bool:
        """The light step is here, and this is the full one."""
        return self.full is not None and self.light is None

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
        if not (partial or missing_packages(runtime) or any(model.kind == ENCODER for model in models)):
            return _full_download(runtime)
        state: StageState = "paused" if partial else "offered"
        if partial and any(_elsewhere(runtime, model) for model in models):
            state = "elsewhere"
        elif runtime.library.database.get_setting(MODEL_OFFER):
            state = "dismissed"
        return _with_steps(runtime, sized_download(runtime, models, state))
    except OSError:  # a folder that cannot be read takes no library down
        logger.warning("the models' folder cannot be read", exc_info=True)
        return None


def find_through_ollama(runtime: "Runtime") -> "EncoderOffer | None":
    """Return the encoder of the settings' Ollama; None if none is there, or it is not needed. Asks the server."""
    if not (missing_packages(runtime) and runtime.settings.llm.hosts):
        return None
    try:
        return runtime.offered_encoder()
    except LlmError:
        logger.info("Ollama offers no encoder", exc_info=True)
        return None


def _with_steps(runtime: "Runtime", download: ModelDownload) -> ModelDownload:
    """Add the steps to an offer, if the user has not decided for an encoder of their own."""
    light, full = search_step("light"), search_step("full")
    if light is None or full is None or runtime.models.configured(ENCODER) != full.encoder:
        return download
    offers = StepOffer.of(runtime, light), StepOffer.of(runtime, full)
    return replace(download, light=offers[0], full=offers[1])


def _full_download(runtime: "Runtime") -> ModelDownload | None:
    """Return the full step for who has the light one: not offered by itself, but there by its key."""
    light, full = search_step("light"), search_step("full")
    if light is None or full is None or runtime.models.configured(ENCODER) != light.encoder:
        return None
    offer = StepOffer.of(runtime, full)
    if not offer.all_bytes:
        return None
    names = tuple(model.name for model in full.models)
    environment = sys.prefix if offer.packages else ""
    return ModelDownload("dismissed", names=names, all=offer.bytes, full=offer, environment=environment)


def missing_packages(runtime: "Runtime") -> "Extra | None":
    """Return the packages of the settings' encoder; None if they are installed, or it needs none."""
    extra = runtime.models.required_extra(runtime.models.configured(ENCODER))
    return None if extra is None or extra.is_installed else extra


def missing_models(runtime: "Runtime") -> list[NeuralModel]:
    """Return the models of settings and manifest that are not installed.

    A reranker counts if it needs no other packages than the encoder: gigabytes are not part of a light step.
    """
    models = [manifest.neural_model(runtime.models.configured(kind)) for kind in (ENCODER, RERANKER)]
    encoder, reranker = models
    if encoder and reranker and encoder.extra is not reranker.extra:
        models = [encoder]
    return [model for model in models if model and runtime.models.state(model.name).status != "here"]


def by_hand_line(extra: "Extra") -> str:
    """Return what the user can do where the program cannot install the extra by itself; empty if it can."""
    refusal = install_refusal(extra)
    return refusal.hint if refusal else ""


def sized_download(runtime: "Runtime", models: list[NeuralModel], state: StageState) -> ModelDownload:
    """Return the offer of models and, if needed, of packages, with their sizes."""
    done = sum(runtime.models.state(model.name).bytes for model in models)
    remaining = sum(runtime.models.due_bytes(model) for model in models)
    offer = ModelDownload(state, names=tuple(model.name for model in models), done=done, all=done + remaining)
    extra = missing_packages(runtime)
    if extra is None:
        return offer
    by_hand = by_hand_line(extra)
    return replace(offer, packages=extra.megabytes, environment=sys.prefix, by_hand=by_hand)


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
