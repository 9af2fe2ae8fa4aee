"""What an installer is doing, in a few words for people."""

from subtitle_rag.events import PackagesAdvanced
from subtitle_rag.i18n import N_, _

_STEPS = {
    "resolving": N_("choosing versions {package}"),
    "fetching": N_("fetching {package}"),
    "installing": N_("installing"),
}


def step_text(event: PackagesAdvanced) -> str:
    """Say the step, with the package that it is at."""
    return _(_STEPS[event.step]).format(package=event.package).strip()
