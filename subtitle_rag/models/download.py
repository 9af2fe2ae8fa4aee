"""Encoders and rerankers from the Hugging Face hub, resumable across processes.

`huggingface_hub` 2.4 begins every file anew after a process has died, so its address, headers and session are used here
with files of our own: what arrives is appended to `NAME.<digest>.part`, asked for from its length on (HTTP Range), and
becomes the file when its digest is the one that the hub, or the manifest, gave beforehand. Plain HTTP serves files in
Xet storage too. Nothing else is asked of the hub: no telemetry, one request for the list of files, one for each file.
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

from subtitle_rag.errors import AppError, BusyError, UsageError
from subtitle_rag.events import ModelEvent, ModelFetched, ModelFetching
from subtitle_rag.i18n import _
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.installation.missing import require
from subtitle_rag.models.guard import alone, writing
from subtitle_rag.models.manifest import Neural
from subtitle_rag.models.record import Filed, Record, matches
from subtitle_rag.platforms import replace_path, wait_for

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

logger = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before a broken connection is tried again; what has arrived in between makes them begin anew."""
RESERVE = 500_000_000
"""Bytes that stay free on the disk."""
_TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(
    folder: Path, offered: Neural, stop: threading.Event | None = None, endpoint: str | None = None
) -> Generator[ModelEvent, None, None]:
    """Bring what of a model is missing or damaged in `folder`; events tell how far it is, the last is ModelFetched.

    Files that are here already are read and verified; the hub is not asked if they are all right. `stop` ends it
    between two chunks. `endpoint` is the hub's address, by default `HF_ENDPOINT` or the public one.

    Raises:
        BusyError: trying again goes on where it ended: `hub_unreachable`, `hub_busy`, `download_damaged`, `disk_short`,
            `disk_full`, `folder_unwritable`, `model_busy`.
        AppError: `neural_missing`, `hub_refused`, `hub_not_found`, `model_changed`, `interrupted`.
        UsageError: `hub_offline`.
    """
    require(NEURAL)
    with writing(folder), alone(folder, offered):
        hub = _Hub(offered, endpoint)
        target = folder / offered.folder
        record = Record.read(target)
        if record is None or _outdated(record, offered):
            record = hub.listing()
        target.mkdir(exist_ok=True)
        yield from _Arrival(hub, target, record, stop).events()


def _outdated(record: Record, offered: Neural) -> bool:
    """Whether the manifest has gone on to another revision, or wants a file that the record does not name."""
    recorded = {file.path for file in record.files}
    named = {file.path for file in offered.files if "*" not in file.path}
    return bool(offered.revision and record.revision != offered.revision) or not named <= recorded


class _Arrival:
    """One model on its way into its folder."""

    def __init__(self, hub: "_Hub", target: Path, record: Record, stop: threading.Event | None) -> None:
        self.hub = hub
        self.target = target
        self.record = record
        self.stop = stop or threading.Event()
        self.done = 0
        self.fetched = 0

    def events(self) -> Iterator[ModelEvent]:
        due = []
        for file in self.record.files:
            if file.whole(self.target) and matches(self.target / file.path, file, self.stop):
                self.done += file.bytes
                yield self._told(file)
            else:
                due.append(file)
        if due:
            self.record.completed(False).write(self.target)  # names the revision to whoever goes on
            self._see_room(due)
        for file in due:
            yield from self._file(file)
            self.done += file.bytes
        for stray in self.target.rglob("*.part"):
            stray.unlink()
        self.record.completed().write(self.target)
        yield ModelFetched(self.record.name, self.record.revision, self.record.bytes, self.fetched)

    def _file(self, file: Filed) -> Iterator[ModelEvent]:
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
            self._see_stop()
        if not matches(part, file, self.stop):
            part.unlink()
            raise BusyError("download_damaged", name=self.record.name, file=file.path)
        with part.open("rb+") as arrived:
            os.fsync(arrived.fileno())
        replace_path(part, self.target / file.path)

    def _stream(self, file: Filed, part: Path) -> Iterator[ModelEvent]:
        """Append to the part what the hub sends, once; begins anew where the hub does not send the rest alone."""
        start = part.stat().st_size
        with self.hub.content(self.record.revision, file.path, start) as response:
            goes_on = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            with part.open("ab" if response.status_code == 206 and goes_on else "wb") as out:
                for chunk in response.iter_bytes(_CHUNK):
                    if out.tell() + len(chunk) > file.bytes:
                        out.truncate(0)
                        raise BusyError("download_damaged", name=self.record.name, file=file.path)
                    out.write(chunk)
                    self.fetched += len(chunk)
                    yield self._told(file, out.tell())
                    self._see_stop()
                if out.tell() < file.bytes:
                    raise self.hub.unreachable(_("the connection ended early"))

    def _part(self, file: Filed) -> Path:
        """Named by the digest, so that what is left of another file is not gone on with."""
        own = file.digest.partition(":")[2][:8]
        return self.target / f"{file.path}.{own}.part"

    def _told(self, file: Filed, arrived: int = 0) -> ModelFetching:
        return ModelFetching(self.record.name, file.path, self.done + arrived, self.record.bytes)

    def _see_stop(self) -> None:
        if self.stop.is_set():
            raise AppError("interrupted")

    def _see_room(self, due: list[Filed]) -> None:
        parts = [self._part(file) for file in due]
        needed = sum(file.bytes for file in due) - sum(part.stat().st_size for part in parts if part.exists())
        free = shutil.disk_usage(self.target).free
        if needed + RESERVE > free:
            raise BusyError(
                "disk_short",
                name=self.record.name,
                path=str(self.target),
                needed=f"{(needed + RESERVE) / 1e9:.1f}",
                free=f"{free / 1e9:.1f}",
            )


