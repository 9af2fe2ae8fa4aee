"""Plug-ins from other distributions, through entry points in their metadata.

A distribution names a part in its `pyproject.toml`, and is installed in the same environment:

    [project.entry-points."subtitle_rag.export_formats"]
    titles = "my_package:TITLES"

A part that cannot be loaded raises `plugin_broken`, and the others still work.
"""

import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from subtitle_rag.base.domain.errors import AppError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger(__name__)

EXPORT_FORMATS = "subtitle_rag.export_formats"
"""Group of `subtitle_rag.ExportFormat`s; the name is the value of `export --format` and the file extension."""
ENCODERS = "subtitle_rag.encoders"
"""Group of `EncoderSource`s, such as `subtitle_rag.TextEncoder`; the name is that of `encoder` under `[models]`."""
GROUPS = (EXPORT_FORMATS, ENCODERS)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OwnPart:
    """An entry point of a checkout: a search needs one, and `importlib.metadata` takes 30 ms to import."""

    name: str
    value: str

    @property
    def dist(self) -> None:
        return None

    def load(self) -> Any:
        module, _colon, attribute = self.value.partition(":")
        return getattr(import_module(module), attribute)


def plugin_names(group: str) -> tuple[str, ...]:
    """Return the names of a group's parts, without importing any."""
    return tuple(point.name for point in _points(group))


def is_built_in(group: str, name: str) -> bool:
    """Return whether a part belongs to this program; other distributions cannot take its names."""
    return any(point.name == name for point in _own_points(group, tuple(sys.path)))


def load_plugin(group: str, name: str, kind: type[T] | tuple[type[T], ...]) -> T | None:
    """Import the part of this name; None if no distribution has it.

    Raises:
        AppError: `plugin_broken` if it fails or is not a `kind`.
    """
    every = (points for read in (_own_points, _points_at) for points in read(group, tuple(sys.path)))
    point = next((point for point in every if point.name == name), None)
    if point is None:
        return None
    try:
        value = point.load()
    except Exception as error:  # whatever another's code raises
        logger.warning("the plug-in %s of %s cannot be loaded", name, group, exc_info=True)
        raise plugin_failure(group, name, error) from error
    if not isinstance(value, kind):
        raise _broken(point, f"{point.value} = {type(value).__name__}")  # its entry point and the actual type
    return value


def plugin_failure(group: str, name: str, error: Exception) -> AppError:
    """Return an exception from a plug-in's own code as `plugin_broken`."""
    point = next(point for point in _points(group) if point.name == name)
    return _broken(point, f"{type(error).__name__}: {error}")


def _points(group: str) -> "tuple[EntryPoint | OwnPart, ...]":
    return _points_at(group, tuple(sys.path))


@lru_cache
def _points_at(group: str, _path: tuple[str, ...]) -> "tuple[EntryPoint | OwnPart, ...]":
    """Return the entry points of a group, each name once; cached, as reading all metadata takes 0.1 s."""
    from importlib.metadata import entry_points

    others = [point for point in entry_points(group=group) if not _is_own(point)]
    by_name = {point.name: point for point in (*reversed(others), *_own_points(group, _path))}
    return tuple(by_name[name] for name in sorted(by_name))


@lru_cache
def _own_points(group: str, _path: tuple[str, ...]) -> "tuple[EntryPoint | OwnPart, ...]":
    """Return this program's entry points, from its own metadata alone."""
    if points := tuple(_of_checkout(group)):
        return points
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return tuple(distribution("subtitle-rag").entry_points.select(group=group))
    except PackageNotFoundError:
        return ()


def _is_own(point: "EntryPoint") -> bool:
    return point.module.startswith(f"{__package__}.")


def _of_checkout(group: str) -> Iterator[OwnPart]:
    """Yield the entry points in a checkout's pyproject.toml: an editable installation may have outdated ones."""
    import tomllib

    file = Path(__file__).parents[1] / "pyproject.toml"
    if file.is_file():
        project = tomllib.loads(file.read_text("utf-8")).get("project", {})
        own = project.get("entry-points", {}) if project.get("name") == "subtitle-rag" else {}
        yield from (OwnPart(name, value) for name, value in own.get(group, {}).items())


def _broken(point: "EntryPoint | OwnPart", reason: str) -> AppError:
    package = point.dist.name if point.dist else "?"
    return AppError("plugin_broken", name=point.name, package=package, reason=reason)
