"""Lists of channels: Google Takeout subscriptions, OPML, browser bookmarks, or one address a line.

Only YouTube channels, playlists and videos are kept; other addresses are counted and left out. Markup is read tag by
tag, so no document type, entity or nesting in a hostile file is followed. Formats: `subscriptions.csv` of Google
Takeout, OPML 2.0, and the Netscape bookmark file, which all browsers write.
"""

import csv
import html
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from subtitle_rag.base.domain.errors import CaptionError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.addresses import MAX_LENGTH, Source, find_addresses, parse_address
from subtitle_rag.captions.text_encoding import decode

MAX_BYTES = 16 * 2**20
"""Size limit of a list, in bytes: ten thousand bookmarks with icons take half of it."""
MAX_ENTRIES = 10_000
MAX_DIRECTORY = 8 * 2**20
"""Size limit of an archive's directory, in bytes: some 80,000 names."""
MAX_MEMBERS = 200
"""Maximum number of files of an archive to look into."""

_SUBSCRIPTIONS = ("subscriptions", "구독정보", "구독")
"""Takeout's name for the file, in English and Korean; in other languages any table of the archive may be it."""
_TAG = re.compile(r"<(?:a|outline)\b((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]*))")
_CHANNEL_ID = re.compile(r"UC[\w-]{22}", re.ASCII)
_DIRECTORY_END = b"PK\x05\x06"


@dataclass(frozen=True, slots=True)
class AddressList:
    sources: tuple[Source, ...] = ()
    """Sources in the order of the list, without repeats."""
    others: int = 0
    """Number of addresses that name no channel, playlist or video."""
    is_cut: bool = False
    """Whether the list was cut at `MAX_ENTRIES`."""


@dataclass(frozen=True, slots=True)
class ListFormat:
    suffixes: tuple[str, ...]
    begins: re.Pattern[str]
    """Recognizes the format by the beginning of the text, whatever the file's name."""
    read: Callable[[str], Iterator[str]]


def _marked_up(text: str) -> Iterator[str]:
    for tag in _TAG.finditer(text):
        values = {
            name.lower(): html.unescape(value or single or bare)
            for name, value, single, bare in _ATTRIBUTE.findall(tag[1])
        }
        addresses = [values[key] for key in ("xmlurl", "htmlurl", "href") if values.get(key)]
        if addresses:
            yield next((each for each in addresses if _source(each)), addresses[0])


def _table(text: str) -> Iterator[str]:
    head = text.partition("\n")[0]
    delimiter = max(",\t;", key=head.count)
    try:
        for row in csv.reader(io.StringIO(text.replace("\0", "")), delimiter=delimiter):
            cells = [cell.strip() for cell in row]
            address = next((cell for cell in cells if "://" in cell or "youtube.com/" in cell), "")
            address = address or next((cell for cell in cells if _CHANNEL_ID.fullmatch(cell)), "")
            if address:
                yield address
    except csv.Error:  # a cell longer than the reader allows: keep the rows before it
        return


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        try:
            yield from find_addresses(line[:MAX_LENGTH])
        except UsageError:
            continue


FORMATS = (
    ListFormat((".opml",), re.compile(r".*?<opml\b", re.IGNORECASE | re.DOTALL), _marked_up),
    ListFormat(
        (".html", ".htm"),
        re.compile(r"\s*<!doctype netscape-bookmark|\s*(?:<[^<>]*>\s*)*<(?:dl|dt)\b", re.IGNORECASE),
        _marked_up,
    ),
    ListFormat((".csv", ".tsv"), re.compile(r"[^\n]*[,\t;][^\n]*\n[^\n]*UC[\w-]{22}"), _table),
)
"""The formats other than lines of addresses, which have no suffix or beginning of their own."""
ARCHIVE = ".zip"
SUFFIXES = (*(suffix for each in FORMATS for suffix in each.suffixes), ARCHIVE)
SNIFFED = (".xml", ".txt")
"""Suffixes shared with captions: such a file is a list only if its beginning shows it."""
_SAMPLE = 4096


