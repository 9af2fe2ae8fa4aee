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

    def streams(self, path: Path) -> frozenset[str]:
        """Return the kinds of streams in a file: video, audio, subtitle; raises AppError `clip_failed`."""
        entries = ("-show_entries", "stream=codec_type", "-of", "json")
        command = [self.ffprobe, "-v", "error", *LOCAL, *entries, address(path)]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
        try:
            streams = json.loads(run.stdout or b"{}").get("streams", [])
        except ValueError:
            streams = []
        if run.returncode or not streams:
            raise AppError("clip_failed", reason=_reason(run.stderr.decode(errors="replace")) or str(path))
        return frozenset(str(stream.get("codec_type")) for stream in streams)


def address(path: Path) -> str:
    """Return a file's name as ffmpeg reads it, whatever its first characters are."""
    return f"file:{path.absolute()}"


def _reason(printed: str) -> str:
    """Return the last line that a program printed."""
    lines = printed.strip().splitlines()
    return line_text(lines[-1]).rstrip(". ")[:300] if lines else ""
