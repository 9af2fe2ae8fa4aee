"""Folder of a downloaded model: record of its files, lock, and disk errors."""

import errno
import hashlib
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from subtitle_rag.base.atomic_files import lock_file, replace_content
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.i18n import _
from subtitle_rag.models.manifest import HubModel

logger = logging.getLogger(__name__)

NAME = ".subtitle-rag.json"
_SCHEMA = 1
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of a model. `digest` is `sha256:…`, or `git:…` if the hub only has the file's Git blob id."""

    path: str
    bytes: int
    digest: str

    def has_length(self, folder: Path) -> bool:
        """Whether the file exists with the right length; its content is not read."""
        path = folder / self.path
        return path.is_file() and path.stat().st_size == self.bytes


@dataclass(frozen=True, slots=True)
class Record:
    """The files in a model's folder, or the files to download until it is `complete`."""

    name: str
    revision: str
    files: tuple[FileRecord, ...]
    complete: bool = False

    @property
    def id(self) -> str:
        """Return the id of the model's vectors: `bge-m3@5617a9f6`."""
        return f"{self.name.rpartition('/')[2]}@{self.revision[:8]}"

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @classmethod
    def read(cls, folder: Path) -> "Record | None":
        try:
            values = json.loads((folder / NAME).read_text(encoding="utf-8"))
            if values.pop("schema") != _SCHEMA:
                return None
            return cls(**{**values, "files": tuple(FileRecord(**file) for file in values["files"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            logger.info("the record of %s cannot be read", folder.name, exc_info=True)
            return None

    def write(self, folder: Path) -> None:
        """Replace the record atomically."""
        replace_content(folder / NAME, json.dumps({"schema": _SCHEMA, **asdict(self)}, indent=1).encode())


def digest(path: Path, method: str, stop: threading.Event | None = None) -> str:
    """Return the file's digest, by `sha256` or `git`. Raises AppError `interrupted` if `stop` is set."""
    if method == "git":
        hasher = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    else:
        hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            if stop is not None and stop.is_set():
                raise AppError("interrupted")
            hasher.update(block)
    return f"{method}:{hasher.hexdigest()}"


def matches(path: Path, file: FileRecord, stop: threading.Event | None = None) -> bool:
    """Whether a file of the right length has the right content."""
    return digest(path, file.digest.partition(":")[0], stop) == file.digest


def hold_model(folder: Path, model: HubModel) -> AbstractContextManager[object]:
    """Hold the model's lock across processes. Raises BusyError `busy` if another process has it."""
    busy = BusyError("busy", work=_("fetching or removing {name}").format(name=model.name), path=str(folder))
    return lock_file(folder / f".{model.folder}.lock", busy)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make the folder. Raises BusyError `disk_full` or `unwritable` for disk errors."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise BusyError("disk_full", path=str(folder)) from error
        raise BusyError("unwritable", path=str(folder), reason=error.strerror or str(error)) from error
