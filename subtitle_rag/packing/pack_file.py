"""The file of a pack: a ZIP archive with one manifest and a fixed set of members of JSON lines (docs/en/packs.md).

The archive of a stranger is read as a stream within bounds. Names in it are compared with the format's and become no
path, and nothing of it is written to the disk.
"""

import errno
import hashlib
import json
import logging
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, TypeGuard

from subtitle_rag import __version__
from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.packing import kinds
from subtitle_rag.packing.kinds import FieldError, Fields

logger = logging.getLogger(__name__)

FORMAT = "subtitle-rag pack"
VERSION = 2
"""A reader refuses a greater one. Additional keys of records and of the manifest keep the version."""
OLDEST_VERSION = 1
"""It could hold a whole library; what is of no channel is left out."""

MANIFEST = "manifest.json"
VIDEOS = "videos.jsonl"
CHANNELS = "channels.jsonl"
MARKS = "marks.jsonl"
SOURCES = "sources.jsonl"
VECTORS = "vectors.jsonl"
MEMBERS = (VIDEOS, CHANNELS, MARKS, SOURCES, VECTORS)
"""The members after the manifest, in the order in which they are read. Each is in every pack; most can be empty."""
LEFT_OUT = frozenset({"answers.jsonl", "settings.jsonl"})
"""Members of the oldest version that are not read."""

MAX_MANIFEST = 1_000_000
MAX_LINE = 128 * 2**20
"""Bytes of a record: a video with captions of 32 MB, its windows and their contexts."""
MAX_OTHER_LINE = 24 * 2**20
"""Bytes of a record of another member: a list of a million videos."""
MAX_RATIO = 200
"""Greatest compression of a member that is larger than `FREE_BYTES`; captions reach 20."""
FREE_BYTES = 16 * 2**20

_ENCRYPTED = 0x1
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of all members, so that the same content makes the same file."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError)
"""What `zipfile` raises for damaged archives; RuntimeError for a password, and a method or version that is not ours."""


