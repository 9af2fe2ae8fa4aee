"""Sentences on packages: lines to install or update them, the failure for want of an extra, an installer's step.

The lines are for the installer of this copy.
"""

import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.domain import AppError, PackagesAdvanced
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import NEURAL, PACKAGE, Extra, wants_cpu_build
from subtitle_rag.platforms import command_line

if TYPE_CHECKING:
    from subtitle_rag.installation.environment import Environment

TORCH_PAGE = "https://pytorch.org/get-started/locally/"
CPU_BUILD = ("--torch-backend", "cpu")
_STEPS = {
    "resolving": N_("choosing versions {package}"),
    "fetching": N_("fetching {package}"),
    "installing": N_("installing"),
}


def require_extra(extra: Extra) -> None:
    """Raise unless the extra is installed.

    Raises:
        AppError: `meaning_missing`, `neural_missing`, `server_missing`, `eval_missing`, `web_missing`,
            `pictures_missing`, `mcp_missing` or `youtube_missing`, with the line that installs it.
    """
    if not extra.is_installed:
        raise missing_extra(extra)


def missing_extra(extra: Extra) -> AppError:
    """Return the failure for want of an extra, with the line that installs it."""
    return AppError(extra.code, line=install_steps(extra))


def install_steps(extra: Extra, environment: "Environment | None" = None) -> str:
    """Return the line that installs an extra, with a first step if pip would bring CUDA in vain."""
    from subtitle_rag.installation.environment import current_environment

    environment = environment or current_environment()
    # the repository's script looks by itself what pip would take
    by_pip = environment.installer in ("pip", "pipx") and not environment.has_uv and environment.repository is None
    unmanaged = environment.installer == "system" and not environment.externally_managed
    if _takes_cpu_build(extra) and (by_pip or unmanaged) and find_spec("torch") is None:
        return cpu_instruction(extra, environment)
    return install_line(extra, environment)


def cpu_instruction(extra: Extra, environment: "Environment") -> str:
    """Return the line for pip, with PyTorch's CPU build first."""
    sentence = _(
        "first PyTorch without the gigabytes of CUDA, by the line that {page} shows for CPU, run with {python}; then "
        "{line}"
    )
    line = install_line(extra, environment)
    return sentence.format(page=TORCH_PAGE, python=environment.python, line=line)


def install_line(extra: Extra, environment: "Environment") -> str:
    if environment.repository is not None:
        return _repository_line(extra, environment.repository)
    torch = CPU_BUILD if _takes_cpu_build(extra) else ()
    origin = environment.origin
    # where the distribution can be had no more, the extra's own packages
    requirements = origin.arguments(extra.name) if origin.is_here else extra.requirements()
    match environment.installer:
        case "uv tool" if origin.is_here:
            return command_line(["uv", *tool_arguments(environment, extra, torch)])
        case "uvx" if environment.uses_uv or torch:
            return command_line(["uvx", *torch, "--from", origin.requirement(extra.name), PACKAGE])
        case "uvx":
            return command_line(["pipx", "run", "--spec", origin.requirement(extra.name), PACKAGE])
        case "pipx":
            line = command_line(["pipx", "inject", environment.prefix.name, *extra.requirements()])
            return f"UV_TORCH_BACKEND=cpu {line}" if torch and environment.uses_uv else line
        case "uv" | "uv tool":
            return command_line(["uv", "pip", "install", "--python", str(environment.python), *torch, *requirements])
        case "system" if environment.externally_managed and torch:
            return command_line(["uv", "tool", "install", *torch, *origin.arguments(extra.name)])
        case "system" if environment.externally_managed:
            return command_line(["pipx", "install", *origin.arguments(extra.name)])
        case _:
            return command_line([str(environment.python), "-m", "pip", "install", *requirements])


def tool_arguments(environment: "Environment", extra: Extra, options: Sequence[str] = ()) -> list[str]:
    """Return uv's arguments for its tool with one extra more; its records are kept."""
    request = ["--python", environment.request] if environment.request else []
    companions = [part for each in environment.companions for part in ("--with", each)]
    extras = {*environment.extras, extra.name}
    return ["tool", "install", *options, *request, *companions, *environment.origin.arguments(*extras)]


def upgrade_line(package: str, environment: "Environment | None" = None) -> str:
    """Return the line that brings the newest version of one package."""
    from subtitle_rag.installation.environment import current_environment

    environment = environment or current_environment()
    match environment.installer:
        case "uv" | "uv tool":
            return command_line(["uv", "pip", "install", "--python", str(environment.python), "--upgrade", package])
        case "uvx" if environment.uses_uv:
            return command_line(["uvx", "--refresh", "--from", environment.origin.requirement(), PACKAGE])
        case "uvx":
            return command_line(["pipx", "run", "--no-cache", "--spec", environment.origin.requirement(), PACKAGE])
        case "pipx":
            return command_line(["pipx", "runpip", environment.prefix.name, "install", "--upgrade", package])
        case "system" if environment.externally_managed:
            return command_line(["pipx", "install", *environment.origin.arguments()])
        case _:
            return command_line([str(environment.python), "-m", "pip", "install", "--upgrade", package])


def _takes_cpu_build(extra: Extra) -> bool:
    return extra is NEURAL and wants_cpu_build()


def _repository_line(extra: Extra, root: Path) -> str:
    script = f"cd {shlex.quote(str(root))} && ./scripts/start"
    return f"{script} --{extra.name}" if extra is NEURAL else f"{script} --with {extra.name}"


def step_text(event: PackagesAdvanced) -> str:
    """Return the step, with its package."""
    return _(_STEPS[event.step]).format(package=event.package).strip()
