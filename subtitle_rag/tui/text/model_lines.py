"""What the screens say of the packages and models for search by meaning."""

from dataclasses import dataclass

from subtitle_rag.events import PackagesAdvanced
from subtitle_rag.i18n import _
from subtitle_rag.installation.steps import step_text
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.model_offer import ModelDownload
from subtitle_rag.tui.text import pace

KEPT = frozenset({"hub_unreachable", "hub_busy", "download_damaged"})
"""Failures after which nothing is to be done but to go on."""
_MB = 1e6


@dataclass(frozen=True, slots=True)
class InstallWay:
    """A way in which search by meaning can be had here."""

    name: str
    title: str
    detail: str


IN_PROCESS = "packages"
"""Encoder and reranker run in a process of this program, by PyTorch."""


def ways(offer: ModelDownload) -> tuple[InstallWay, ...]:
    """The ways from which a user chooses; none where the program does not install packages by itself."""
    if offer.by_hand:
        return ()
    size = _("packages {size}").format(size=_size(offer.packages * 1_000_000))
    if offer.names:
        size += " · " + _("models {size}").format(size=_size(offer.all - offer.done))
    return (InstallWay(IN_PROCESS, _("On this computer, in a process of this program"), size),)


def _keys() -> dict[str, str]:
    """What fetches and stops, and what puts the offer away."""
    return {"key": key("models.fetch"), "away": key("models.dismiss")}


def line(offer: ModelDownload | None) -> str:
    """What the screens say of it; empty where there is nothing to tell."""
    match offer:
        case ModelDownload(state="offered" | "paused", packages=packages) if packages:
            return _packages_line(offer)
        case ModelDownload(state="offered"):
            said = _(
                "Scenes can be found by what they mean, too: {key} fetches {models} ({size}) onto this computer, "
                "{away} puts this away."
            )
            return said.format(models=_listed(offer), size=_size(offer.all - offer.done), **_keys())
        case ModelDownload(state="working" | "asking"):
            return "  ".join((brief(offer), _("{key} stops").format(**_keys())))
        case ModelDownload(state="paused"):
            said = _("{done} of {all} MB of {models} are here; {key} fetches the rest, {away} puts this away.")
            return _megabytes(said, offer)
        case ModelDownload(state="failed", error=error) if error:
            then = _("What has arrived is kept.") if error.code in KEPT else error.hint
            return clean(f"! {error.message} {then}  " + _("{key} tries again").format(**_keys()))
        case ModelDownload(state="elsewhere"):
            return _("Another subtitle-rag is fetching {models}.").format(models=_listed(offer))
    return ""


def _packages_line(offer: ModelDownload) -> str:
    """What is said where packages are missing, and perhaps models."""
    said = _(
        "Scenes can be found by what they mean, too: {key} installs what that needs ({size}), {away} puts this away."
    )
    if offer.state == "paused":
        said = _("Installing what search by meaning needs has stopped; {key} goes on, {away} puts this away.")
    return said.format(size=_size(_due_bytes(offer)), **_keys())


def _due_bytes(offer: ModelDownload) -> int:
    """Of packages and models."""
    return offer.packages * 1_000_000 + offer.all - offer.done


def size(offer: ModelDownload) -> str:
    """What is to be fetched, and how much."""
    if offer.packages:
        return _("packages and models, {size} onto this computer").format(size=_size(_due_bytes(offer)))
    return _("{models}, {size} onto this computer").format(models=_listed(offer), size=_size(offer.all - offer.done))


def brief(offer: ModelDownload) -> str:
    """How far it has come, how fast it is, and how long it still takes."""
    if offer.packages:
        return _packages_progress(offer.step)
    parts = [_megabytes(_("Fetching {models}  {done}/{all} MB"), offer)]
    if offer.rate:
        parts.append(_("{rate} MB/s").format(rate=f"{offer.rate / _MB:.1f}"))
        parts.append(pace.remaining(max(0, offer.all - offer.done) / offer.rate))
    return "  ".join(parts)


def _packages_progress(step: PackagesAdvanced | None) -> str:
    parts = [_("Installing what search by meaning needs")]
    if step is not None:
        parts.append(clean(step_text(step)))
        if step.all:
            parts.append(f"{step.done}/{step.all}")
    return "  ".join(parts)


def _megabytes(said: str, offer: ModelDownload) -> str:
    done, all = f"{offer.done / _MB:,.0f}", f"{offer.all / _MB:,.0f}"
    return said.format(models=_listed(offer), done=done, all=all, **_keys())


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / _MB:.1f} MB"


def _listed(offer: ModelDownload) -> str:
    """The models' names without their makers'."""
    return clean(", ".join(name.rpartition("/")[2] for name in offer.names))
