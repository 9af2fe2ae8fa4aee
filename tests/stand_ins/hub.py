"""A stand-in for the Hugging Face hub on loopback, used by `huggingface_hub`.

    with Hub() as hub:
        commit = hub.push("maker/tiny", {"config.json": b"{}", "model.safetensors": weights})

It serves what a download needs: the list of a repository's files at a revision, the files, and large ones through a
redirect to another path, with ranges. It can refuse, send wrong data, break off and be slow.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.stand_ins.loopback import Loopback, Server

LARGE = (".bin", ".safetensors", ".pt", ".onnx")
"""Suffixes of files in large storage."""
_PIECE = 1 << 16


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    start: int
    """First byte requested."""
    headers: Mapping[str, str]


@dataclass
class Reply:
    """Response to a request."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        hub: Hub = self.server.stand_in
        span = self.headers.get("Range", "")
        start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
        path = unquote(urlsplit(self.path).path)
        request = Asked(self.command, path, start, {name.lower(): value for name, value in self.headers.items()})
        reply = hub.answer(request)
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.content)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._send(hub, reply.content, cut=path.startswith("/cdn/"))

    def _send(self, hub: "Hub", content: bytes, *, cut: bool) -> None:
        for at in range(0, len(content), _PIECE):
            if cut and hub.cut_after is not None and at >= hub.cut_after:
                self.close_connection = True
                return
            self.wfile.write(content[at : at + _PIECE])
            hub.sent += len(content[at : at + _PIECE])
            if cut and hub.slow:
                time.sleep(hub.slow)

    def log_message(self, format: str, *args: Any) -> None: ...


class Hub(Loopback):
    """Repositories by name, without any files on disk."""

    HANDLER = _Handler

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self.refusals: list[Reply] = []
        """Responses to send first, in this order."""
        self.cut_after: int | None = None
        """Bytes of a large file after which the connection ends."""
        self.slow = 0.0
        """Seconds of delay after every 64 kB of a large file."""
        self.ranges = True
        self.sent = 0
        self.lies: dict[str, bytes] = {}
        """Path in a repository → content sent instead of the file."""
        self.describes: Callable[[dict[str, Any]], Any] = lambda listing: listing
        """Function that changes the list of a repository's files."""
        self._files: dict[str, dict[str, dict[str, bytes]]] = {}
        self._stored: dict[str, bytes] = {}

    def push(self, name: str, files: Mapping[str, bytes]) -> str:
        """Make a commit with exactly these files; it becomes the newest."""
        commits = self._files.setdefault(name, {})
        commit = hashlib.sha1(repr((name, len(commits), sorted(files))).encode()).hexdigest()
        commits[commit] = dict(files)
        return commit

    def large_requests(self) -> list[Asked]:
        """Return the requests for the content of large files."""
        return [request for request in self.asked if request.path.startswith("/cdn/")]

    def answer(self, request: Asked) -> Reply:
        self.asked.append(request)
        if self.refusals:
            return self.refusals.pop(0)
        parts = request.path.strip("/").split("/")
        if parts[0] == "cdn":
            return self._ranged(self._stored[parts[1]], request)
        if parts[:2] == ["api", "models"]:
            return self._listing("/".join(parts[2:4]), parts[5] if len(parts) > 5 else "main")
        return self._content("/".join(parts[:2]), parts[3], "/".join(parts[4:]), request)

    def _commit(self, name: str, revision: str) -> tuple[str, dict[str, bytes]] | Reply:
        commits = self._files.get(name)
        if commits is None:
            return Reply(401, {"X-Error-Code": "RepoNotFound"})
        commit = list(commits)[-1] if revision == "main" else revision
        if commit not in commits:
            return Reply(404, {"X-Error-Code": "RevisionNotFound"})
        return commit, commits[commit]

    def _listing(self, name: str, revision: str) -> Reply:
        commit_files = self._commit(name, revision)
        if isinstance(commit_files, Reply):
            return commit_files
        commit, files = commit_files
        siblings = [_sibling(path, content) for path, content in files.items()]
        listing = self.describes({"id": name, "sha": commit, "siblings": siblings})
        return Reply(200, {"Content-Type": "application/json"}, json.dumps(listing).encode())

    def _content(self, name: str, revision: str, path: str, request: Asked) -> Reply:
        commit_files = self._commit(name, revision)
        if isinstance(commit_files, Reply):
            return commit_files
        commit, files = commit_files
        if path not in files:
            return Reply(404, {"X-Error-Code": "EntryNotFound"})
        content = self.lies.get(path, files[path])
        if not path.endswith(LARGE):
            reply = self._ranged(content, request)
            reply.headers |= {"X-Repo-Commit": commit, "ETag": f'"{_blob(content)}"'}
            return reply
        sha256 = hashlib.sha256(files[path]).hexdigest()
        self._stored[sha256] = content
        return Reply(
            302,
            {
                "Location": f"http://localhost:{self._port}/cdn/{sha256}?signature=x",  # another origin, as in life
                "X-Repo-Commit": commit,
                "X-Linked-Size": str(len(files[path])),
                "X-Linked-ETag": f'"{sha256}"',
            },
        )

    def _ranged(self, content: bytes, request: Asked) -> Reply:
        if not (request.start and self.ranges):
            return Reply(200, {"Accept-Ranges": "bytes"}, content)
        if request.start >= len(content):
            return Reply(416, {"Content-Range": f"bytes */{len(content)}"})
        reach = f"bytes {request.start}-{len(content) - 1}/{len(content)}"
        return Reply(206, {"Content-Range": reach}, content[request.start :])


def _blob(content: bytes) -> str:
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()


def _sibling(path: str, content: bytes) -> dict[str, Any]:
    values: dict[str, Any] = {"rfilename": path, "size": len(content), "blobId": _blob(content)}
    if path.endswith(LARGE):
        sha256 = hashlib.sha256(content).hexdigest()
        values["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
    return values
