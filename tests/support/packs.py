"""Packs of invented libraries, what becomes of them in another library, and packs as no app writes them."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from subtitle_rag.domain import Window
from subtitle_rag.library.context_store import Context
from subtitle_rag.library.summary_store import VideoSummary
from subtitle_rag.packing.pack_reader import PackReader
from subtitle_rag.packing.packer import Packed, Packer, PackSelection
from subtitle_rag.packing.unpacker import Unpacker, UnpackReport
from tests.support.invented import context
from tests.support.place import Place

Record = dict[str, Any]


def everything(place: Place, **options: Any) -> PackSelection:
    """Select all channels of a library."""
    return PackSelection(channels=tuple(id for id, _name in place.library.channels()), **options)


def pack(place: Place, path: Path, selection: PackSelection | None = None) -> Packed:
    """Write a pack, without a selection of all channels."""
    selection = selection or everything(place)
    *_progress, packed = Packer(place.library, place.index).run(path, selection)
    assert isinstance(packed, Packed)
    return packed


def checked(path: Path) -> int:
    """Check a pack, and return the number of its records."""
    with closing(PackReader(path)) as reader:
        return sum(1 for _count in reader.check())


def unpack(place: Place, path: Path, *, follow: bool = False, encoders: Iterable[str] = ()) -> UnpackReport:
    """Check and unpack as the command line does."""
    with closing(PackReader(path)) as reader:
        for _count in reader.check():
            pass
        unpacker = Unpacker(place.library, place.index, place.indexer, set(encoders).__contains__)
        *_progress, report = unpacker.run(reader, follow=follow)
    assert isinstance(report, UnpackReport)
    return report


def context_of(window: Window, text: str, *, model: str = "gemma3:4b", written_at: int = 1_700_000_000) -> Context:
    key = hashlib.sha256(f"{window.id} {model}".encode()).hexdigest()[:32]
    return context(window.id, window.video_id, text, key=key, model=model, written_at=written_at)


def with_contexts(place: Place) -> int:
    """Write a context for every second window and a summary of each video, as a model would; count the contexts."""
    count = 0
    for state in place.library.videos():
        windows = place.library.windows_of(state.video.id)[::2]
        for window in windows:
            assert place.library.contexts.put(context_of(window, f"캠핑장에서 {window.ordinal}번째로 국수를 끓입니다."))
            count += 1
        numbers = {"tries": 1, "prompt_tokens": 900, "tokens": 80, "ms": 900, "written_at": 1_700_000_000}
        recipe = {"model": "gemma3:4b", "digest": "d" * 12, "prompt": "s1", "settled": True}
        values: Record = {"text": f"{state.video.title}에서 국수를 끓입니다.", **recipe, **numbers}
        assert place.library.summaries.put(VideoSummary(video_id=state.video.id, **values))
        place.indexer.add_contexts({state.video.id: [window.id for window in windows]})
    return count


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path: Path, content: dict[str, bytes]) -> Path:
    """Write an archive of these members as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in content.items():
            archive.writestr(name, raw)
    return path


def forged(path: Path, target: Path, name: str, change: Callable[[list[Record]], Iterable[Record]]) -> Path:
    """Change the records of a member, and correct the manifest: a pack that nothing but its values gives away."""
    content = members(path)
    records = change([json.loads(line) for line in content[name].splitlines()])
    return sealed(target, content, {name: b"".join(json.dumps(each).encode() + b"\n" for each in records)})


def sealed(target: Path, content: dict[str, bytes], changes: dict[str, bytes]) -> Path:
    """Write a pack with these members changed, and their sizes and checksums in the manifest."""
    manifest = json.loads(content["manifest.json"])
    for name, raw in changes.items():
        checksum = hashlib.sha256(raw).hexdigest()
        manifest["members"][name] = {"bytes": len(raw), "sha256": checksum, "records": raw.count(b"\n")}
    return written(target, {**content, **changes, "manifest.json": json.dumps(manifest).encode()})
