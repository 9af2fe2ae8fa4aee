"""The packages and models for search by meaning that are not installed, and their download."""

import logging
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.errors import BusyError
from subtitle_rag.events import PackagesAdvanced
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.library.app_state import MODEL_OFFER
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import ENCODER, RERANKER, Neural
from subtitle_rag.tui.state.stage_progress import StageProgress, StageState

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelDownload(StageProgress):
    """How much of the models is here, of the encoder first."""

    names: tuple[str, ...] = ()
    """Those that are not, or not wholly."""
    done: int = 0
    """Bytes of all of them."""
    all: int = 0
    """By the manifest, until the hub has told it."""
    rate: float | None = None
    """Bytes in a second."""
    packages: int = 0
    """Megabytes of the packages that are not here; 0 where they are."""
    place: str = ""
    """The environment into which packages go."""
    by_hand: str = ""
    """What the user does where the program does not install packages by itself."""
    step: PackagesAdvanced | None = None
    """How far the packages have come."""

    @property
    def fetchable(self) -> bool:
        """It can be begun, or gone on with, here."""
        return self.state in ("offered", "dismissed", "paused", "failed")


def find_download(runtime: "Runtime") -> ModelDownload | None:
    """What could be fetched; None where the settings want none that is offered, or the encoder is here and nothing else
    was begun. Reads files, so call it from a worker thread."""
    try:
        due = missing_models(runtime)
        begun = any(runtime.models.state(one.name).status == "partial" for one in due)
        if not (begun or lacks_packages(runtime) or any(one.kind == ENCODER for one in due)):
            return None
        if begun and any(_elsewhere(runtime, one) for one in due):
            return sized_download(runtime, due, "elsewhere")
        if runtime.library.database.get_setting(MODEL_OFFER):
            return sized_download(runtime, due, "dismissed")
        return sized_download(runtime, due, "paused" if begun else "offered")
    except OSError:  # a folder that cannot be read takes no library down
        logger.warning("the models' folder cannot be read", exc_info=True)
        return None


def lacks_packages(runtime: "Runtime") -> bool:
    """Whether the settings want an encoder and what runs it is not installed."""
    return bool(runtime.models.chosen(ENCODER)) and not NEURAL.is_installed


def missing_models(runtime: "Runtime") -> list[Neural]:
    """The models that the settings name, that the manifest offers, and that are not here."""
    named = [manifest.neural(runtime.models.chosen(kind)) for kind in (ENCODER, RERANKER)]
    return [one for one in named if one and runtime.models.state(one.name).status != "here"]


def sized_download(runtime: "Runtime", due: list[Neural], state: StageState) -> ModelDownload:
    done = sum(runtime.models.state(one.name).bytes for one in due)
    left = sum(runtime.models.due_bytes(one) for one in due)
    offer = ModelDownload(state, names=tuple(one.name for one in due), done=done, all=done + left)
    return _with_packages(runtime, offer) if lacks_packages(runtime) else offer


def _with_packages(runtime: "Runtime", offer: ModelDownload) -> ModelDownload:
    """The offer with what the packages take, and whether the program can install them."""
    from subtitle_rag.installation.package_installer import PackageInstaller

    refusal = PackageInstaller(runtime.settings.paths.cache).refusal(NEURAL)
    by_hand = refusal.hint if refusal else ""
    return replace(offer, packages=NEURAL.megabytes, place=sys.prefix, by_hand=by_hand)


def _elsewhere(runtime: "Runtime", model: Neural) -> bool:
    """Whether another process is fetching it."""
    from subtitle_rag.models.guard import alone

    try:
        with alone(runtime.models.folder, model):
            return False
    except BusyError:
        return True
    except OSError:  # told where it is fetched
        logger.info("the models' folder cannot be used", exc_info=True)
        return False
