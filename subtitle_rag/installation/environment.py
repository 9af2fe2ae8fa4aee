"""The environment of this copy: its installer, its folder, and the origin of the distribution."""

import json
import os
import shutil
import sys
import tomllib
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from subtitle_rag.installation.extras import PACKAGE

Installer = Literal["pip", "uv", "uv tool", "pipx", "uvx", "system"]
"""`uvx` stands for every temporary environment, `system` for a Python outside any environment."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of the distribution (PEP 610); without a URL, an index."""

    url: str = ""
    editable: bool = False

    @property
    def path(self) -> Path | None:
        """The folder or file of a local distribution."""
        parts = urlsplit(self.url)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    @property
    def is_here(self) -> bool:
        """Whether it can be installed from there again; nothing is sent over the network."""
        return self.path is None or self.path.exists()

    def requirement(self, *extras: str) -> str:
        """Return the distribution with these extras, as installers take it."""
        bracket = f"[{','.join(sorted(extras))}]" if extras else ""
        if not self.url:
            return PACKAGE + bracket
        if self.path and self.path.is_dir():
            return f"{self.path}{bracket}"
        return f"{PACKAGE}{bracket} @ {self.url}"

    def arguments(self, *extras: str) -> list[str]:
        """Return an installer's arguments for that requirement."""
        is_linked = self.editable and self.path and self.path.is_dir()
        return [*(["--editable"] if is_linked else []), self.requirement(*extras)]


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of this copy."""

    installer: Installer
    prefix: Path
    python: Path
    origin: Origin = field(default_factory=Origin)
    uses_uv: bool = False
    """uv made it: pipx may use uv, and a temporary environment may be pipx's."""
    extras: tuple[str, ...] = ()
    """Extras on the installer's record."""
    tool_options: tuple[str, ...] = ()
    """Options of `uv tool install` on its record: the requested Python, and further requirements."""
    is_externally_managed: bool = False
    """PEP 668: pip refuses to install into it."""

    @property
    def is_writable(self) -> bool:
        """Whether the program may change its packages, and its installer is here."""
        name = {"uv": "uv", "uv tool": "uv", "pipx": "pipx"}.get(self.installer, str(self.python))
        return self.installer not in ("uvx", "system") and program(name) is not None


def current_environment() -> Environment:
    """Return the environment of this process."""
    try:
        direct_url = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        direct_url = None
    folders = Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable)
    return find(*folders, origin_of(direct_url), has_pip=find_spec("pip") is not None)


def find(
    prefix: Path, base_prefix: Path, python: Path, origin: Origin | None = None, *, has_pip: bool = True
) -> Environment:
    """Recognise an environment by the files that installers leave in it; `python` is its interpreter."""
    origin = origin or Origin()
    config = _pyvenv(prefix)
    if prefix == base_prefix or config is None:
        pep_668 = [*prefix.glob("lib*/python3*/EXTERNALLY-MANAGED"), prefix / "Lib" / "EXTERNALLY-MANAGED"]
        is_managed = any(file.is_file() for file in pep_668)
        return Environment("system", prefix, python, origin, is_externally_managed=is_managed)
    if _is_temporary(prefix, config):
        return Environment("uvx", prefix, python, origin, uses_uv="uv" in config)
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file():
        extras, options = _read_receipt(receipt)
        return Environment("uv tool", prefix, python, origin, extras=extras, tool_options=options)
    if (prefix / "pipx_metadata.json").is_file():
        return Environment("pipx", prefix, python, origin, uses_uv="uv" in config)
    if "uv" in config or not has_pip:
        return Environment("uv", prefix, python, origin)
    return Environment("pip", prefix, python, origin)


def program(name: str) -> str | None:
    """Return the path of an installer, also without the shell's PATH, as on a desktop."""
    home = Path.home()
    folders = [os.environ.get("PATH", os.defpath), str(home / ".local" / "bin"), str(home / ".cargo" / "bin")]
    return shutil.which(name, path=os.pathsep.join(folders))


def origin_of(direct_url: str | None) -> Origin:
    """Parse `direct_url.json`; return an index for a missing or broken one."""
    try:
        values = json.loads(direct_url or "{}")
        url = str(values.get("url", ""))
        vcs = values.get("vcs_info")
        if vcs:
            url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
        if values.get("subdirectory"):
            url += f"#subdirectory={values['subdirectory']}"
        return Origin(url, bool(values.get("dir_info", {}).get("editable")))
    except (ValueError, AttributeError, KeyError, TypeError):
        return Origin()


def _pyvenv(prefix: Path) -> dict[str, str] | None:
    """Return the keys of `pyvenv.cfg`; None outside a virtual environment."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return {key.strip().lower(): value.strip() for key, _sign, value in (line.partition("=") for line in lines)}


def _is_temporary(prefix: Path, config: dict[str, str]) -> bool:
    """Whether the environment lies in a cache, as those of `uvx`, `uv run --with` and `pipx run` do."""
    if "extends-environment" in config or (prefix / "pipx_expired_venv").exists() or prefix.parent.name == ".cache":
        return True
    folders = prefix.parents if "uv" in config else [prefix.parent]
    return any((folder / "CACHEDIR.TAG").is_file() for folder in folders)


def _read_receipt(receipt: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the extras on uv's record for a tool, and its other options."""
    extras: list[str] = []
    options: list[str] = []
    try:
        tool = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]
        if tool.get("python"):
            options += ["--python", str(tool["python"])]
        for entry in tool["requirements"]:
            if entry["name"] == PACKAGE:
                extras += map(str, entry.get("extras", ()))
            else:
                options += ["--with", _requirement(entry)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return (), ()
    return tuple(extras), tuple(options)


def _requirement(entry: dict[str, Any]) -> str:
    """Return a requirement of uv's record as an argument for uv."""
    name = entry["name"] + (f"[{','.join(entry['extras'])}]" if entry.get("extras") else "")
    if "git" in entry:
        return f"{name} @ git+{entry['git']}"
    source = next((entry[kind] for kind in ("path", "directory", "editable", "url") if kind in entry), None)
    return f"{name} @ {source}" if source else name + str(entry.get("specifier", ""))
