"""What search by meaning needs and what is not here, packages and models: the offer, and the thread that brings them.

They are offered until they are here or the offer is put away; the library remembers that.
"""

import logging
import sys
import threading
import time
from collections import deque
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from subtitle_rag.errors import BusyError
from subtitle_rag.events import ModelFetching, PackagesAdvanced
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.library.offer import offer_dismissed
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import ENCODER, RERANKER, Neural
from subtitle_rag.tui import background, jobs
from subtitle_rag.tui.background import Progress
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

PACE_S = 10.0
"""The rate is that of the last seconds: a connection's changes, and what was here already came at once."""
LEAST_S = 2.0
"""Of them, after which it can be told."""
KEPT = frozenset({"hub_unreachable", "hub_busy", "download_damaged"})
"""Failures after which nothing is to be done but to go on."""
_MB = 1e6


@dataclass(frozen=True, slots=True)
class Offer(Progress):
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


@dataclass(frozen=True, slots=True)
class Way:
    """A way in which search by meaning can be had here."""

    name: str
    title: str
    detail: str


IN_PROCESS = "packages"
"""Encoder and reranker run in a process of this program, by PyTorch."""
STEPS = {
    "resolving": N_("choosing versions {package}"),
    "fetching": N_("fetching {package}"),
    "installing": N_("installing"),
}


def ways(offer: Offer) -> tuple[Way, ...]:
    """The ways from which a user chooses; none where the program does not install packages by itself."""
    if offer.by_hand:
        return ()
    size = _("packages {size}").format(size=_size(offer.packages * 1_000_000))
    if offer.names:
        size += " · " + _("models {size}").format(size=_size(offer.all - offer.done))
    return (Way(IN_PROCESS, _("On this computer, in a process of this program"), size),)


def look(runtime: "Runtime") -> Offer | None:
    """What could be fetched; None where the settings want none that is offered, or the encoder is here and nothing else
    was begun. Reads files, so call it from a worker thread."""
    try:
        due = _due(runtime)
        begun = any(runtime.models.state(one.name).status == "partial" for one in due)
        if not (begun or _lacks_packages(runtime) or any(one.kind == ENCODER for one in due)):
            return None
        if begun and any(_elsewhere(runtime, one) for one in due):
            return _sized(runtime, due, "elsewhere")
        if offer_dismissed(runtime.library):
            return _sized(runtime, due, "dismissed")
        return _sized(runtime, due, "paused" if begun else "offered")
    except OSError:  # a folder that cannot be read takes no library down
        logger.warning("the models' folder cannot be read", exc_info=True)
        return None


def _lacks_packages(runtime: "Runtime") -> bool:
    """Whether the settings want an encoder and what runs it is not installed."""
    return bool(runtime.models.chosen(ENCODER)) and not NEURAL.is_installed


def _keys() -> dict[str, str]:
    """What fetches and stops, and what puts the offer away."""
    return {"key": key("models.fetch"), "away": key("models.dismiss")}


def line(offer: Offer | None) -> str:
    """What the screens say of it; empty where there is nothing to tell."""
    match offer:
        case Offer(state="offered" | "paused", packages=packages) if packages:
            return _packages_line(offer)
        case Offer(state="offered"):
            said = _(
                "Scenes can be found by what they mean, too: {key} fetches {models} ({size}) onto this computer, "
                "{away} puts this away."
            )
            return said.format(models=_listed(offer), size=_size(offer.all - offer.done), **_keys())
        case Offer(state="working" | "asking"):
            return "  ".join((brief(offer), _("{key} stops").format(**_keys())))
        case Offer(state="paused"):
            said = _("{done} of {all} MB of {models} are here; {key} fetches the rest, {away} puts this away.")
            return _megabytes(said, offer)
        case Offer(state="failed", error=error) if error:
            then = _("What has arrived is kept.") if error.code in KEPT else error.hint
            return clean(f"! {error.message} {then}  " + _("{key} tries again").format(**_keys()))
        case Offer(state="elsewhere"):
            return _("Another subtitle-rag is fetching {models}.").format(models=_listed(offer))
    return ""


def _packages_line(offer: Offer) -> str:
    """What is said where packages are missing, and perhaps models."""
    said = _(
        "Scenes can be found by what they mean, too: {key} installs what that needs ({size}), {away} puts this away."
    )
    if offer.state == "paused":
        said = _("Installing what search by meaning needs has stopped; {key} goes on, {away} puts this away.")
    return said.format(size=_size(_due_bytes(offer)), **_keys())


def _due_bytes(offer: Offer) -> int:
    """Of packages and models."""
    return offer.packages * 1_000_000 + offer.all - offer.done


