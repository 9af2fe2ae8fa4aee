"""Runs ffmpeg and ffprobe on local files."""

import json
import logging
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain import AppError
from subtitle_rag.terminal_text import line_text

logger = logging.getLogger(__name__)

LOCAL = ("-protocol_whitelist", "file,pipe")
"""Options in front of an input: a file that lists others, such as a playlist, reaches no network."""


@dataclass(frozen=True, slots=True)
class MediaProbe:
    """What ffprobe reads of a file."""

    streams: frozenset[str]
    """Kinds: video, audio, subtitle."""
    length_ms: int | None
    """None if the container does not state it."""
    frame_ms: float
    """Length of a frame of its picture; 0 without one."""


@dataclass(frozen=True, slots=True)
class Ffmpeg:
    """The installed programs."""

    ffmpeg: str
    ffprobe: str

    @classmethod
    def find(cls) -> "Ffmpeg":
        """Find the programs on the path; raises AppError `ffmpeg_missing`."""
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

    def probe(self, path: Path) -> MediaProbe:
        """Return the streams and the length of a file; raises AppError `clip_failed`."""
        entries = ("-show_entries", "format=duration:stream=codec_type,avg_frame_rate", "-of", "json")
        command = [self.ffprobe, "-v", "error", *LOCAL, *entries, address(path)]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
        try:
            values = json.loads(run.stdout or b"{}")
        except ValueError:
            values = {}
        streams = values.get("streams", [])
        if run.returncode or not streams:
            raise AppError("clip_failed", reason=_reason(run.stderr.decode(errors="replace")) or str(path))
        try:
            length_ms = round(float(values.get("format", {})["duration"]) * 1000)
        except (KeyError, ValueError):
            length_ms = None
        frames_ms = [_frame_ms(str(stream.get("avg_frame_rate"))) for stream in streams]
        return MediaProbe(frozenset(str(stream.get("codec_type")) for stream in streams), length_ms, max(frames_ms))


def _frame_ms(rate: str) -> float:
    """Return the length of a frame at ffprobe's rate, such as 30000/1001; that of sound is 0/0."""
    frames, _slash, seconds = rate.partition("/")
    is_rate = frames.isdecimal() and seconds.isdecimal() and int(frames) > 0
    return 1000 * int(seconds) / int(frames) if is_rate else 0.0


def address(path: Path) -> str:
    """Return a file's name as ffmpeg reads it, whatever its first characters are."""
    return f"file:{path.absolute()}"


def _reason(printed: str) -> str:
    """Return the last line that a program printed."""
    lines = printed.strip().splitlines()
    return line_text(lines[-1]).rstrip(". ")[:300] if lines else ""
