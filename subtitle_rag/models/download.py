"""Downloads of encoders and rerankers from the Hugging Face hub, resumable across processes.

`huggingface_hub` 2.4 restarts every file after the process ends, follows redirects to any host and reads lists of any
length, so only its URL, headers and session are used here.
Chunks are appended to `NAME.<digest>.part` and resumed by HTTP Range. The part becomes the file once its digest equals
that of the hub or the manifest. Plain HTTP also serves files in Xet storage. The hub gets one request for the list of
files and one for each file, and no telemetry.
"""

import json
import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from subtitle_rag.atomic_files import replace_path
from subtitle_rag.domain.errors import AppError, BusyError, UsageError
from subtitle_rag.domain.events import ModelEvent, ModelFetched, ModelFetching
from subtitle_rag.domain.values import byte_size
from subtitle_rag.i18n import _
from subtitle_rag.installation.package_installer import require_extra
from subtitle_rag.models.manifest import HubModel
from subtitle_rag.models.record import FileRecord, Record, hold_model, matches, writing
from subtitle_rag.platforms import wait_for

if TYPE_CHECKING:
    from httpx2 import Response

logger = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each retry of a broken connection; progress resets the retries."""
RESERVE = 500_000_000
"""Bytes to leave free on the disk."""
STORAGE = ("huggingface.co", "hf.co")
"""Hosts to which the hub's redirects lead, with their subdomains."""
MAX_REDIRECTS = 5
MAX_LISTING_BYTES = 8 << 20
"""Maximum size of a list of files; a real one has a thousandth."""
LISTING_S = 60.0
"""Longest time for the body of a list."""
MAX_FILES = 1_000
MAX_PATH = 200
SLOW_S = 60.0
"""Seconds after which a file that comes slower than `MIN_RATE` is given up."""
MIN_RATE = 1_000
"""Bytes a second."""
_TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 20
_EVENT_S = 0.5  # seconds between two events, unless a chunk has come
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def fetch(folder: Path, model: HubModel, stop: threading.Event | None = None) -> Generator[ModelEvent, None, None]:
    """Download a model's missing or damaged files into `folder`; the last event is ModelFetched.

    Existing files are verified; if all are intact, the hub gets no request. `stop` ends the download between two
    chunks. The hub is that of `HF_ENDPOINT`, by default the public one.

    Raises:
        BusyError: a retry resumes: `no_connection`, `hub_unreachable`, `hub_busy`, `download_damaged`,
            `disk_short`, `disk_full`, `folder_unwritable`, `model_busy`.
        AppError: `neural_missing` or `meaning_missing`, `hub_refused`, `hub_not_found`, `model_changed`, `interrupted`.
        UsageError: `hub_offline`.
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
    """Whether the manifest has another revision, or a file that the record lacks."""
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

    def events(self) -> Iterator[ModelEvent]:
        missing = []
        for file in self.record.files:
            if file.has_length(self.target) and matches(self.target / file.path, file, self.stop):
                self.done += file.bytes
                yield self._progress(file)
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
        if resumed and not matches(part, file, self.stop):  # what an earlier run left may be the damage
            logger.info("%s is downloaded again: what was resumed is damaged", file.path)
            part.unlink()
            yield from self._arrive(file, part)
        if not matches(part, file, self.stop):
            part.unlink()
            raise BusyError("download_damaged", name=self.record.name, file=file.path)
        with part.open("rb+") as arrived:
            os.fsync(arrived.fileno())
        replace_path(part, self.target / file.path)

    def _arrive(self, file: FileRecord, part: Path) -> Iterator[ModelEvent]:
        """Download a file into its part, resuming after broken connections, until the part has the file's length."""
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        pauses = iter(PAUSES)
        while (before := part.stat().st_size) < file.bytes:
            try:
                yield from self._stream(file, part)
            except BusyError as error:
                if error.code not in ("hub_unreachable", "no_connection"):
                    raise
                if part.stat().st_size >= min(before + _CHUNK, file.bytes):
                    pauses = iter(PAUSES)
                pause = next(pauses, None)
                if pause is None:
                    raise
                logger.info("%s is tried again in %g s", file.path, pause, exc_info=True)
                wait_for(self.stop, pause)
            self._check_stop()

    def _stream(self, file: FileRecord, part: Path) -> Iterator[ModelEvent]:
        """Append one response to the part; restart the part if the hub ignores the range."""
        start = part.stat().st_size
        with self.hub.content(self.record.revision, file.path, start) as response:
            resumes = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            with part.open("ab" if response.status_code == 206 and resumes else "wb") as out:
                shown_bytes, shown_at = out.tell(), time.monotonic()
                slow_bytes, slow_at = shown_bytes, shown_at
                for piece in response.iter_raw():  # as it comes: a stop does not wait for more
                    if out.tell() + len(piece) > file.bytes:
                        out.truncate(0)
                        raise BusyError("download_damaged", name=self.record.name, file=file.path)
                    out.write(piece)
                    self.fetched += len(piece)
                    arrived, now = out.tell(), time.monotonic()
                    if arrived >= shown_bytes + _CHUNK or now >= shown_at + _EVENT_S:
                        shown_bytes, shown_at = arrived, now
                        yield self._progress(file, arrived)
                    self._check_stop()
                    if now >= slow_at + SLOW_S:
                        if arrived - slow_bytes < MIN_RATE * SLOW_S:
                            raise self.hub.unreachable(_("it sends too slowly"))
                        slow_bytes, slow_at = arrived, now
                yield self._progress(file, out.tell())
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
            name, path = self.record.name, str(self.target)
            needed_size, free_size = byte_size(needed + RESERVE), byte_size(free)
            raise BusyError("disk_short", name=name, path=path, needed=needed_size, free=free_size)


