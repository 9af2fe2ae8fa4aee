"""ffmpeg and ffprobe on local files: clips, and captions inside films."""

import json
import logging
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.terminal_text import line_text

logger = logging.getLogger(__name__)

LOCAL = ("-protocol_whitelist", "file,pipe")
"""Options before an input: a file that lists others, such as a playlist, must not reach the network."""


@dataclass(frozen=True, slots=True)
class MediaProbe:
    """Facts that ffprobe reads from a file."""

    streams: frozenset[str]
    """Kinds: video, audio, subtitle."""
    length_ms: int | None
    """None if the container does not say."""
    size: tuple[int, int] | None
    """Displayed width and height in square pixels; None without a picture."""
    rate: Fraction
    """Frames per second; 0 without a picture."""

    @property
    def frame_ms(self) -> float:
        """Length of a frame; 0 without a picture."""
        return float(1000 / self.rate) if self.rate else 0.0


PROBE_S, EXTRACT_S = 60, 1_800
"""Timeouts for reading a film's metadata, and for extracting its captions, which reads all of it."""

TEXT_CODECS = {
    "subrip": "srt",
    "mov_text": "srt",
    "text": "srt",
    "webvtt": "vtt",
    "ass": "ass",
    "ssa": "ass",
}
"""Text codecs of captions, with the format to extract them in."""
_MUXERS = {"srt": "srt", "vtt": "webvtt", "ass": "ass"}


@dataclass(frozen=True, slots=True)
class EmbeddedTrack:
    """A caption track inside a film.

    `number` is its index among the film's caption tracks; `format` is empty for pictures.
    """

    number: int
    format: str
    language: str
    is_forced: bool
    title: str = ""


@dataclass(frozen=True, slots=True)
class FilmProbe:
    """The caption tracks of a film, and its metadata with title and day as stored."""

    tracks: tuple[EmbeddedTrack, ...]
    title: str
    day: str


