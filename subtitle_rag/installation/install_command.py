"""The command that installs an extra or updates a package, by what made this environment; users read it as a line.

The program runs the same command (`PackageInstaller`), unless the environment is temporary or the system's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from subtitle_rag.domain import AppError
from subtitle_rag.i18n import _
from subtitle_rag.installation.extras import EXTRAS, NEURAL, PACKAGE, Extra, requirements, wants_cpu_build
from subtitle_rag.platforms import command_line

if TYPE_CHECKING:
    from subtitle_rag.installation.environment import Environment

TORCH_PAGE = "https://pytorch.org/get-started/locally/"
CPU_BUILD = ("--torch-backend", "cpu")


@dataclass(frozen=True, slots=True)
class InstallCommand:
    """A command that changes packages; `variables` are its own environment variables."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        variables = [f"{name}={value}" for name, value in self.variables.items()]
        return " ".join([*variables, command_line(self.arguments)])


def require_extra(extra: Extra) -> None:
    """Raise unless the extra is installed.

    Raises:
        AppError: `meaning_missing`, `neural_missing`, `server_missing`, `eval_missing`, `web_missing`,
            `pictures_missing`, `mcp_missing`, `listen_missing` or `youtube_missing`, with the line that installs it.
    """
    if not extra.is_installed:
        raise missing_extra(extra)


def missing_extra(extra: Extra) -> AppError:
    """Return the failure for want of an extra, with the line that installs it."""
    return AppError(extra.code, line=install_steps(extra))


def install_steps(extra: Extra, environment: "Environment | None" = None) -> str:
    """Return what to type for an extra: the program's own command, or if that would be refused, what it would say."""
    refusal = add_refusal(extra, environment)
    return str(refusal.details["line"]) if refusal else f"{PACKAGE} self add {extra.name}"


def add_refusal(extra: Extra, environment: "Environment | None" = None) -> AppError | None:
    """Return the reason why the program cannot add an extra itself, with what to type; None if it can."""
    from subtitle_rag.installation.environment import current_environment

    environment = environment or current_environment()
    command = extra_command(extra, environment)
    line, brings_cuda = command.line, extra is NEURAL and _brings_cuda(command, environment)
    if brings_cuda:
        sentence = _(
            "first PyTorch without the gigabytes of CUDA, by the line that {page} shows for CPU, run with {python}; "
            "then {line}"
        )
        line = sentence.format(page=TORCH_PAGE, python=environment.python, line=line)
    if not environment.is_writable:
        return AppError("packages_refused", line=line)
    return AppError("packages_cuda", line=line) if brings_cuda else None


def _brings_cuda(command: InstallCommand, environment: "Environment") -> bool:
    """Whether pip would install PyTorch with CUDA in vain, which only uv can leave out."""
    uses_pip = command.arguments[1:3] == ("-m", "pip") or (environment.installer == "pipx" and not environment.uses_uv)
    return uses_pip and wants_cpu_build() and find_spec("torch") is None


def extra_command(extra: Extra, environment: "Environment") -> InstallCommand:
    """Return the command that adds an extra.

    An installer gets the extra's packages and not the program with its extra, which it might replace while it runs. A
    tool of uv's is named with all of its extras: `uv tool upgrade` deletes what its record does not name.
    """
    from subtitle_rag.installation.environment import program

    torch = CPU_BUILD if extra is NEURAL and wants_cpu_build() else ()
    origin, packages = environment.origin, tuple(map(str, requirements(extra.name)))
    by_uv = ("uv", "pip", "install", "--python", str(environment.python), *torch, *packages)
    match environment.installer:
        case "uvx" if environment.uses_uv or torch:
            return InstallCommand(("uvx", *torch, "--from", origin.requirement(extra.name), PACKAGE))
        case "uvx":
            return InstallCommand(("pipx", "run", "--spec", origin.requirement(extra.name), PACKAGE))
        case "system" if environment.is_externally_managed:
            installer = ("uv", "tool", "install", *torch) if torch else ("pipx", "install")
            return InstallCommand((*installer, *origin.arguments(extra.name)))
        case "pipx":
            variables = {"UV_TORCH_BACKEND": "cpu"} if torch and environment.uses_uv else {}
            return InstallCommand(("pipx", "inject", environment.prefix.name, *packages), variables)
        case "uv tool" if origin.is_here:
            arguments = origin.arguments(*{*environment.extras, extra.name})
            return InstallCommand(("uv", "tool", "install", *torch, *environment.tool_options, *arguments))
        case "uv" | "uv tool":
            return InstallCommand(by_uv)
        case "pip" if torch and program("uv"):
            return InstallCommand(by_uv)
        case _:
            return InstallCommand((str(environment.python), "-m", "pip", "install", *packages))


def upgrade_command(package: str, environment: "Environment") -> InstallCommand:
    """Return the command that brings the newest version of one package, with the extras that ours want of it."""
    python, requirement = str(environment.python), _with_extras(package)
    match environment.installer:
        case "uv" | "uv tool":
            return InstallCommand(
                ("uv", "pip", "install", "--python", python, "--upgrade-package", package, requirement)
            )
        case "uvx" if environment.uses_uv:
            return InstallCommand(("uvx", "--refresh", "--from", environment.origin.requirement(), PACKAGE))
        case "uvx":
            return InstallCommand(("pipx", "run", "--no-cache", "--spec", environment.origin.requirement(), PACKAGE))
        case "pipx":
            return InstallCommand(("pipx", "runpip", environment.prefix.name, "install", "--upgrade", requirement))
        case "system" if environment.is_externally_managed:
            return InstallCommand(("pipx", "install", *environment.origin.arguments()))
        case _:
            return InstallCommand((python, "-m", "pip", "install", "--upgrade", requirement))


def upgrade_line(package: str) -> str:
    """Return the line that brings the newest version of one package into this copy's environment."""
    from subtitle_rag.installation.environment import current_environment

    return upgrade_command(package, current_environment()).line


def _with_extras(package: str) -> str:
    """Return a package with the extras that our installed extras want of it, as the extra `youtube` of yt-dlp."""
    installed = [each for extra in EXTRAS.values() if extra.is_installed for each in requirements(extra.name)]
    names = sorted({name for each in installed if each.name == package for name in each.extras})
    return f"{package}[{','.join(names)}]" if names else package