class _Hub:
    """Requests to the hub for one model."""

    def __init__(self, model: HubModel) -> None:
        self.model = model
        self.endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or None

    @property
    def host(self) -> str:
        return self.endpoint or str(_library().constants.ENDPOINT)

    def listing(self) -> Record:
        """List the model's files at the manifest's revision, or the newest."""
        model = self.model
        path = f"/api/models/{model.name}" + (f"/revision/{model.revision}" if model.revision else "")
        with self._request(path, f"{self.host}{path}?blobs=true", {}) as response:
            commit, files = self._files(self._read(response))
        if not _COMMIT.fullmatch(commit) or (model.revision and commit != model.revision):
            raise self._changed(commit[:40])
        there = {file.path for file in files}
        if len({path.casefold() for path in there}) < len(files) or len(files) > MAX_FILES:
            raise self._changed(f"{len(files)}")
        for path in [*(file.path for file in model.files if "*" not in file.path), "config.json"]:
            if path not in there:
                raise self._changed(path)
        return Record(model.name, commit, tuple(files))

    def _read(self, response: "Response") -> bytes:
        raw, deadline = bytearray(), time.monotonic() + LISTING_S
        for piece in response.iter_raw():
            raw += piece
            if len(raw) > MAX_LISTING_BYTES:
                raise self.unreachable(_("its answer is too long"))
            if time.monotonic() > deadline:
                raise self.unreachable(_("it sends too slowly"))
        return bytes(raw)

    def _files(self, raw: bytes) -> tuple[str, list[FileRecord]]:
        """Return the commit and the model's files of a list. Raises ValueError, KeyError or TypeError for others."""
        try:
            listing = json.loads(raw)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        commit, siblings = listing["sha"], listing["siblings"]
        if not (isinstance(commit, str) and isinstance(siblings, list)):
            raise TypeError("sha or siblings")
        paths = [each["rfilename"] for each in siblings]
        if not all(isinstance(path, str) for path in paths):
            raise TypeError("rfilename")
        return commit, [
            self._file_record(path, each)
            for path, each in zip(paths, siblings, strict=True)
            if len(path) <= MAX_PATH and path.isprintable() and any(file.matches(path) for file in self.model.files)
        ]

    def _file_record(self, path: str, sibling: dict[str, Any]) -> FileRecord:
        """Return a file as the hub lists it; it must agree with the manifest."""
        listed = next((file for file in self.model.files if file.path == path), None)
        lfs = sibling.get("lfs") or {}
        size = lfs.get("size", sibling.get("size"))
        sha256, blob = lfs.get("sha256", ""), sibling.get("blobId")
        is_digest = isinstance(sha256, str) and _SHA256.fullmatch(sha256)
        is_blob = isinstance(blob, str) and _COMMIT.fullmatch(blob)
        if type(size) is not int or size < 0 or not (is_digest or (not lfs and is_blob)):
            raise self._changed(path)
        if listed and ((listed.bytes not in (None, size)) or (listed.sha256 and sha256 and listed.sha256 != sha256)):
            raise self._changed(path)
        expected = sha256 or (listed.sha256 if listed else "")
        return FileRecord(path, size, f"sha256:{expected}" if expected else f"git:{blob}")

    def content(self, revision: str, path: str, start: int) -> AbstractContextManager["Response"]:
        """Open the response with a file from the byte `start` on, or all of it."""
        url = _library().hf_hub_url(self.model.name, path, revision=revision, endpoint=self.endpoint)
        headers = {"Range": f"bytes={start}-"} if start else {}
        return self._request(f"/{self.model.name}/resolve/{revision}/{path}", url, headers)

    @contextmanager
    def _open(self, url: str, headers: dict[str, str]) -> Iterator["Response"]:
        """Open the response of an address. Redirects are followed to the hub's own hosts and its storage.

        The session of `huggingface_hub` follows all of them, so it is asked not to.
        """
        hub = _library()
        session = hub.utils.get_session()
        headers = {**hub.utils.build_hf_headers(), "Accept-Encoding": "identity", **headers}
        request = session.build_request("GET", url, headers=headers, timeout=_TIMEOUT)
        for _redirect in range(MAX_REDIRECTS + 1):
            response = session.send(request, stream=True, follow_redirects=False)
            try:
                if response.next_request is None:
                    hub.utils.hf_raise_for_status(response)
                    if response.status_code not in (200, 206):
                        raise self._refusal(response.status_code, None)
                    yield response
                    return
                request = response.next_request
            finally:
                response.close()
            if not self._leads_to_hub(str(request.url)):
                host = request.url.host[:100]
                logger.warning("a redirect of %s to %s is not followed", self.host, host)
                raise self._refused(_("it leads to {host}, which is not of the hub").format(host=host))
        raise self._refused(_("it leads in a circle"))

    def _leads_to_hub(self, url: str) -> bool:
        """Return whether a redirect may lead there."""
        try:
            hub, new = urlsplit(self.host), urlsplit(url)
            host, hub_host = new.hostname or "", hub.hostname or ""
            if "@" in new.netloc or new.scheme not in ("https", hub.scheme):
                return False
            if hub_host in _LOOPBACK:
                return host in _LOOPBACK and new.port == hub.port
        except ValueError:
            return False
        if new.scheme == "http":
            return host == hub_host
        return any(host == each or host.endswith(f".{each}") for each in (hub_host, *STORAGE))

    def unreachable(self, reason: str) -> BusyError:
        return BusyError("hub_unreachable", host=self.host, name=self.model.name, reason=reason)

    def _refused(self, reason: str) -> AppError:
        return AppError("hub_refused", host=self.host, name=self.model.name, reason=reason)

    def _changed(self, file: str) -> AppError:
        return AppError("model_changed", host=self.host, name=self.model.name, file=file)

    @contextmanager
    def _request(self, path: str, url: str, headers: dict[str, str]) -> Iterator["Response"]:
        """Open the response of an address, log its status, and turn failures into errors of the app."""
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        started = time.monotonic()

        def answered(status: int) -> None:
            level = logging.WARNING if status >= 400 else logging.INFO
            logger.log(level, "GET %s%s %d in %.0f ms", self.host, path, status, (time.monotonic() - started) * 1000)

        try:
            with self._open(url, headers) as response:
                answered(response.status_code)
                yield response
        except OfflineModeIsEnabled as error:
            raise UsageError("hub_offline", name=self.model.name) from error
        except HfHubHTTPError as error:
            answered(error.response.status_code)
            raise self._refusal(error.response.status_code, error.response.headers.get("Retry-After")) from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            logger.warning("GET %s%s: there is no connection", self.host, path, exc_info=True)
            raise BusyError("no_connection", host=self.host, name=self.model.name) from error
        except httpx2.HTTPError as error:
            logger.warning("GET %s%s failed", self.host, path, exc_info=True)
            raise self.unreachable(str(error) or type(error).__name__) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # no hub's answer, perhaps a login page
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
        return self._refused(reason)


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