@dataclass(frozen=True, slots=True)
class Ffmpeg:
    """The installed programs."""

    ffmpeg: str
    ffprobe: str

    @classmethod
    def find(cls) -> "Ffmpeg":
        """Find the programs on the path. Raises AppError `ffmpeg_missing`."""
        paths = [shutil.which(name) for name in ("ffmpeg", "ffprobe")]
        if None in paths:
            raise AppError("ffmpeg_missing")
        return cls(*(str(path) for path in paths))

    def run(self, arguments: Sequence[str], folder: Path, progress: Callable[[float], object]) -> None:
        """Run ffmpeg in a folder; `progress` gets the seconds written so far.

        Raises:
            AppError: `clip_failed`, with the last line that ffmpeg printed.
        """
        command = [self.ffmpeg, "-nostdin", "-v", "error", "-y", "-progress", "pipe:1", *arguments]
        logger.info("ffmpeg %s", " ".join(arguments))
        with (
            tempfile.TemporaryFile() as printed,
            subprocess.Popen(  # noqa: S603
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=printed
            ) as run,
        ):
            assert run.stdout is not None
            try:
                for line in run.stdout:
                    name, _equals, value = line.decode(errors="replace").strip().partition("=")
                    if name == "out_time_us" and value.isdecimal():
                        progress(int(value) / 1e6)
            except BaseException:
                run.kill()
                raise
            status = run.wait()
            printed.seek(0)
            text = printed.read(100_000).decode(errors="replace").strip()
        if status:
            raise AppError("clip_failed", reason=_reason(text) or str(status))

    def film(self, path: Path) -> FilmProbe:
        """Return a film's caption tracks and metadata. Raises AppError `film_unreadable`."""
        entries = "stream=codec_name:stream_tags=language,title,handler_name:stream_disposition=forced:format_tags"
        options = ("-select_streams", "s", "-show_entries", entries, "-show_entries", "format_tags", "-of", "json")
        values = self._run_probe(options, path, "film_unreadable")
        tracks = []
        for number, stream in enumerate(values.get("streams", [])):
            tags, disposition = stream.get("tags") or {}, stream.get("disposition") or {}
            codec = TEXT_CODECS.get(str(stream.get("codec_name")), "")
            title = str(tags.get("title") or tags.get("handler_name") or "")
            is_forced = disposition.get("forced") == 1
            tracks.append(EmbeddedTrack(number, codec, str(tags.get("language", "")), is_forced, title))
        about = {key.lower(): str(value) for key, value in ((values.get("format") or {}).get("tags") or {}).items()}
        day = about.get("date") or about.get("date_released") or about.get("creation_time") or ""
        return FilmProbe(tuple(tracks), about.get("title", ""), day)

    def extract(self, path: Path, track: int, format: str, most: int) -> bytes:
        """Return a caption track of a film as a caption file, cut after `most` + 1 bytes.

        Raises:
            AppError: `film_unreadable`, with the last line that ffmpeg printed.
        """
        arguments = ["-nostdin", "-v", "error", *LOCAL, "-i", address(path), "-map", f"0:s:{track}"]
        command = [self.ffmpeg, *arguments, "-f", _MUXERS[format], "pipe:1"]
        with (
            tempfile.TemporaryFile() as printed,
            subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=printed
            ) as run,
        ):
            assert run.stdout is not None
            clock = threading.Timer(EXTRACT_S, run.kill)
            clock.start()
            try:
                raw = run.stdout.read(most + 1)
                if len(raw) > most:
                    run.kill()
                status = run.wait()
            finally:
                clock.cancel()
                run.kill()
            printed.seek(0)
            text = printed.read(100_000).decode(errors="replace")
        if status and len(raw) <= most:
            raise AppError("film_unreadable", reason=_reason(text) or str(status))
        return raw

    def _run_probe(self, options: Sequence[str], path: Path, code: str) -> dict[str, Any]:
        """Return ffprobe's answer. Raises AppError `code`."""
        command = [self.ffprobe, "-v", "error", *LOCAL, *options, address(path)]
        try:
            run = subprocess.run(  # noqa: S603
                command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=PROBE_S
            )
            values = json.loads(run.stdout or b"{}")
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise AppError(code, reason=str(error)) from error
        if run.returncode or not isinstance(values, dict):
            raise AppError(code, reason=_reason(run.stderr.decode(errors="replace")) or str(path))
        return values

    def probe(self, path: Path) -> MediaProbe:
        """Return a file's streams and length. Raises AppError `clip_failed`."""
        stream_fields = "codec_type,avg_frame_rate,width,height,sample_aspect_ratio"
        fields = f"format=duration:stream={stream_fields}:stream_side_data=rotation"
        entries = ("-show_entries", fields, "-of", "json")
        values = self._run_probe(entries, path, "clip_failed")
        streams = values.get("streams")
        if not streams:
            raise AppError("clip_failed", reason=str(path))
        try:
            length_ms = round(float(values.get("format", {})["duration"]) * 1000)
        except (KeyError, ValueError):
            length_ms = None
        kinds = frozenset(str(stream.get("codec_type")) for stream in streams)
        rate = max(_ratio(stream.get("avg_frame_rate"), "/") for stream in streams)
        return MediaProbe(kinds, length_ms, next(filter(None, map(_size, streams)), None), rate)


def _size(stream: dict[str, Any]) -> tuple[int, int] | None:
    """Return the picture's size: rotated as the file says, in square pixels, and even as H.264 requires."""
    width, height = stream.get("width") or 0, stream.get("height") or 0
    if not width or not height:
        return None
    width = round(width * (_ratio(stream.get("sample_aspect_ratio"), ":") or 1))
    turns = [int(data.get("rotation") or 0) for data in stream.get("side_data_list") or ()]
    if any(turn % 180 for turn in turns):
        width, height = height, width
    return max(2, width // 2 * 2), max(2, height // 2 * 2)


def _ratio(text: object, sign: str) -> Fraction:
    """Parse a ratio of ffprobe's, such as 30000/1001; 0 for invalid ones such as 0/0, the rate of sound."""
    above, _sign, below = str(text).partition(sign)
    is_ratio = above.isdecimal() and below.isdecimal() and int(below) > 0
    return Fraction(int(above), int(below)) if is_ratio else Fraction()


def address(path: Path) -> str:
    """Return a file name that ffmpeg reads as one, whatever its first characters."""
    return f"file:{path.absolute()}"


def _reason(printed: str) -> str:
    """Return the last line that a program printed."""
    lines = printed.strip().splitlines()
    return line_text(lines[-1]).rstrip(". ")[:300] if lines else ""