@dataclass(frozen=True, slots=True)
class MemberSum:
    """Size and checksum of a member, uncompressed."""

    bytes: int
    sha256: str
    records: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a pack, and by which rules it was made."""

    version: int = VERSION
    app: str = ""
    """Version of the app that has written it."""
    made_at: str = ""
    rule: str = ""
    """The rule by which the windows were cut."""
    encoder: str = ""
    """The encoder of the vectors that the library searched; empty without vectors."""
    members: dict[str, MemberSum] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}


_SUM: Fields = {
    "bytes": kinds.integer(0, 2**50),
    "sha256": kinds.match(r"[0-9a-f]{64}"),
    "records": kinds.integer(0, 2**40),
}
_MANIFEST: Fields = {
    "version": kinds.integer(OLDEST_VERSION, VERSION),
    "app": kinds.text(100),
    "made_at": kinds.text(40),
    "rule": kinds.text(100),
    "encoder": kinds.text(5_000),
    "members": kinds.record(dict, dict.fromkeys(MEMBERS, kinds.record(MemberSum, _SUM))),
}


class PackFile:
    """A pack that is read. It stays open, so that what was checked is what is read afterwards.

    Raises:
        UsageError: `pack_unreadable`.
        AppError: `pack_foreign`, `pack_newer`, `pack_damaged`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _opened(path)
        try:
            self._archive, self.manifest = self._directory()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._archive.close()
        self._file.close()

    def records(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the records of a member, and compare size and checksum at its end."""
        expected, digest, count, size = self.manifest.members[name], hashlib.sha256(), 0, 0
        longest = MAX_LINE if name == VIDEOS else MAX_OTHER_LINE
        with self._translated(), self._archive.open(name) as member:
            while line := member.readline(longest):
                size += len(line)
                if not line.endswith(b"\n") or size > expected.bytes:
                    raise self.damaged(_("{name} is cut off or has another size").format(name=name))
                digest.update(line)
                count += 1
                try:
                    values = kinds.parse_record(line)
                except FieldError as error:
                    raise self.damaged_record(name, count, error) from error
                yield values
        if (size, count, digest.hexdigest()) != (expected.bytes, expected.records, expected.sha256):
            raise self.damaged(_("the checksum of {name} does not match").format(name=name))

    def damaged(self, reason: str) -> AppError:
        return AppError("pack_damaged", path=str(self.path), reason=reason)

    def damaged_record(self, name: str, number: int, error: FieldError) -> AppError:
        sentence = _("{name}, record {number}: {field} is missing or not allowed")
        return self.damaged(sentence.format(name=name, number=number, field=error))

    def _directory(self) -> tuple[zipfile.ZipFile, Manifest]:
        """Open the archive, and compare its directory with the manifest."""
        try:
            archive = zipfile.ZipFile(self._file)
        except (*_UNREADABLE, OSError) as error:
            if _is_failure_of_disk(error):
                raise _unreadable(self.path, error) from error
            raise AppError("pack_foreign", path=str(self.path)) from error
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        if MANIFEST not in names:
            raise AppError("pack_foreign", path=str(self.path))
        if len(set(names)) < len(names):
            raise self.damaged(_("two members have the same name"))
        manifest = self._manifest(archive)
        if set(names) - LEFT_OUT != {MANIFEST, *MEMBERS}:
            raise self.damaged(_("its members are not those of a pack"))
        for entry in entries:
            self._check_entry(entry)
            if entry.filename in MEMBERS and entry.file_size != manifest.members[entry.filename].bytes:
                raise self.damaged(_("{name} is cut off or has another size").format(name=entry.filename))
        return archive, manifest

    def _check_entry(self, entry: zipfile.ZipInfo) -> None:
        is_link = stat.S_ISLNK(entry.external_attr >> 16)
        is_packed = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if is_link or not is_packed or entry.flag_bits & _ENCRYPTED:
            sentence = _("{name} is a link, encrypted, or compressed by another method")
            raise self.damaged(sentence.format(name=entry.filename))
        if entry.file_size > FREE_BYTES and entry.file_size > MAX_RATIO * entry.compress_size:
            raise self.damaged(_("{name} would be too large when unpacked").format(name=entry.filename))

    def _manifest(self, archive: zipfile.ZipFile) -> Manifest:
        entry = archive.getinfo(MANIFEST)
        self._check_entry(entry)
        if entry.file_size > MAX_MANIFEST:
            raise self.damaged(_("{name} would be too large when unpacked").format(name=MANIFEST))
        with self._translated():
            content = archive.read(MANIFEST)
        try:
            values = kinds.parse_record(content)
            if values.get("format") != FORMAT:
                raise AppError("pack_foreign", path=str(self.path))
            version = kinds.read_field("version", kinds.integer(1, 2**31), values)
            if version > VERSION:
                raise AppError("pack_newer", path=str(self.path), found=version, known=VERSION)
            return Manifest(**kinds.read_fields(_MANIFEST, values))
        except FieldError as error:
            raise self.damaged_record(MANIFEST, 1, error) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate what `zipfile` raises while it reads."""
        try:
            yield
        except AppError:
            raise
        except (*_UNREADABLE, OSError) as error:
            if _is_failure_of_disk(error):
                raise _unreadable(self.path, error) from error
            logger.info("a pack is damaged", exc_info=True)
            raise self.damaged(_("its content cannot be decompressed")) from error


def _opened(path: Path) -> IO[bytes]:
    """Open a plain file for reading; a pipe would block, a folder cannot be read.

    Raises:
        UsageError: `pack_unreadable`.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
    except (OSError, ValueError) as error:  # the latter: a name with a null character
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise UsageError("pack_unreadable", path=str(path), reason=_("it is not a regular file"))
    return os.fdopen(number, "rb")


def _is_failure_of_disk(error: Exception) -> TypeGuard[OSError]:
    """Return whether it is an error of reading; EINVAL is of a place in front of the file, which damage names."""
    return isinstance(error, OSError) and error.errno != errno.EINVAL


def _unreadable(path: Path, error: OSError | ValueError) -> UsageError:
    return UsageError("pack_unreadable", path=str(path), reason=getattr(error, "strerror", None) or str(error))


class PackWriter:
    """Writes the members one after another into `file`, and the manifest last."""

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._sums: dict[str, MemberSum] = {}

    def close(self) -> None:
        """End the archive while its file is open: after an early end Python would, into a closed file, and report it.

        It has ended after `finish`; of a pack that is given up a failure to write tells nothing new.
        """
        with suppress(OSError):
            self._archive.close()

    def write(self, name: str, records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Write a member, and yield each record when it is written."""
        digest, count, size = hashlib.sha256(), 0, 0
        with self._archive.open(_entry(name), "w", force_zip64=True) as member:
            for record in records:
                line = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
                member.write(line)
                digest.update(line)
                count, size = count + 1, size + len(line)
                yield record
        self._sums[name] = MemberSum(size, digest.hexdigest(), count)

    def finish(self, *, made_at: str, rule: str, encoder: str) -> Manifest:
        manifest = Manifest(VERSION, __version__, made_at, rule, encoder, self._sums)
        self._archive.writestr(_entry(MANIFEST), json.dumps(manifest.values(), indent=1).encode())
        self._archive.close()
        return manifest


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry
