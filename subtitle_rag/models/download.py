"""Downloads from the Hugging Face hub, resumable across processes.

`huggingface_hub` lists the files and fetches their bytes with `http_get`: its `snapshot_download` would restart every
file after the process ends. Bytes are appended to `NAME.<digest>.part`, which becomes the file once its digest matches
the hub's or the manifest's. Plain HTTP also serves files in Xet storage.
"""

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from subtitle_rag.base.atomic_files import replace_path
from subtitle_rag.base.domain.errors import AppError, BusyError, UsageError
from subtitle_rag.base.domain.events import ModelEvent, ModelFetched
from subtitle_rag.base.domain.progress import Pace, Progress
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import _
from subtitle_rag.base.installation.package_installer import require_extra
from subtitle_rag.models.manifest import HubModel
from subtitle_rag.models.record import FileRecord, Record, hold_model, matches, writing

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

logger = logging.getLogger(__name__)

RESERVE = 500_000_000
"""Bytes to leave free on the disk."""
MAX_FILES = 1_000
MAX_PATH = 200
_TIMEOUT = 30  # seconds without a byte of the list
_CHUNK = 1 << 18  # bytes between two events
_STOP_S = 0.1  # seconds between two checks of `stop`
_NO_ANSWER = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of the library when the answer is not the hub's, perhaps a login page."""
_LEAVE_S = 1.0
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def fetch(folder: Path, model: HubModel, stop: threading.Event | None = None) -> Generator[ModelEvent, None, None]:
    """Download a model's missing or damaged files into `folder`; the last event is ModelFetched.

    Existing files are verified; if all are intact, nothing is requested from the hub. `stop` ends the download between
    two chunks. `HF_ENDPOINT` names the hub, by default the public one.

    Raises:
        BusyError: a retry resumes: `hub_unreachable`, `disk_short`, `disk_full`, `unwritable`, `busy`.
        AppError: `missing_extra`, `hub_refused`, `model_changed`, `interrupted`.
        UsageError: `hub_refused` because of an environment variable.
    """
    require_extra(model.extra)
    with writing(folder), hold_model(folder, model):
        hub = _Hub(model)
        target = folder / model.folder
        record = Record.read(target)
        if record is None or _outdated(record, model):
            record = hub.listing()
        target.mkdir(exist_ok=True)
        yield from _Download(hub, target, record, stop or threading.Event()).events()


def _outdated(record: Record, model: HubModel) -> bool:
    """Whether the manifest has another revision, or a file missing from the record."""
    recorded = {file.path for file in record.files}
    required = {file.path for file in model.files if "*" not in file.path}
    return bool(model.revision and record.revision != model.revision) or not required <= recorded


@dataclass(slots=True)
class _Download:
    """The download of one model into its folder."""

    hub: "_Hub"
    target: Path
    record: Record
    stop: threading.Event
    done: int = 0
    """Bytes of complete files."""
    fetched: int = 0
    pace: Pace = field(default_factory=Pace)
    """Of the bytes that come over the network."""

    def events(self) -> Iterator[ModelEvent]:
        missing = []
        for file in self.record.files:
            if file.has_length(self.target) and matches(self.target / file.path, file, self.stop):
                self.done += file.bytes
                yield self._progress()
            else:
                missing.append(file)
        if missing:
            replace(self.record, complete=False).write(self.target)  # so that the next process resumes this revision
            self._check_disk(missing)
        for file in missing:
            yield from self._file(file)
            self.done += file.bytes
        for stray in self.target.rglob("*.part"):
            stray.unlink()
        replace(self.record, complete=True).write(self.target)
        yield ModelFetched(self.record.name, self.record.revision, self.record.bytes, self.fetched)

    def _file(self, file: FileRecord) -> Iterator[ModelEvent]:
        part = self._part(file)
        resumed = part.exists() and part.stat().st_size > 0
        yield from self._arrive(file, part)
        if resumed and not matches(part, file, self.stop):  # the part left by an earlier run may be damaged
            logger.info("%s is downloaded again: what was resumed is damaged", file.path)
            part.unlink()
            yield from self._arrive(file, part)
        if not matches(part, file, self.stop):
            part.unlink()
            raise self.hub.damaged(file)
        with part.open("rb+") as arrived:
            os.fsync(arrived.fileno())
        replace_path(part, self.target / file.path)

    def _arrive(self, file: FileRecord, part: Path) -> Iterator[ModelEvent]:
        """Append the missing bytes to a part, in a thread; once abandoned, the thread can no longer write."""
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        if part.stat().st_size >= file.bytes:
            return
        counts: SimpleQueue[int | None] = SimpleQueue()
        result: Future[None] = Future()
        is_left = threading.Event()

        def advance(count: int, arrived: int) -> None:
            if is_left.is_set():
                raise AppError("interrupted")
            if arrived > file.bytes:
                raise self.hub.damaged(file)
            self.fetched += max(count, 0)
            counts.put(max(arrived - count, 0))

        def append() -> None:
            try:
                with part.open("ab") as out:
                    self.hub.append(self.record.revision, file, out, partial(_Bar, advance))
                result.set_result(None)
            except BaseException as error:  # raised again in the thread that waits
                result.set_exception(error)
            counts.put(None)

        thread = threading.Thread(target=append, name="download", daemon=True)
        thread.start()
        before = part.stat().st_size
        self.pace.start()
        try:
            while True:
                if self.stop.is_set():
                    raise AppError("interrupted")
                try:
                    arrived = counts.get(timeout=_STOP_S)
                except Empty:
                    continue
                if arrived is None:
                    break
                self.pace.add(arrived - before)
                before = arrived
                yield self._progress(arrived)
            result.result()
            yield self._progress(file.bytes)
        finally:
            is_left.set()
            thread.join(_LEAVE_S)  # it may be about to write

    def _part(self, file: FileRecord) -> Path:
        """Return the path of a part; its digest tells parts of different versions apart."""
        digest = file.digest.partition(":")[2][:8]
        return self.target / f"{file.path}.{digest}.part"

    def _progress(self, arrived: int = 0) -> Progress:
        done, total = self.done + arrived, self.record.bytes
        return Progress(
            "models", done, total, self.record.name, rate=self.pace.rate, left_s=self.pace.left_s(total - done)
        )

    def _check_disk(self, files: list[FileRecord]) -> None:
        parts = [self._part(file) for file in files]
        needed = sum(file.bytes for file in files) - sum(part.stat().st_size for part in parts if part.exists())
        free = shutil.disk_usage(self.target).free
        if needed + RESERVE > free:
            path = str(self.target)
            needed_size, free_size = byte_size(needed + RESERVE), byte_size(free)
            raise BusyError("disk_short", path=path, needed=needed_size, free=free_size)


class _Bar:
    """Receiver of `http_get`'s progress, in place of a progress bar."""

    def __init__(self, advance: Callable[[int, int], None], *, initial: int = 0, **_options: object) -> None:
        self._advance, self._arrived = advance, initial

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None: ...

    def update(self, count: int) -> None:
        """Count bytes before they are written."""
        self._arrived += count
        self._advance(count, self._arrived)


