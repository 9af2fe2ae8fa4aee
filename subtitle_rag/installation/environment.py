"""How this copy of the program was installed: by which installer, into which environment, from where."""

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
"""`uvx` stands for every environment that goes by itself, `system` for a Python that is not this program's own."""


@dataclass(frozen=True, slots=True)
class Origin:
    """From where the distribution came (PEP 610); without a URL from an index."""

    url: str = ""
    editable: bool = False

    @property
    def path(self) -> Path | None:
        """The folder or file, where it came from this computer."""
        parts = urlsplit(self.url)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    @property
    def is_here(self) -> bool:
        """It can be installed from there again; nothing is asked of a network."""
        return self.path is None or self.path.exists()

    def requirement(self, *extras: str) -> str:
        """The distribution with these extras, as installers take it."""
        named = f"[{','.join(sorted(extras))}]" if extras else ""
        if not self.url:
            return PACKAGE + named
        if self.path and self.path.is_dir():
            return f"{self.path}{named}"
        return f"{PACKAGE}{named} @ {self.url}"

    def arguments(self, *extras: str) -> list[str]:
        """The arguments of an installer for that requirement."""
        is_linked = self.editable and self.path and self.path.is_dir()
        return [*(["--editable"] if is_linked else []), self.requirement(*extras)]


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment that holds this copy."""

    installer: Installer
    prefix: Path
    python: Path
    origin: Origin = field(default_factory=Origin)
    uses_uv: bool = False
    """uv has made it: pipx may have uv do its work, and not all that pass are uv's."""
    extras: tuple[str, ...] = ()
    """That the installer has on record for the distribution."""
    companions: tuple[str, ...] = ()
    """Further requirements that the installer has on record (`uv tool install --with`)."""
    request: str = ""
    """The Python that the installer has on record as asked for."""
    externally_managed: bool = False
    """PEP 668: pip refuses to install into it."""

    @property
    def repository(self) -> Path | None:
        """The clone whose scripts made this environment."""
        root = self.origin.path
        if self.installer != "pip" or root is None or not self.origin.editable:
            return None
        if self.prefix.resolve() != (root / ".venv").resolve():
            return None
        return root if (root / "scripts" / "start").is_file() else None

    @property
    def has_uv(self) -> bool:
        """uv installs into it: it takes a build of PyTorch without CUDA when it is told to."""
        return self.installer in ("uv", "uv tool") or (self.installer == "pipx" and self.uses_uv)


def current() -> Environment:
    """The environment of this process."""
    has_pip = find_spec("pip") is not None
    return find(Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable), _origin(), has_pip=has_pip)


def find(
    prefix: Path, base_prefix: Path, python: Path, origin: Origin | None = None, *, has_pip: bool = True
) -> Environment:
    """Tell an environment by the files that installers leave in it; `python` is its interpreter."""
    origin = origin or Origin()
    config = _pyvenv(prefix)
    if prefix == base_prefix or config is None:
        return Environment("system", prefix, python, origin, externally_managed=_is_managed(prefix))
    if _is_passing(prefix, config):
        return Environment("uvx", prefix, python, origin, uses_uv="uv" in config)
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file():
        extras, companions, request = _recorded(receipt)
        return Environment("uv tool", prefix, python, origin, extras=extras, companions=companions, request=request)
    pipx = prefix / "pipx_metadata.json"
    if pipx.is_file():
        return Environment("pipx", prefix, python, origin, uses_uv=_json(pipx).get("backend") == "uv")
    if "uv" in config or not has_pip:
        return Environment("uv", prefix, python, origin)
    return Environment("pip", prefix, python, origin)


def program(name: str) -> str | None:
    """The path of an installer: also where a desktop starts the program without the shell's PATH."""
    home = Path.home()
    places = [os.environ.get("PATH", os.defpath), str(home / ".local" / "bin"), str(home / ".cargo" / "bin")]
    return shutil.which(name, path=os.pathsep.join(places))


def _origin() -> Origin:
    try:
        text = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    return origin_of(text)


def origin_of(direct_url: str | None) -> Origin:
    """What `direct_url.json` says; an index where there is none, or where it cannot be read."""
    try:
        told = json.loads(direct_url or "{}")
        url = str(told.get("url", ""))
        vcs = told.get("vcs_info")
        if vcs:
            url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
        if told.get("subdirectory"):
            url += f"#subdirectory={told['subdirectory']}"
        return Origin(url, bool(told.get("dir_info", {}).get("editable")))
    except (ValueError, AttributeError, KeyError, TypeError):
        return Origin()


def _pyvenv(prefix: Path) -> dict[str, str] | None:
    """The keys of `pyvenv.cfg`; None where the prefix is no virtual environment."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return {key.strip().lower(): value.strip() for key, _sign, value in (line.partition("=") for line in lines)}


def _is_passing(prefix: Path, config: dict[str, str]) -> bool:
    """Whether the environment lies in a cache, as those of `uvx`, `uv run --with` and `pipx run` do."""
    if "extends-environment" in config or (prefix / "pipx_expired_venv").exists() or prefix.parent.name == ".cache":
        return True
    folders = prefix.parents if "uv" in config else [prefix.parent]
    return any((folder / "CACHEDIR.TAG").is_file() for folder in folders)


def _is_managed(prefix: Path) -> bool:
    """PEP 668: the file lies in the standard library's folder."""
    return any(prefix.glob("lib*/python3*/EXTERNALLY-MANAGED")) or (prefix / "Lib" / "EXTERNALLY-MANAGED").is_file()


def _recorded(receipt: Path) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The extras, the further requirements and the Python that uv has on record for a tool."""
    try:
        tool = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]
        own = [entry for entry in tool["requirements"] if entry["name"] == PACKAGE]
        extras = tuple(str(extra) for entry in own for extra in entry.get("extras", ()))
        others = tuple(_companion(entry) for entry in tool["requirements"] if entry["name"] != PACKAGE)
        return extras, others, str(tool.get("python", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return (), (), ""


def _companion(entry: dict[str, Any]) -> str:
    """A requirement of uv's record, as uv takes it."""
    named = entry["name"] + (f"[{','.join(entry['extras'])}]" if entry.get("extras") else "")
    place = next((str(entry[kind]) for kind in ("path", "directory", "editable") if kind in entry), "")
    if "git" in entry:
        place = f"git+{entry['git']}"
    return f"{named} @ {place or entry['url']}" if place or "url" in entry else named + entry.get("specifier", "")


def _json(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
