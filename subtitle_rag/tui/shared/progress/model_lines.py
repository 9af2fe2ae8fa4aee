"""Lines about the packages and models for search by meaning."""

from typing import NamedTuple

from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import _, in_language
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.progress.offers import ModelDownload, StepOffer, without_owner
from subtitle_rag.tui.shared.progress.stage import Stages
from subtitle_rag.tui.shared.progress.stage_lines import failure_line, stage_parts
from subtitle_rag.youtube.estimate import time_text

RESUMABLE = frozenset({"hub_unreachable"})
"""Failures that the user can simply resume from."""


class InstallWay(NamedTuple):
    """A way to run search by meaning on this computer."""

    name: str
    title: str
    detail: str
    gain: str = ""


IN_PROCESS = "packages"
"""The configured models run in a process of this program."""
THROUGH_OLLAMA = "ollama"
"""Ollama runs the encoder; there is no reranker."""


def install_ways(offer: ModelDownload) -> list[InstallWay]:
    """Return the ways that the program can take alone, steps by name; empty if the user must type a command."""
    ways = [_step_way(each, offer) for each in offer.steps if not each.by_hand]
    if encoder := offer.through_ollama:
        template = _("{model}, already here") if encoder.is_pulled else "{model} {size}"
        detail = template.format(model=without_owner(encoder.name), size=byte_size(encoder.disk_gb * 1e9))
        ways.insert(0, InstallWay(THROUGH_OLLAMA, _("Through Ollama, without extra packages"), detail))
    if ways or offer.steps or offer.by_hand:
        return ways
    detail = _sizes(offer.packages, offer.due_bytes if offer.names else 0)
    return [InstallWay(IN_PROCESS, _("On this computer, in a process of this program"), detail)]


def _step_way(each: StepOffer, offer: ModelDownload) -> InstallWay:
    detail = _sizes(each.packages, each.bytes)
    if each.seconds:
        detail += " · " + _("{time} for this library").format(time=time_text(each.seconds))
    title = in_language(each.step.title)
    if each is offer.recommended:
        title = _("{step} (recommended)").format(step=title)
    return InstallWay(each.step.name, title, detail, in_language(each.step.gain))


def _sizes(packages: int, models: int) -> str:
    parts = [_("packages {size}").format(size=byte_size(packages * 1_000_000))] if packages else []
    return " · ".join([*parts, *([_("models {size}").format(size=byte_size(models))] if models else [])])


def _keys() -> dict[str, str]:
    return {"key": key("models.fetch"), "away": key("models.dismiss")}


def offer_line(stages: Stages) -> str:
    """Return what a model could add to the search: descriptions, else meaning; empty without an offer."""
    contexts = stages.get("contexts")
    if contexts and contexts.state == "offered" and contexts.offer:
        template = _("Find more scenes by AI descriptions: {key} ({size}) · hide: {away}")
        return template.format(key=key("library.background"), size=contexts.offer.sentence, away=key("models.dismiss"))
    return download_line(ModelDownload.among(stages))


def download_line(offer: ModelDownload | None) -> str:
    """Return the line for all screens; empty without news."""
    match offer:
        case ModelDownload(state="offered", steps=[_, *_], through_ollama=None):
            template = _("Search by meaning, too: {key} installs it ({size}), {away} hides this.")
            return template.format(size=byte_size(_due_bytes(offer)), **_keys())
        case ModelDownload(state="offered" | "paused", packages=packages) if packages:
            return _packages_line(offer)
        case ModelDownload(state="offered"):
            template = _(
                "Search by meaning, too: {key} fetches {models} ({size}) onto this computer, {away} hides this."
            )
            return template.format(models=_listed(offer), size=byte_size(offer.due_bytes), **_keys())
        case ModelDownload(state="working" | "asking"):
            return "  ".join((*stage_parts(offer), _("{key} stops").format(**_keys())))
        case ModelDownload(state="paused"):
            template = _("{models}: {done} of {all} fetched. {key} fetches the rest, {away} hides this.")
            return _megabytes(template, offer)
        case ModelDownload(state="failed", error=error) if error:
            hint = _("What has arrived is kept.") if error.code in RESUMABLE else error.hint
            return failure_line(error, hint, "models.fetch")
        case ModelDownload(state="elsewhere"):
            return _("Another subtitle-rag is fetching {models}.").format(models=_listed(offer))
    return ""


def _packages_line(offer: ModelDownload) -> str:
    template = _("Search by meaning, too: {key} installs it ({size}), {away} hides this.")
    if offer.state == "paused":
        template = _("Installation of search by meaning stopped. {key} resumes, {away} hides this.")
    elif encoder := offer.through_ollama:
        template = _("Search by meaning, too, by Ollama: {key} fetches {model} ({size}), {away} hides this.")
        if encoder.is_pulled:
            template = _("Search by meaning, too, by Ollama, which has {model}: {key} begins, {away} hides this.")
        size = byte_size(encoder.disk_gb * 1e9)
        return template.format(model=without_owner(encoder.name), size=size, **_keys())
    return template.format(size=byte_size(_due_bytes(offer)), **_keys())


def _due_bytes(offer: ModelDownload) -> int:
    """Return the bytes of packages and models to download for the recommended way."""
    if offer.steps:
        return (offer.recommended or offer.steps[0]).all_bytes
    return offer.packages * 1_000_000 + offer.due_bytes


def download_size(offer: ModelDownload) -> str:
    packages = _("packages and models, {size} onto this computer")
    template = packages if offer.packages or offer.steps else _("{models}, {size} onto this computer")
    return template.format(models=_listed(offer), size=byte_size(_due_bytes(offer)))


def _megabytes(template: str, offer: ModelDownload) -> str:
    progress = offer.progress or Progress("models")
    done, all = byte_size(progress.done), byte_size(progress.total)
    return template.format(models=_listed(offer), done=done, all=all, **_keys())


def _listed(offer: ModelDownload) -> str:
    """Return the models' names without their makers'."""
    return clean(offer.model_names)
