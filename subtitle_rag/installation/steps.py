"""The step of an installer, in a few words."""

from subtitle_rag.domain import PackagesAdvanced
from subtitle_rag.i18n import N_, _

_STEPS = {
    "resolving": N_("choosing versions {package}"),
    "fetching": N_("fetching {package}"),
    "installing": N_("installing"),
}


def step_text(event: PackagesAdvanced) -> str:
    """Return the step, with its package."""
    return _(_STEPS[event.step]).format(package=event.package).strip()