def is_address_list(path: Path) -> bool:
    """Whether a file is a list of addresses: by its suffix, or by its beginning where captions share the suffix."""
    suffix = path.suffix.lower()
    if suffix not in (*SUFFIXES, *SNIFFED) or not path.is_file():
        return False
    if suffix in SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            beginning = file.read(_SAMPLE)
        text = decode(beginning, path=str(path)).text
    except (OSError, CaptionError):
        return False
    if suffix == ".xml":
        return FORMATS[0].begins.match(text) is not None
    lines = [line for line in text.splitlines() if line.strip()]
    if len(beginning) == _SAMPLE:  # the last line may be cut
        lines = lines[:-1]
    return bool(lines) and all(find_addresses(line[:MAX_LENGTH]) for line in lines)


def read_address_list(path: Path) -> AddressList:
    """Read a file of addresses.

    Raises:
        UsageError: `list_unreadable`.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if raw.startswith(b"PK\x03\x04"):
            return _with_name(_archived(path), str(path))
    except OSError as error:
        raise UsageError("list_unreadable", path=str(path), reason=error.strerror or str(error)) from error
    return parse_address_list(raw, str(path))


def parse_address_list(raw: bytes, name: str) -> AddressList:
    """Read the bytes of a list; `name` is the file's name for error messages.

    Raises:
        UsageError: `list_unreadable`.
    """
    return _with_name(_parsed(raw, name), name)


def _with_name(addresses: AddressList, name: str) -> AddressList:
    if not addresses.sources:
        raise UsageError("list_unreadable", path=name, reason=_("it names no channel, playlist or video of YouTube"))
    return addresses


def _parsed(raw: bytes, name: str) -> AddressList:
    if len(raw) > MAX_BYTES:
        reason = _("it is longer than {limit} MB").format(limit=MAX_BYTES // 2**20)
        raise UsageError("list_unreadable", path=name, reason=reason)
    try:
        text = decode(raw, path=name).text
    except CaptionError as error:
        raise UsageError("list_unreadable", path=name, reason=error.message) from error
    read = next((each.read for each in FORMATS if each.begins.match(text[:_SAMPLE])), None)
    if read is None:
        read = next((each.read for each in FORMATS if name.lower().endswith(each.suffixes)), _lines)
    sources: dict[str, Source] = {}
    other_count = 0
    for address in read(text):
        source = _source(address)
        if source is None:
            other_count += 1
        elif source.url not in sources:
            if len(sources) == MAX_ENTRIES:
                return AddressList(tuple(sources.values()), other_count, is_cut=True)
            sources[source.url] = source
    return AddressList(tuple(sources.values()), other_count)


def _source(address: str) -> Source | None:
    """Return the source of one address; for a video in a playlist, the video."""
    if len(address) > MAX_LENGTH or ("://" in address and "youtu" not in address.lower()):
        return None
    try:
        return replace(parse_address(address), playlist=None)
    except UsageError:
        return None


def _archived(path: Path) -> AddressList:
    """Read the list in an archive: Takeout's subscriptions, else the first file with channel addresses."""
    try:
        _check_directory(path)
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if Path(info.filename).suffix.lower() in SUFFIXES[:-1]]
            members.sort(key=lambda info: Path(info.filename).stem.lower() not in _SUBSCRIPTIONS)
            addresses = AddressList()
            for info in members[:MAX_MEMBERS]:
                if info.file_size > MAX_BYTES:
                    continue
                with archive.open(info) as member:
                    raw = member.read(MAX_BYTES + 1)
                try:
                    addresses = _parsed(raw, info.filename)
                except UsageError:
                    continue
                if any(source.kind == "channel" for source in addresses.sources):
                    break
            return addresses
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise UsageError("list_unreadable", path=str(path), reason=str(error)) from error


def _check_directory(path: Path) -> None:
    """Refuse an archive whose directory would fill memory. Raises zipfile.BadZipFile and OSError."""
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - 22 - 0xFFFF))
        tail = file.read()
    at = tail.rfind(_DIRECTORY_END)
    length = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if length > MAX_DIRECTORY:
        raise zipfile.BadZipFile(_("its directory is too long"))