class _Hub:
    """The hub, as far as one model needs it."""

    def __init__(self, offered: Neural, endpoint: str | None) -> None:
        self.offered = offered
        self.endpoint = (endpoint or os.environ.get("HF_ENDPOINT") or "").rstrip("/") or None

    @property
    def host(self) -> str:
        return self.endpoint or str(_library().constants.ENDPOINT)

    def listing(self) -> Record:
        """The model's files at its revision, or at the newest where the manifest knows none."""
        offered = self.offered
        revision = f"/revision/{offered.revision}" if offered.revision else ""
        with self._telling(f"/api/models/{offered.name}{revision}") as answered:
            hub = _library().HfApi(endpoint=self.endpoint)
            info = hub.model_info(
                offered.name, revision=offered.revision or None, files_metadata=True, timeout=_TIMEOUT
            )
            answered(200)
            commit, siblings = str(info.sha), list(info.siblings or ())
        if not _COMMIT.fullmatch(commit) or (offered.revision and commit != offered.revision):
            raise self._changed(commit)
        files = [self._filed(each) for each in siblings if any(file.takes(each.rfilename) for file in offered.files)]
        there = {file.path for file in files}
        for wanted in offered.files:
            if "*" not in wanted.path and wanted.path not in there:
                raise self._changed(wanted.path)
        if "config.json" not in there:
            raise self._changed("config.json")
        return Record(offered.name, commit, tuple(files))

    def _filed(self, sibling: "RepoSibling") -> Filed:
        """A file by what the hub says of it, which must agree with what the manifest knows."""
        path = sibling.rfilename
        known = next((file for file in self.offered.files if file.path == path), None)
        size = sibling.lfs.size if sibling.lfs else sibling.size
        sha256 = sibling.lfs.sha256 if sibling.lfs else ""
        if size is None or not (sha256 or sibling.blob_id):
            raise self._changed(path)
        if known and ((known.bytes not in (None, size)) or (known.sha256 and sha256 and known.sha256 != sha256)):
            raise self._changed(path)
        expected = sha256 or (known.sha256 if known else "")
        return Filed(path, size, f"sha256:{expected}" if expected else f"git:{sibling.blob_id}")

    @contextmanager
    def content(self, revision: str, path: str, start: int) -> Iterator[Any]:
        """The response that brings a file from the byte `start` on, or wholly."""
        hub = _library()
        url = hub.hf_hub_url(self.offered.name, path, revision=revision, endpoint=self.endpoint)
        with self._telling(f"/{self.offered.name}/resolve/{revision}/{path}") as answered:
            headers = {**hub.utils.build_hf_headers(), "Accept-Encoding": "identity"}
            if start:
                headers["Range"] = f"bytes={start}-"
            session = hub.utils.get_session()
            with session.stream("GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=True) as response:
                hub.utils.hf_raise_for_status(response)
                answered(response.status_code)
                yield response

    def unreachable(self, reason: str) -> BusyError:
        return BusyError("hub_unreachable", host=self.host, name=self.offered.name, reason=reason)

    def _changed(self, file: str) -> AppError:
        return AppError("model_changed", host=self.host, name=self.offered.name, file=file)

    @contextmanager
    def _telling(self, path: str) -> Iterator[Callable[[int], None]]:
        """Tells in the app's errors what goes wrong between here and the hub; gives what logs an answer's status."""
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        began = time.monotonic()

        def answered(status: int) -> None:
            level = logging.WARNING if status >= 400 else logging.INFO
            logger.log(level, "GET %s%s %d in %.0f ms", self.host, path, status, (time.monotonic() - began) * 1000)

        try:
            yield answered
        except OfflineModeIsEnabled as error:
            raise UsageError("hub_offline", name=self.offered.name) from error
        except HfHubHTTPError as error:
            answered(error.response.status_code)
            raise self._refusal(error.response.status_code, error.response.headers.get("Retry-After")) from error
        except httpx2.HTTPError as error:
            logger.warning("GET %s%s failed", self.host, path, exc_info=True)
            raise self.unreachable(str(error) or type(error).__name__) from error
        except (ValueError, KeyError, TypeError) as error:  # an answer that is not the hub's, of a login page perhaps
            logger.warning("GET %s%s gave no answer of a hub's", self.host, path, exc_info=True)
            raise self.unreachable(f"{type(error).__name__}: {error}") from error

    def _refusal(self, status: int, retry_after: str | None) -> AppError:
        name, reason = self.offered.name, f"HTTP {status}"
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
    """`huggingface_hub`, silent and without telemetry: else it tells the hub what runs it."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub
    import huggingface_hub.constants
    import huggingface_hub.utils

    huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True  # it may have been imported before
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return huggingface_hub