def size(offer: Offer) -> str:
    """What is to be fetched, and how much."""
    if offer.packages:
        return _("packages and models, {size} onto this computer").format(size=_size(_due_bytes(offer)))
    return _("{models}, {size} onto this computer").format(models=_listed(offer), size=_size(offer.all - offer.done))


def brief(offer: Offer) -> str:
    """How far it has come, how fast it is, and how long it still takes."""
    if offer.packages:
        return _packages_progress(offer.step)
    parts = [_megabytes(_("Fetching {models}  {done}/{all} MB"), offer)]
    if offer.rate:
        parts.append(_("{rate} MB/s").format(rate=f"{offer.rate / _MB:.1f}"))
        parts.append(jobs.remaining(max(0, offer.all - offer.done) / offer.rate))
    return "  ".join(parts)


def _packages_progress(step: PackagesAdvanced | None) -> str:
    parts = [_("Installing what search by meaning needs")]
    if step is not None:
        parts.append(clean(_(STEPS[step.step]).format(package=step.package)).strip())
        if step.all:
            parts.append(f"{step.done}/{step.all}")
    return "  ".join(parts)


def _megabytes(said: str, offer: Offer) -> str:
    done, all = f"{offer.done / _MB:,.0f}", f"{offer.all / _MB:,.0f}"
    return said.format(models=_listed(offer), done=done, all=all, **_keys())


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / _MB:.1f} MB"


def _listed(offer: Offer) -> str:
    """The models' names without their makers'."""
    return clean(", ".join(name.rpartition("/")[2] for name in offer.names))


def _due(runtime: "Runtime") -> list[Neural]:
    """The models that the settings name, that the manifest offers, and that are not here."""
    named = [manifest.neural(runtime.models.chosen(kind)) for kind in (ENCODER, RERANKER)]
    return [one for one in named if one and runtime.models.state(one.name).status != "here"]


def _sized(runtime: "Runtime", due: list[Neural], state: background.State) -> Offer:
    done = sum(runtime.models.state(one.name).bytes for one in due)
    left = sum(runtime.models.due_bytes(one) for one in due)
    offer = Offer(state, names=tuple(one.name for one in due), done=done, all=done + left)
    return _with_packages(runtime, offer) if _lacks_packages(runtime) else offer


def _with_packages(runtime: "Runtime", offer: Offer) -> Offer:
    """The offer with what the packages take, and whether the program can install them."""
    from subtitle_rag.installation.run import PackageInstaller

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


class Run(background.Run[Offer]):
    """Brings what is not here, packages first; what has arrived at a halt is kept."""

    stage: ClassVar[background.Stage] = "offer"

    def __init__(self, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]") -> None:
        super().__init__(runtime, doors, post)
        self._progress = Offer()
        self._past: deque[tuple[float, int]] = deque()

    def _work(self) -> None:
        due = _due(self._runtime)
        if _lacks_packages(self._runtime):
            self._install_packages(due)
        for at, model in enumerate(due):
            others = replace(_sized(self._runtime, due[at + 1 :], "working"), taken=at)
            self._progress = replace(_sized(self._runtime, due[at:], "working"), taken=at)
            self._report(now=True)
            self._past.clear()
            with closing(self._runtime.models.fetch(model.name, self._stop_work)) as events:
                for event in events:
                    if isinstance(event, ModelFetching):
                        self._arrived(event, others)
            self._progress = replace(others, taken=at + 1)
            if self._halted:
                return
            if others.names:
                self._report(now=True)

    def _install_packages(self, due: list[Neural]) -> None:
        from subtitle_rag.installation.run import PackageInstaller

        self._progress = _sized(self._runtime, due, "working")
        self._report(now=True)
        installer = PackageInstaller(self._runtime.settings.paths.cache, self._stop_work)
        with closing(installer.add(NEURAL)) as events:
            for event in events:
                if isinstance(event, PackagesAdvanced):
                    self._progress = replace(self._progress, step=event)
                    self._report()
        self._progress = replace(_sized(self._runtime, due, "working"), taken=0 if due else 1)

    def _arrived(self, event: ModelFetching, others: Offer) -> None:
        now = time.monotonic()
        done, all = others.done + event.done_bytes, others.all + event.all_bytes
        self._past.append((now, done))
        while now - self._past[0][0] > PACE_S and len(self._past) > 2:
            self._past.popleft()
        began, before = self._past[0]
        rate = (done - before) / (now - began) if now - began >= LEAST_S and done > before else None
        self._progress = replace(self._progress, done=done, all=all, rate=rate)
        self._report()
