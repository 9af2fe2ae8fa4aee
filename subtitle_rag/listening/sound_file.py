"""Reader of a local file's sound as mono samples: the only user of PyAV, always in its own process.

FFmpeg opens whatever a file refers to: other files, addresses, devices. Here it may only open this one file, in one of
`FORMATS`, none of which refers to others; any further opening is refused.
"""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import _

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

RATE = 16_000
"""Samples per second, Whisper's rate."""
FORMATS = (
    *("mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "avi", "flv", "asf", "mpeg", "mpegts", "nut", "rm"),
    *("mp3", "aac", "ac3", "eac3", "dts", "truehd", "ogg", "flac", "wav", "w64", "aiff", "au", "caf", "amr", "ape"),
    *("tta", "wv", "mpc", "mpc8", "tak", "mxf", "gxf", "dv", "wtv", "voc", "aa", "dsf"),
)
"""FFmpeg's names of the allowed formats."""
INDEXED = frozenset({"mov", "matroska", "ogg", "wav", "w64", "flac", "mpegts", "flv"})
"""Formats with packet times: in others the time after a jump is an estimate, and captions would drift."""
LONGEST_MS = 48 * 3_600_000
LEAST_RATE = 2_000
"""Lowest sample rate of intelligible speech."""
LONGEST_HOLE_MS = 10 * 60_000
"""Longest jump of the times that counts as silence; a longer one is an error in the file."""
LONGEST_OVERLAP_MS = 1_000
"""Longest backward jump that counts as an overlap."""
LEAST_HOLE_MS = 40
PREROLL_MS = 5_000
"""Sound decoded before the requested start, because decoders need some to settle."""
SILENT_FILE_S = 60
"""Longest time to read a piece from the disk."""
_LISTS = (b"#EXTM3U", b"ffconcat", b"[playlist]", b"<asx", b"<?wpl", b"<smil", b"<MPD", b"<playlist", b"v=0\r\n")
"""First bytes of files that only refer to others."""
_LIST_SUFFIXES = frozenset({".m3u", ".m3u8", ".pls", ".asx", ".wpl", ".xspf", ".mpd", ".sdp", ".cue", ".strm"})
_PROTECTED_TAGS = frozenset({"enca", "encv", "drms", "aavd", "p608"})
"""Codec tags of protected tracks in MP4."""
_PROTECTED_ASF = (
    bytes.fromhex("fbb3112223bdd211b4b700a0c955fc6e"),
    bytes.fromhex("14e68a292226174cb935dae07ee9289c"),
)
"""Objects in the header of a protected Windows Media file."""
_HEAD = 65_536


class SoundFile:
    """Sound of a file, up to `LONGEST_MS`.

    Raises:
        AppError: `sound_unreadable`, `no_sound`, `protected`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._suffix = path.suffix
        self.missing = 0
        """Samples that could not be decoded, replaced by silence."""
        head = self._head()
        self._container = self._open(head)
        try:
            self._stream = self._best_stream(head)
            rate = self._stream.rate or 0
            if rate < LEAST_RATE:
                raise self.unreadable(_("{rate} samples a second are too few").format(rate=rate))
            self._start_ms = (self._container.start_time or 0) / 1000
        except BaseException:
            self._container.close()
            raise

    def __enter__(self) -> "SoundFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._container.close()

    def unreadable(self, reason: str) -> AppError:
        return AppError("sound_unreadable", path=str(self.path), reason=reason)

    def length_ms(self) -> int:
        """Return the length by the container, or by the packets, after which nothing more can be read."""
        import av

        stream = self._stream
        length = self.stated_length_ms()
        if not length:
            with suppress(av.FFmpegError):
                for packet in self._container.demux(stream):
                    if packet.pts is not None:
                        end = (packet.pts + (packet.duration or 0)) * packet.time_base * 1000
                        length = max(length, float(end) - self._start_ms)
        if not 0 <= length <= LONGEST_MS:
            raise self.unreadable(_("its length is not to be believed"))
        return int(length)

    def stated_length_ms(self) -> float:
        """Return the length in the file's header; 0 if it has none."""
        stream = self._stream
        if self._container.duration:
            return float(self._container.duration / 1000)
        return float(stream.duration * stream.time_base * 1000) if stream.duration else 0.0

    def samples(self, begin_ms: int = 0) -> "Iterator[NDArray[np.float32]]":
        """Yield the samples from a time on, without holes: the nth one is n / RATE s after it."""
        begin = begin_ms * RATE // 1000
        self._seek(begin_ms)
        position: int | None = None
        """Position of the next sample in the file."""
        shift = 0
        for time_ms, piece in self._decoded():
            at = (position or 0) if time_ms is None else round(time_ms * RATE / 1000) + shift
            if position is None:
                position = min(at, begin) if abs(at - begin) <= _samples(LONGEST_HOLE_MS) or at < begin else begin
            hole = at - position
            if not -_samples(LONGEST_OVERLAP_MS) <= hole <= _samples(LONGEST_HOLE_MS):
                shift -= hole
                hole = 0
            if abs(hole) < _samples(LEAST_HOLE_MS):  # times are rounded
                hole = 0
            if hole < 0:
                piece = piece[-hole:]
            while hole > 0:
                silence = min(hole, RATE)
                if position >= begin:
                    self.missing += silence
                    yield np.zeros(silence, np.float32)
                position += silence
                hole -= silence
            if position > _samples(LONGEST_MS):
                raise self.unreadable(_("its length is not to be believed"))
            samples = piece[max(0, begin - position) :]
            position += len(piece)
            if len(samples):
                yield samples

    def _seek(self, begin_ms: int) -> None:
        """Go to a position before `begin_ms`, or stay at the start if a jump would lose the times."""
        import av

        if begin_ms <= PREROLL_MS or self._container.format.name.split(",")[0] not in INDEXED:
            return
        try:
            self._container.seek(round((begin_ms - PREROLL_MS + self._start_ms) * 1000))
        except av.FFmpegError:
            logger.info("no jump in a file %s: it is read from its beginning", self._suffix, exc_info=True)
            self._container.close()
            head = self._head()
            self._container = self._open(head)
            self._stream = self._best_stream(head)

    def _decoded(self) -> "Iterator[tuple[float | None, NDArray[np.float32]]]":
        """Yield pieces with their times, if the file has them; damaged parts are left out."""
        import av

        mixer: Mixer | None = None
        for packet in self._packets():
            try:
                frames = packet.decode()
            except av.FFmpegError:
                logger.debug("a packet cannot be decoded", exc_info=True)
                continue
            for frame in frames:
                if mixer is None or not mixer.fits(frame):
                    if mixer is not None:
                        yield None, mixer.rest()
                    mixer = Mixer(frame)
                time = frame.pts * frame.time_base * 1000 - self._start_ms if frame.pts is not None else None
                yield None if time is None else float(time), mixer.mixed(frame)
        if mixer is not None:
            yield None, mixer.rest()

    def _packets(self) -> Iterator[Any]:
        """Yield the packets up to the end, or up to the first unreadable one."""
        import av

        packets = self._container.demux(self._stream)
        while True:
            try:
                yield next(packets)
            except StopIteration:
                return
            except av.FFmpegError:
                logger.info("the rest of a file %s cannot be read", self._suffix, exc_info=True)
                return

    def _head(self) -> bytes:
        """Return the beginning of the file, which must be a regular one."""
        try:
            # opening a pipe would block until somebody writes to it
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            with open(descriptor, "rb") as file:  # noqa: PTH123 - of a descriptor
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise self.unreadable(_("it is no file"))
                head = file.read(_HEAD)
        except OSError as error:
            raise self.unreadable(error.strerror or str(error)) from error
        if not head:
            raise self.unreadable(_("it is empty"))
        begin = head.lstrip(b"\xef\xbb\xbf \r\n\t")[:400]
        is_text = not set(head[:400]) & set(range(9))
        if begin.startswith(_LISTS) or (is_text and self.path.suffix.lower() in _LIST_SUFFIXES):
            raise self.unreadable(_("it is a list that leads to other files or addresses"))
        if any(mark in head for mark in _PROTECTED_ASF):
            raise AppError("protected", title=str(self.path))
        return head

    def _open(self, head: bytes) -> Any:
        import av

        options = {"protocol_whitelist": "file", "format_whitelist": ",".join(FORMATS)}
        try:
            return av.open(
                f"file:{self.path.absolute()}",
                mode="r",
                options=options,
                metadata_errors="ignore",
                timeout=SILENT_FILE_S,
            )
        except MemoryError:
            raise
        except (av.FFmpegError, ValueError, OSError) as error:
            logger.info("a file %s cannot be opened", self._suffix, exc_info=True)
            if b"ftyp" in head[:16] and b"aax" in head[:32]:
                raise AppError("protected", title=str(self.path)) from error
            raise self.unreadable(_("it is no film or sound, or it is damaged")) from error

    def _best_stream(self, head: bytes) -> Any:
        """Return the Korean audio stream, or the one that players choose."""
        streams = self._container.streams.audio
        if not streams:
            raise AppError("no_sound", path=str(self.path))
        korean = next((stream for stream in streams if (stream.language or "")[:2] == "ko"), None)
        stream = korean or self._container.streams.best("audio") or streams[0]
        context = stream.codec_context
        if context is None and "mp4" not in self._container.format.name.split(","):
            raise self.unreadable(_("its codec is unknown here"))
        if context is None or context.codec_tag in _PROTECTED_TAGS or b"aavd" in head:
            raise AppError("protected", title=str(self.path))
        stream.thread_type = "NONE"
        return stream


class Mixer:
    """Converter of one kind of frames to mono samples at `RATE`."""

    def __init__(self, frame: Any) -> None:
        import av

        self._kind = self._kind_of(frame)
        self._resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)

    def fits(self, frame: Any) -> bool:
        return self._kind == self._kind_of(frame)

    def mixed(self, frame: Any) -> "NDArray[np.float32]":
        return self._joined(self._resampler.resample(frame))

    def rest(self) -> "NDArray[np.float32]":
        """Return the samples still buffered."""
        return self._joined(self._resampler.resample(None))

    @staticmethod
    def _kind_of(frame: Any) -> tuple[Any, ...]:
        return frame.format.name, frame.layout.name, frame.layout.nb_channels, frame.sample_rate

    @staticmethod
    def _joined(frames: list[Any]) -> "NDArray[np.float32]":
        pieces = [frame.to_ndarray().reshape(-1) for frame in frames]
        return np.concatenate(pieces).astype(np.float32) if pieces else np.zeros(0, np.float32)


def _samples(ms: int) -> int:
    return ms * RATE // 1000
