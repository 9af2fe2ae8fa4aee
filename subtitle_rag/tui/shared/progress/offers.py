"""Packages and models for search by meaning: offers to install, and their progress."""

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import BusyError, LlmError
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.installation.extras import NEURAL
from subtitle_rag.base.installation.package_installer import install_refusal
from subtitle_rag.library.app_state import MODEL_OFFER
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import ENCODER, OLLAMA, RERANKER, NeuralModel, SearchStep, encoder_steps
from subtitle_rag.models.neural.device import plan_graph
from subtitle_rag.tui.shared.progress.stage import Stage, StageName, Stages, StageState

if TYPE_CHECKING:
    from subtitle_rag.base.installation.extras import Extra
    from subtitle_rag.models.neural.ollama_encoder import EncoderOffer
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

QUICK_S = 600
"""Longest time for the vectors of 1,000 windows at which a step is still recommended."""
SLOWER = 4
"""Factor by which a processor without AVX2 is slower."""


@dataclass(frozen=True, slots=True)
class StepOffer:
    """A step of search, and its missing packages and models."""

    step: SearchStep
    bytes: int
    """Bytes of its models to download."""
    packages: int
    """Megabytes of missing packages."""
    by_hand: str = ""
    """Instruction for the user, if the program cannot install packages."""
    seconds: int = 0
    """Estimated time for the vectors of this library; 0 for an empty one."""

    @classmethod
    def of(cls, runtime: "Runtime", step: SearchStep) -> "StepOffer":
        models = [model for model in step.models if runtime.models.state(model.name).status != "here"]
        size = sum(runtime.models.due_bytes(model) for model in models)
        seconds = ceil(_seconds_per_window(step) * runtime.library.counts().windows)
        if step.extra is None or step.extra.is_installed:
            return cls(step, size, 0, seconds=seconds)
        return cls(step, size, step.extra.megabytes, by_hand_line(step.extra), seconds)

    @property
    def is_quick(self) -> bool:
        """Whether it makes the vectors of 1,000 windows within ten minutes."""
        return 1_000 * _seconds_per_window(self.step) <= QUICK_S

    @property
    def all_bytes(self) -> int:
        return self.bytes + self.packages * 1_000_000


def _seconds_per_window(step: SearchStep) -> float:
    """Return the seconds per window with the processors that an encoder uses."""
    plan = plan_graph(waits=False)
    slower = SLOWER if plan.why == "no_avx2" else 1
    return slower * (step.seconds or 0) / 1_000 / plan.threads


@dataclass(frozen=True, slots=True)
class ModelDownload(Stage):
    """Download of packages and models, the encoder first."""

    name: StageName = "offer"
    names: tuple[str, ...] = ()
    """Models to download, in full or in part."""
    packages: int = 0
    """Megabytes of missing packages."""
    environment: str = ""
    """The Python environment for the packages."""
    by_hand: str = ""
    """Instruction for the user, if the program cannot install packages."""
    through_ollama: "EncoderOffer | None" = None
    """The encoder that Ollama offers instead of packages."""
    steps: tuple[StepOffer, ...] = ()
    """The steps to choose from, lightest first."""
    config_text: str = ""
    """The lines for the config, if the program could not write them."""

    @property
    def due_bytes(self) -> int:
        """Bytes of the models still to download."""
        return self.progress.total - self.progress.done if self.progress else 0

    @property
    def model_names(self) -> str:
        """The models' names without their makers."""
        return ", ".join(map(without_owner, self.names))

    @classmethod
    def among(cls, stages: Stages) -> "ModelDownload | None":
        """Return the download among the stages; None without any."""
        download = stages.get("offer")
        return download if isinstance(download, cls) else None

    @property
    def fetchable(self) -> bool:
        """Whether the download can be started or resumed here."""
        return self.state in ("offered", "dismissed", "paused", "failed")

    @property
    def recommended(self) -> StepOffer | None:
        """The best step that the program can take alone and that is quick here, without PyTorch if possible.

        None if there is no such step.
        """
        takeable = [offer for offer in self.steps if not offer.by_hand]
        quick = [offer for offer in takeable if offer.is_quick and offer.step.extra is not NEURAL]
        best = quick[-1:] or takeable[:1]
        return best[0] if best else None

    @property
    def is_by_ollama(self) -> bool:
        """Whether Ollama downloads an encoder, which `find_download` ignores."""
        return any(map(manifest.is_ollama, self.names))


