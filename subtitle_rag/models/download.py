"""Downloads of encoders and rerankers from the Hugging Face hub, resumable across processes.

`huggingface_hub` 2.4 restarts every file after the process ends, so only its URL, headers and session are used here.
Chunks are appended to `NAME.<digest>.part` and resumed by HTTP Range. The part becomes the file once its digest equals
that of the hub or the manifest. Plain HTTP also serves files in Xet storage. The hub gets one request for the list of
files and one for each file, and no telemetry.
"""

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from subtitle_rag.domain import byte_size
from subtitle_rag.errors import AppError, BusyError, UsageError
from subtitle_rag.events import ModelEvent, ModelFetched, ModelFetching
from subtitle_rag.i18n import _
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.installation.missing import require
from subtitle_rag.models.guard import alone, writing
from subtitle_rag.models.manifest import NeuralModel
from subtitle_rag.models.record import FileRecord, Record, matches
from subtitle_rag.platforms import replace_path, wait_for

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

logger = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each retry of a broken connection; progress resets the retries."""
RESERVE = 500_000_000
"""Bytes to leave free on the disk."""
_TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(
    folder: Path, model: NeuralModel, stop: threading.Event | None = None, endpoint: str | None = None
) -> Generator[ModelEvent, None, None]:
    """Download a model's missing or damaged files into `folder`; the last event is ModelFetched.

    Existing files are verified; if all are intact, the hub gets no request. `stop` ends the download between two
    chunks. `endpoint` is the hub's URL, by default `HF_ENDPOINT` or the public one.

    Raises:
        BusyError: a retry resumes: `hub_unreachable`, `hub_busy`, `download_damaged`, `disk_short`,
            `disk_full`, `folder_unwritable`, `model_busy`.
        AppError: `neural_missing`, `hub_refused`, `hub_not_found`, `model_changed`, `interrupted`.
        UsageError: `hub_offline`.
    """
    require(NEURAL)
    with writing(folder), alone(folder, model):
        hub = _Hub(model, endpoint)
        target = folder / model.folder
        record = Record.read(target)
        if record is None or _outdated(record, model):
            record = hub.listing()
        target.mkdir(exist_ok=True)
        yield from _Download(hub, target, record, stop).events()


def _outdated(record: Record, model: NeuralModel) -> bool:
    """Whether the manifest has another revision, or a file that the record lacks."""
    recorded = {file.path for file in record.files}
    required = {file.path for file in model.files if "*" not in file.path}
    return bool(model.revision and record.revision != model.revision) or not required <= recorded


class _Download:
    """The download of one model into its folder."""

    def __init__(self, hub: "_Hub", target: Path, record: Record, stop: threading.Event | None) -> None:
        self.hub = hub
        self.target = target
        self.record = record
        self.stop = stop or threading.Event()
        self.done = 0
        self.fetched = 0

    def events(self) -> Iterator[ModelEvent]:
        missing = []
        for file in self.record.files:
            if file.has_length(self.target) and matches(self.target / file.path, file, self.stop):
                self.done += file.bytes
                yield self._progress(file)
            else:
                missing.append(file)
        if missing:
            self.record.completed(False).write(self.target)  # so that the next process resumes this revision
            self._check_disk(missing)
        for file in missing:
            yield from self._file(file)
            self.done += file.bytes
        for stray in self.target.rglob("*.part"):
            stray.unlink()
        self.record.completed().write(self.target)
        yield ModelFetched(self.record.name, self.record.revision, self.record.bytes, self.fetched)

    def _file(self, file: FileRecord) -> Iterator[ModelEvent]:
        part = self._part(file)
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        pauses = iter(PAUSES)
        while (before := part.stat().st_size) < file.bytes:
            try:
                yield from self._stream(file, part)
            except BusyError as error:
                if error.code != "hub_unreachable":
                    raise
                if part.stat().st_size > before:
                    pauses = iter(PAUSES)
                pause = next(pauses, None)
                if pause is None:
                    raise
                logger.info("%s is tried again in %g s", file.path, pause, exc_info=True)
                wait_for(self.stop, pause)
            self._check_stop()
        if not matches(part, file, self.stop):
            part.unlink()
            raise BusyError("download_damaged", name=self.record.name, file=file.path)
        with part.open("rb+") as arrived:
            os.fsync(arrived.fileno())
        replace_path(part, self.target / file.path)

    def _stream(self, file: FileRecord, part: Path) -> Iterator[ModelEvent]:
        """Append one response to the part; restart the part if the hub ignores the range."""
        start = part.stat().st_size
        with self.hub.content(self.record.revision, file.path, start) as response:
            resumes = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            with part.open("ab" if response.status_code == 206 and resumes else "wb") as out:
                for chunk in response.iter_bytes(_CHUNK):
                    if out.tell() + len(chunk) > file.bytes:
                        out.truncate(0)
                        raise BusyError("download_damaged", name=self.record.name, file=file.path)
                    out.write(chunk)
                    self.fetched += len(chunk)
                    yield self._progress(file, out.tell())
                    self._check_stop()
                if out.tell() < file.bytes:
                    raise self.hub.unreachable(_("the connection ended early"))

    def _part(self, file: FileRecord) -> Path:
        """Return the path of a part; its digest keeps parts of another file apart."""
        digest = file.digest.partition(":")[2][:8]
        return self.target / f"{file.path}.{digest}.part"

    def _progress(self, file: FileRecord, arrived: int = 0) -> ModelFetching:
        return ModelFetching(self.record.name, file.path, self.done + arrived, self.record.bytes)

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise AppError("interrupted")

    def _check_disk(self, files: list[FileRecord]) -> None:
        parts = [self._part(file) for file in files]
        needed = sum(file.bytes for file in files) - sum(part.stat().st_size for part in parts if part.exists())
        free = shutil.disk_usage(self.target).free
        if needed + RESERVE > free:
            raise BusyError(
                "disk_short",
                name=self.record.name,
                path=str(self.target),
                needed=byte_size(needed + RESERVE),
                free=byte_size(free),
            )


class _Hub:
    """Requests to the hub for one model."""

    def __init__(self, model: NeuralModel, endpoint: str | None) -> None:
        self.model = model
        self.endpoint = (endpoint or os.environ.get("HF_ENDPOINT") or "").rstrip("/") or None

    @property
    def host(self) -> str:
        return self.endpoint or str(_library().constants.ENDPOINT)

    def listing(self) -> Record:
        """List the model's files at the manifest's revision, or the newest."""
        model = self.model
        revision = f"/revision/{model.revision}" if model.revision else ""
        with self._request(f"/api/models/{model.name}{revision}") as answered:
            hub = _library().HfApi(endpoint=self.endpoint)
            info = hub.model_info(model.name, revision=model.revision or None, files_metadata=True, timeout=_TIMEOUT)
            answered(200)
            commit, siblings = str(info.sha), list(info.siblings or ())
        if not _COMMIT.fullmatch(commit) or (model.revision and commit != model.revision):
            raise self._changed(commit)
        files = [
            self._file_record(each) for each in siblings if any(file.matches(each.rfilename) for file in model.files)
        ]
        there = {file.path for file in files}
        for file in model.files:
            if "*" not in file.path and file.path not in there:
                raise self._changed(file.path)
        if "config.json" not in there:
            raise self._changed("config.json")
        return Record(model.name, commit, tuple(files))

    def _file_record(self, sibling: "RepoSibling") -> FileRecord:
        """Return a file as the hub lists it; it must agree with the manifest."""
        path = sibling.rfilename
        listed = next((file for file in self.model.files if file.path == path), None)
        size = sibling.lfs.size if sibling.lfs else sibling.size
        sha256 = sibling.lfs.sha256 if sibling.lfs else ""
        if size is None or not (sha256 or sibling.blob_id):
            raise self._changed(path)
        if listed and ((listed.bytes not in (None, size)) or (listed.sha256 and sha256 and listed.sha256 != sha256)):
            raise self._changed(path)
        expected = sha256 or (listed.sha256 if listed else "")
        return FileRecord(path, size, f"sha256:{expected}" if expected else f"git:{sibling.blob_id}")

    @contextmanager
    def content(self, revision: str, path: str, start: int) -> Iterator[Any]:
        """Open the response with a file from the byte `start` on, or all of it."""
        hub = _library()
        url = hub.hf_hub_url(self.model.name, path, revision=revision, endpoint=self.endpoint)
        with self._request(f"/{self.model.name}/resolve/{revision}/{path}") as answered:
            headers = {**hub.utils.build_hf_headers(), "Accept-Encoding": "identity"}
            if start:
                headers["Range"] = f"bytes={start}-"
            session = hub.utils.get_session()
            with session.stream("GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=True) as response:
                hub.utils.hf_raise_for_status(response)
                answered(response.status_code)
                yield response

    def unreachable(self, reason: str) -> BusyError:
        return BusyError("hub_unreachable", host=self.host, name=self.model.name, reason=reason)

    def _changed(self, file: str) -> AppError:
        return AppError("model_changed", host=self.host, name=self.model.name, file=file)

    @contextmanager
    def _request(self, path: str) -> Iterator[Callable[[int], None]]:
        """Turn failures of a request into errors of the app; yield a function that logs the status."""
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        started = time.monotonic()

        def answered(status: int) -> None:
            level = logging.WARNING if status >= 400 else logging.INFO
            logger.log(level, "GET %s%s %d in %.0f ms", self.host, path, status, (time.monotonic() - started) * 1000)

        try:
            yield answered
        except OfflineModeIsEnabled as error:
            raise UsageError("hub_offline", name=self.model.name) from error
        except HfHubHTTPError as error:
            answered(error.response.status_code)
            raise self._refusal(error.response.status_code, error.response.headers.get("Retry-After")) from error
        except httpx2.HTTPError as error:
            logger.warning("GET %s%s failed", self.host, path, exc_info=True)
            raise self.unreachable(str(error) or type(error).__name__) from error
        except (ValueError, KeyError, TypeError) as error:  # not the hub's answer, perhaps a login page
            logger.warning("GET %s%s gave no answer of a hub's", self.host, path, exc_info=True)
            raise self.unreachable(f"{type(error).__name__}: {error}") from error

    def _refusal(self, status: int, retry_after: str | None) -> AppError:
        name, reason = self.model.name, f"HTTP {status}"
        if status == 429:
            waits = f", Retry-After {retry_after}" if retry_after and retry_after.isdigit() else ""
            return BusyError("hub_busy", host=self.host, name=name, reason=reason + waits)
        if status == 404:
            return AppError("hub_not_found", host=self.host, name=name, reason=reason)
        if status in (408, 416) or status >= 500:
            return self.unreachable(reason)
        return AppError("hub_refused", host=self.host, name=name, reason=reason)


@cache
def _library() -> ModuleType:
    """Import `huggingface_hub`, silent and without telemetry."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub
    import huggingface_hub.constants
    import huggingface_hub.utils

    huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True  # it may have been imported before
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return huggingface_hub
