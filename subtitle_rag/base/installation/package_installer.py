"""Installation of an extra: into this copy's virtual environment, or by a command for the user to type."""

import importlib
import json
import logging
import os
import shutil
import sys
import threading
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.installation.extras import EXTRAS, NEURAL, PACKAGE, Extra, requirements, wants_cpu_build
from subtitle_rag.base.platforms import command_line

if TYPE_CHECKING:
    import subprocess

logger = logging.getLogger(__name__)

TORCH_PAGE = "https://pytorch.org/get-started/locally/"
CPU_BUILD = ("--torch-backend", "cpu")
POLL_S = 0.2
"""Interval of checks for the installer's end."""
_FAILURES = ("ERROR:", "error:", "×")
"""First words of lines with a failure of pip or uv."""

Owner = Literal["own", "pipx", "uv tool", "cache", "system"]


def environment_owner() -> Owner:
    """Return the tool that manages this environment, judging by its files; `cache` is `uvx` or `pipx run`."""
    prefix = Path(sys.prefix)
    if sys.prefix == sys.base_prefix:
        return "system"
    if prefix.parent.name == ".cache" or any((folder / "CACHEDIR.TAG").is_file() for folder in prefix.parents):
        return "cache"
    if (prefix / "uv-receipt.toml").is_file():
        return "uv tool"
    return "pipx" if (prefix / "pipx_metadata.json").is_file() else "own"


def require_extra(extra: Extra) -> None:
    """Raise unless the extra is installed.

    Raises:
        AppError: `missing_extra`, with the command that installs it.
    """
    if not extra.is_installed:
        raise missing_extra(extra)


def missing_extra(extra: Extra) -> AppError:
    """Return the error for a missing extra, with the command that installs it."""
    return AppError("missing_extra", purpose=_(extra.purpose), extra=extra.name, line=install_steps(extra))


def install_steps(extra: Extra) -> str:
    """Return what to type to install an extra: the program's own command, or another if that would refuse."""
    refusal = install_refusal(extra)
    return str(refusal.details["line"]) if refusal else f"{PACKAGE} self add {extra.name}"


def install_refusal(extra: Extra) -> AppError | None:
    """Return why the program cannot install an extra itself, with what to type; None if it can."""
    command = _install_command(extra)
    line, by_pip = command_line(command), command[1:3] == ("-m", "pip")
    if _wants_cpu_torch(extra) and CPU_BUILD[0] not in command:  # only uv can leave CUDA out
        sentence = _(
            "first PyTorch without the gigabytes of CUDA, by the line that {page} shows for CPU, run with {python}; "
            "then {line}"
        )
        reason = _("by default pip installs PyTorch with CUDA, several gigabytes, but this computer has no GPU")
        return AppError(
            "packages_failed", reason=reason, line=sentence.format(page=TORCH_PAGE, python=sys.executable, line=line)
        )
    can_install = environment_owner() == "own" and (by_pip or _uv() is not None)
    reason = _("this copy of the program cannot install packages by itself")
    return None if can_install else AppError("packages_failed", reason=reason, line=line)


def install_packages(extra: Extra, stop: threading.Event | None = None) -> Generator[str, None, None]:
    """Install an extra into the program's environment; yield the installer's lines. Setting `stop` ends it.

    Raises:
        AppError: `packages_failed`, `interrupted`.
    """
    import subprocess

    if refusal := install_refusal(extra):
        raise refusal
    command, stop = _install_command(extra), stop or threading.Event()
    line = reason = ""
    logger.info("installer begins: %s", command_line(command))
    with subprocess.Popen(  # noqa: S603 - the installer, its options and names of packages
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", "NO_COLOR": "1", "PIP_NO_INPUT": "1"},
        encoding="utf-8",
        errors="replace",
    ) as process:
        threading.Thread(target=_end_when_set, args=(process, stop), daemon=True).start()
        try:
            for line in filter(None, map(str.strip, process.stdout or ())):
                reason = reason or (line if line.startswith(_FAILURES) else "")
                yield line
            status = process.wait()
        finally:
            process.terminate()
    if stop.is_set():
        raise AppError("interrupted")
    if status:
        logger.warning("installer ended with status %d: %s", status, reason or line)
        raise AppError("packages_failed", reason=(reason or line).rstrip("."), line=command_line(command))
    importlib.invalidate_caches()


def _end_when_set(process: "subprocess.Popen[str]", stop: threading.Event) -> None:
    while process.poll() is None:
        if stop.wait(POLL_S):
            process.terminate()
            return


def upgrade_line(package: str) -> str:
    """Return the command that upgrades one package, with the extras that we need of it."""
    texts = [each for extra in EXTRAS.values() if extra.is_installed for each in requirements(extra.name)]
    names = [name for name, _sign, _range in (each.partition(">") for each in texts)]
    named = next((name for name in names if name.partition("[")[0] == package), package)
    match environment_owner():
        case "pipx":
            return command_line(("pipx", "runpip", Path(sys.prefix).name, "install", "--upgrade", named))
        case "cache":
            return command_line(("uvx", "--refresh", "--from", _distribution(), PACKAGE))
    return command_line((*_installer(), "--upgrade", named))


def _install_command(extra: Extra) -> tuple[str, ...]:
    """Return the command that installs an extra.

    An installer gets the extra's packages rather than the program with its extra, because it might replace the running
    program. A uv tool is named with all its extras: `uv tool upgrade` deletes packages missing from its record.
    """
    torch = CPU_BUILD if _wants_cpu_torch(extra) else ()
    match environment_owner():
        case "uv tool":
            names = {extra.name, *(each.name for each in EXTRAS.values() if each.is_installed)}
            return ("uv", "tool", "install", *torch, _distribution(*sorted(names)))
        case "cache":
            return ("uvx", *torch, "--from", _distribution(extra.name), PACKAGE)
        case "pipx":
            return ("pipx", "inject", Path(sys.prefix).name, *requirements(extra.name))
        case "own" if torch and _uv():
            return (*_installer(by_uv=True), *torch, *requirements(extra.name))
    return (*_installer(), *requirements(extra.name))


def _installer(*, by_uv: bool = False) -> tuple[str, ...]:
    if by_uv or find_spec("pip") is None:
        return (_uv() or "uv", "pip", "install", "--python", sys.executable)
    return (sys.executable, "-m", "pip", "install")


def _uv() -> str | None:
    """Return the path of uv, even without the shell's PATH, as on a desktop."""
    home = Path.home()
    folders = [os.environ.get("PATH", os.defpath), str(home / ".local" / "bin"), str(home / ".cargo" / "bin")]
    return shutil.which("uv", path=os.pathsep.join(folders))


def _wants_cpu_torch(extra: Extra) -> bool:
    return extra is NEURAL and wants_cpu_build() and find_spec("torch") is None


def _distribution(*extras: str) -> str:
    """Return this copy's distribution with these extras, as a requirement with its origin (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution

    name = f"{PACKAGE}[{','.join(extras)}]" if extras else PACKAGE
    try:
        origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
        url = str(origin["url"])
        if vcs := origin.get("vcs_info"):
            url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    except (PackageNotFoundError, ValueError, KeyError, TypeError):  # it came from an index
        return name
    return f"{name} @ {url}"