class _Hub:
    """Requests to the hub for one model."""

    def __init__(self, model: HubModel) -> None:
        self.model = model
        self.endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or None

    @property
    def host(self) -> str:
        return self.endpoint or str(_library().constants.ENDPOINT)

    def listing(self) -> Record:
        """List the model's files at the manifest's revision, or at the newest."""
        model = self.model
        logger.info("files of %s are listed by %s", model.name, self.host)
        with self._failures():
            api = _library().HfApi(endpoint=self.endpoint)
            info = api.model_info(model.name, revision=model.revision or None, files_metadata=True, timeout=_TIMEOUT)
            siblings = info.siblings or []
            wanted = [
                each
                for each in siblings
                if len(each.rfilename) <= MAX_PATH
                and each.rfilename.isprintable()
                and any(file.matches(each.rfilename) for file in model.files)
            ]
        commit = str(info.sha)
        if not _COMMIT.fullmatch(commit) or (model.revision and commit != model.revision):
            raise self._changed(commit[:40])
        files = [self._file_record(each) for each in wanted]
        there = {file.path for file in files}
        if len({path.casefold() for path in there}) < len(files) or len(files) > MAX_FILES:
            raise self._changed(f"{len(files)}")
        for path in [*(file.path for file in model.files if "*" not in file.path), "config.json"]:
            if path not in there:
                raise self._changed(path)
        return Record(model.name, commit, tuple(files))

    def _file_record(self, sibling: "RepoSibling") -> FileRecord:
        """Return a file from the hub's list; it must agree with the manifest."""
        path, lfs, blob = sibling.rfilename, sibling.lfs, sibling.blob_id
        listed = next((file for file in self.model.files if file.path == path), None)
        size, sha256 = (lfs.size, lfs.sha256) if lfs else (sibling.size, "")
        is_digest = isinstance(sha256, str) and _SHA256.fullmatch(sha256)
        is_blob = isinstance(blob, str) and _COMMIT.fullmatch(blob)
        if type(size) is not int or size < 0 or not (is_digest or (not lfs and is_blob)):
            raise self._changed(path)
        if listed and ((listed.bytes not in (None, size)) or (listed.sha256 and sha256 and listed.sha256 != sha256)):
            raise self._changed(path)
        expected = sha256 or (listed.sha256 if listed else "")
        return FileRecord(path, size, f"sha256:{expected}" if expected else f"git:{blob}")

    def append(self, revision: str, file: FileRecord, out: BinaryIO, bar: Callable[..., _Bar]) -> None:
        """Append the rest of a file to `out`, retrying after a broken connection."""
        from huggingface_hub.file_download import http_get

        hub = _library()
        logger.info("%s of %s is downloaded from byte %d on", file.path, self.model.name, out.tell())
        with self._failures():
            http_get(
                hub.hf_hub_url(self.model.name, file.path, revision=revision, endpoint=self.endpoint),
                out,
                resume_size=out.tell(),
                headers={**hub.utils.build_hf_headers(), "Accept-Encoding": "identity"},
                expected_size=file.bytes,
                tqdm_class=cast("type[object]", bar),
            )

    def damaged(self, file: FileRecord) -> BusyError:
        return self._unreachable(_("{file} arrived damaged").format(file=file.path))

    def _unreachable(self, reason: str) -> BusyError:
        return BusyError("hub_unreachable", host=self.host, name=self.model.name, reason=reason)

    def _changed(self, file: str) -> AppError:
        return AppError("model_changed", host=self.host, name=self.model.name, file=file)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn the library's errors into the app's."""
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        try:
            yield
        except OfflineModeIsEnabled as error:
            reason = _("HF_HUB_OFFLINE is set")
            raise UsageError("hub_refused", host=self.host, name=self.model.name, reason=reason) from error
        except HfHubHTTPError as error:
            status, after = error.response.status_code, error.response.headers.get("Retry-After", "")
            logger.warning("%s answers %d", self.host, status)
            if status in (408, 416, 429) or status >= 500:
                waits = f", Retry-After {after}" if after.isdigit() else ""
                raise self._unreachable(f"HTTP {status}{waits}") from error
            raise AppError("hub_refused", host=self.host, name=self.model.name, reason=f"HTTP {status}") from error
        except (httpx2.HTTPError, *_NO_ANSWER) as error:
            logger.warning("%s gave no answer of a hub's", self.host, exc_info=True)
            raise self._unreachable(f"{type(error).__name__}: {error}") from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise self._unreachable(_("the connection ended early")) from error


@cache
def _library() -> ModuleType:
    """Import `huggingface_hub` without output and telemetry."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub
    import huggingface_hub.constants
    import huggingface_hub.utils

    huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True  # it may have been imported earlier
    huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE = _CHUNK
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return huggingface_hub