def find_download(runtime: "Runtime") -> ModelDownload | None:
    """Return the possible download. Reads files: for worker threads.

    None if the settings name no model of the manifest, or if the encoder is installed and nothing is partly downloaded.
    """
    try:
        models = missing_models(runtime)
        partial = any(runtime.models.state(model.name).status == "partial" for model in models)
        if not (partial or missing_packages(runtime) or any(model.kind == ENCODER for model in models)):
            return _further_download(runtime)
        state: StageState = "paused" if partial else "offered"
        if partial and any(_elsewhere(runtime, model) for model in models):
            state = "elsewhere"
        elif runtime.library.database.get_setting(MODEL_OFFER):
            state = "dismissed"
        return _with_steps(runtime, sized_download(runtime, models, state))
    except OSError:  # an unreadable folder must not break the library
        logger.warning("the models' folder cannot be read", exc_info=True)
        return None


def find_through_ollama(runtime: "Runtime") -> "EncoderOffer | None":
    """Return the encoder of the configured Ollama; None if there is none, or no need. Queries the server."""
    if not (missing_packages(runtime) and runtime.settings.llm.hosts):
        return None
    try:
        return runtime.offered_encoder()
    except LlmError:
        logger.info("Ollama offers no encoder", exc_info=True)
        return None


def _with_steps(runtime: "Runtime", download: ModelDownload) -> ModelDownload:
    """Add the steps to an offer, unless the user has chosen an encoder."""
    steps = encoder_steps()
    if not steps or runtime.models.configured(ENCODER) != steps[-1].encoder:
        return download
    return replace(download, steps=tuple(StepOffer.of(runtime, step) for step in steps))


def _further_download(runtime: "Runtime") -> ModelDownload | None:
    """Return the steps beyond the current one: available by key, but not offered."""
    steps = encoder_steps()
    names = [step.encoder for step in steps]
    configured = runtime.models.configured(ENCODER)
    further = steps[names.index(configured) + 1 :] if configured in names else ()
    offers = tuple(offer for step in further if (offer := StepOffer.of(runtime, step)).all_bytes)
    return ModelDownload(state="dismissed", steps=offers, environment=sys.prefix) if offers else None


def missing_packages(runtime: "Runtime") -> "Extra | None":
    """Return the packages of the configured encoder; None if they are installed or not needed."""
    extra = runtime.models.required_extra(runtime.models.configured(ENCODER))
    return None if extra is None or extra.is_installed else extra


def missing_models(runtime: "Runtime") -> list[NeuralModel]:
    """Return the models of settings and manifest that are not installed.

    A reranker counts only if it needs no other packages than the encoder: gigabytes are not part of a light step.
    """
    models = [manifest.neural_model(runtime.models.configured(kind)) for kind in (ENCODER, RERANKER)]
    encoder, reranker = models
    if encoder and reranker and encoder.extra is not reranker.extra:
        models = [encoder]
    return [model for model in models if model and runtime.models.state(model.name).status != "here"]


def by_hand_line(extra: "Extra") -> str:
    """Return the instruction for the user if the program cannot install the extra; empty if it can."""
    refusal = install_refusal(extra)
    return refusal.hint if refusal else ""


def without_owner(name: str) -> str:
    """Return a model's name without its maker."""
    return name.rpartition("/")[2].removeprefix(OLLAMA)


def model_download(state: StageState, names: Sequence[str], done: int, total: int) -> ModelDownload:
    """Return the download of the models `names`, with `done` of `total` bytes."""
    download = ModelDownload(state=state, names=tuple(names))
    return replace(download, progress=Progress("models", done, total, download.model_names))


def sized_download(runtime: "Runtime", models: list[NeuralModel], state: StageState) -> ModelDownload:
    """Return the offer of models, and of packages if needed, with sizes."""
    done = sum(runtime.models.state(model.name).bytes for model in models)
    remaining = sum(runtime.models.due_bytes(model) for model in models)
    offer = model_download(state, [model.name for model in models], done, done + remaining)
    extra = missing_packages(runtime)
    if extra is None:
        return offer
    by_hand = by_hand_line(extra)
    return replace(offer, packages=extra.megabytes, environment=sys.prefix, by_hand=by_hand)


def _elsewhere(runtime: "Runtime", model: NeuralModel) -> bool:
    """Return whether another process is downloading the model."""
    from subtitle_rag.models.record import hold_model

    try:
        with hold_model(runtime.models.folder, model):
            return False
    except BusyError:
        return True
    except OSError:  # the download reports it
        logger.info("the models' folder cannot be used", exc_info=True)
        return False
