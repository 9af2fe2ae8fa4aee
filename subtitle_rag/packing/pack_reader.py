"""The values in a pack, checked wholly before the first of them is used."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from subtitle_rag.library import Mark
from subtitle_rag.packing import pack_file, pack_records
from subtitle_rag.packing.kinds import FieldError
from subtitle_rag.packing.pack_file import PackFile
from subtitle_rag.packing.pack_records import PackedSource, PackedVideo, Values
from subtitle_rag.packing.packed_vectors import PackedVectors, read_vectors

T = TypeVar("T")


class PackReader:
    """Reads the values of a pack, which it opens as `PackFile` does. Every method raises `pack_damaged`."""

    def __init__(self, path: Path) -> None:
        self._file = PackFile(path)
        self.manifest = self._file.manifest

    def close(self) -> None:
        self._file.close()

    def check(self) -> Iterator[int]:
        """Read everything, and yield the number of records so far.

        Beyond each record for itself: no video, window, context, mark, source or vector occurs twice, and vectors are
        of windows in the pack, in the order of its videos, with one size for each encoder.
        """
        count = 0
        windows: dict[str, int] = {}
        keys: set[object] = set()
        for number, packed in enumerate(self.videos(), start=1):
            self._once(keys, ("video", packed.video.id), pack_file.VIDEOS, number)
            for id in packed.windows:
                self._once(keys, ("window", id), pack_file.VIDEOS, number)
                windows[id] = number
            for context in packed.contexts:
                self._once(keys, ("context", context.key), pack_file.VIDEOS, number)
            count += 1
            yield count
        members: list[tuple[str, Iterator[object]]] = [
            (pack_file.CHANNELS, (id for id, _glossary in self.channels())),
            (pack_file.MARKS, ((each.video_id, each.start_ms, each.end_ms) for each in self.marks())),
            (pack_file.SOURCES, (each.url for each in self.sources())),
        ]
        for name, member_keys in members:
            for number, key in enumerate(member_keys, start=1):
                self._once(keys, (name, key), name, number)
                count += 1
                yield count
        yield from self._check_vectors(windows, count)

    def _check_vectors(self, windows: dict[str, int], count: int) -> Iterator[int]:
        keys: set[object] = set()
        sizes: dict[str, int | None] = {}
        video = 0
        for number, packed in enumerate(self.vectors(), start=1):
            self._once(keys, (packed.window_id, packed.encoder), pack_file.VECTORS, number)
            previous_video, video = video, windows.get(packed.window_id, 0)
            if video < max(previous_video, 1):
                raise self._file.damaged_record(pack_file.VECTORS, number, FieldError("window"))
            for name, size in packed.sizes().items():
                if sizes.setdefault(name, size) != size:
                    raise self._file.damaged_record(pack_file.VECTORS, number, FieldError("dimensions"))
            count += 1
            yield count

    def _once(self, keys: set[object], key: object, name: str, number: int) -> None:
        if key in keys:
            raise self._file.damaged_record(name, number, FieldError(str(key)))
        keys.add(key)

    def videos(self) -> Iterator[PackedVideo]:
        return self._values(pack_file.VIDEOS, pack_records.read_video)

    def channels(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return self._values(pack_file.CHANNELS, pack_records.read_channel)

    def marks(self) -> Iterator[Mark]:
        return self._values(pack_file.MARKS, pack_records.read_mark)

    def sources(self) -> Iterator[PackedSource]:
        return self._values(pack_file.SOURCES, pack_records.read_source)

    def vectors(self) -> Iterator[PackedVectors]:
        return self._values(pack_file.VECTORS, read_vectors)

    def _values(self, name: str, read: Callable[[Values], T]) -> Iterator[T]:
        for number, values in enumerate(self._file.records(name), start=1):
            try:
                value = read(values)
            except FieldError as error:
                raise self._file.damaged_record(name, number, error) from error
            yield value
