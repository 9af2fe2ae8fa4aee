"""A stand-in for a package index on loopback, used by the real pip, and tiny wheels for it.

    with Index() as index:
        index.push(wheel("tiny", "1.0", requires=["other>=2"]))

It serves lists of files (PEP 503) with their metadata (PEP 658), and cacheable files, like the public index. It records
the requested files, and can stop in the middle of one.
"""

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.stand_ins.loopback import Loopback, Server


@dataclass(frozen=True)
class Wheel:
    """A package's wheel, with one module that has its version."""

    name: str
    version: str
    requires: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def filename(self) -> str:
        return f"{self.module}-{self.version}-py3-none-any.whl"

    @property
    def metadata(self) -> str:
        requirements = "".join(f"Requires-Dist: {each}\n" for each in self.requires)
        extras = {name for each in self.requires for name in re.findall(r"extra == '([\w-]+)'", each)}
        provided = "".join(f"Provides-Extra: {name}\n" for name in sorted(extras))
        return f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n{provided}{requirements}"

    @property
    def files(self) -> dict[str, str]:
        folder = f"{self.module}-{self.version}.dist-info"
        files = {
            f"{self.module}/__init__.py": f"VERSION = {self.version!r}\n",
            f"{folder}/METADATA": self.metadata,
            f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = f"{folder}/RECORD"
        return {**files, record: "".join(f"{name},,\n" for name in (*files, record))}

    @property
    def content(self) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in self.files.items():
                archive.writestr(zipfile.ZipInfo(name), text)
        return packed.getvalue()


def wheel(name: str, version: str, requires: Sequence[str] = ()) -> Wheel:
    return Wheel(name, version, tuple(requires))


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        index: Index = self.server.stand_in
        path = unquote(urlsplit(self.path).path)
        content = index.answer(path)
        self.send_response(404 if content is None else 200)
        kind = "text/html" if path.endswith("/") else "application/octet-stream"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content or b"")))
        if content and not path.endswith("/"):
            self.send_header("Cache-Control", "max-age=365000000, immutable, public")
        self.end_headers()
        if content and path.rpartition("/")[2] in index.held:
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            index.reached.set()
            index.released.wait()
            content = content[len(content) // 2 :]
        self.wfile.write(content or b"")

    def log_message(self, format: str, *args: Any) -> None: ...


class Index(Loopback):
    """The index, to use in `with`."""

    HANDLER = _Handler

    def __init__(self) -> None:
        super().__init__()
        self._wheels: dict[str, Wheel] = {}
        self.has_metadata = True
        self.asked: list[str] = []
        """Names of the requested files, in order."""
        self.held: set[str] = set()
        """Files that stop halfway until `released` is set; `reached` is set when one has."""
        self.reached = threading.Event()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"{self.base}/simple/"

    def push(self, *wheels: Wheel) -> None:
        self._wheels |= {each.filename: each for each in wheels}

    def stop(self) -> None:
        self.released.set()
        super().stop()

    def answer(self, path: str) -> bytes | None:
        name = path.rpartition("/")[2]
        if path.startswith("/simple/"):
            return self._listing(path.split("/")[2])
        found = self._wheels.get(name.removesuffix(".metadata"))
        if found is None:
            return None
        if name.endswith(".metadata"):
            return found.metadata.encode()
        with self._lock:
            self.asked.append(name)
        return found.content

    def _listing(self, name: str) -> bytes | None:
        found = [each for each in self._wheels.values() if each.name.lower().replace("_", "-") == name]
        rows = []
        for each in found:
            digest = hashlib.sha256(each.metadata.encode()).hexdigest()
            attribute = f' data-core-metadata="sha256={digest}"' if self.has_metadata else ""
            digest = hashlib.sha256(each.content).hexdigest()
            rows.append(f'<a href="/files/{each.filename}#sha256={digest}"{attribute}>{each.filename}</a>')
        return f"<!DOCTYPE html><html><body>{'<br>'.join(rows)}</body></html>".encode() if rows else None
