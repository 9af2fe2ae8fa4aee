"""Sound files with their own transcript, and a transcriber that reads it.

A file is a WAV of silence; a chunk after its samples has the stretches as JSON, which players and decoders ignore.
"""

import io
import json
import os
import struct
import time
import wave
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Cue, GapReason, HeardStretch
from subtitle_rag.cli import main as cli
from subtitle_rag.listening import transcribers
from subtitle_rag.listening.transcribers import Transcriber, open_transcriber
from subtitle_rag.models.model_store import ModelStore, SpeechFiles
from subtitle_rag.workflows import checks as doctor

MODEL, OTHER = "reader", "other"
LOG = "HEARD_LOG"
"""Variable with the path of the file to which readers log what they heard."""
RATE = 4_000
"""Samples per second."""
Stretch = tuple[int, int, list[tuple[int, int, str]], str]
"""Start and end in seconds, lines of (start, end, text), and the reason for a gap or ""."""

STRETCHES: tuple[Stretch, ...] = (
    (0, 60, [(1, 4, "오늘은 멸치 육수부터 끓여 볼게요"), (5, 9, "불은 약하게 두고 십오 분만 기다립니다")], ""),
    (60, 140, [], "loop"),
    (140, 200, [(150, 155, "다온 님이 보내 주신 된장을 넣어요"), (160, 166, "그러면 국물이 맑아져요")], ""),
)


def wav(stretches: Sequence[Stretch] = STRETCHES) -> bytes:
    """Return a WAV file with these stretches."""
    length = max((end for _begin, end, *_rest in stretches), default=1)
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(RATE)
        sound.writeframes(bytes([128]) * RATE * length)
    chunk = json.dumps(stretches).encode()
    chunk += b" " * (len(chunk) % 2)
    raw = file.getvalue() + b"said" + struct.pack("<I", len(chunk)) + chunk
    return raw[:4] + struct.pack("<I", len(raw) - 8) + raw[8:]


def write_wav(path: Path, *stretches: Stretch) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wav(stretches or STRETCHES))
    return path


class Reader(Transcriber):
    """Transcriber that reads a file's own stretches, and logs each of them."""

    def __init__(self, model: str) -> None:
        super().__init__(SpeechFiles(model, Path(), model))

    @property
    def settings(self) -> str:
        return "read"

    def listen(
        self,
        sound: Path,
        *,
        begin_ms: int = 0,
        language: str | None = "ko",
        names: Sequence[str] = (),
        stop: Event | None = None,
    ) -> Iterator[HeardStretch]:
        raw = sound.read_bytes()
        if b"said" not in raw:
            raise AppError("sound_unreadable", path=str(sound), reason="no chunk")
        at = raw.index(b"said")
        size = int.from_bytes(raw[at + 4 : at + 8], "little")
        for begin, end, lines, gap in json.loads(raw[at + 8 : at + 8 + size]):
            if begin * 1000 < begin_ms:
                continue
            if stop is not None and stop.is_set():
                raise AppError("interrupted")
            time.sleep(float(os.environ.get("HEARD_PAUSE") or 0))
            with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
                log.write(json.dumps([sound.name, begin, end, self.model, list(names)]) + "\n")
            cues = []
            for start, last, text in lines:
                words = text.split()
                step = (last - start) * 1000 // max(1, len(words))
                starts = tuple(start * 1000 + step * number for number in range(len(words)))
                cues.append(Cue(start * 1000, last * 1000, text, starts))
            yield HeardStretch(begin * 1000, end * 1000, tuple(cues), GapReason(gap) if gap else None, language or "ko")


def open_reader(models: ModelStore, name: str | None = None) -> Transcriber:
    """Open a reader by its name; open other transcribers as the program does."""
    chosen = name or models.settings.speech
    return Reader(chosen) if chosen in (MODEL, OTHER) else open_transcriber(models, name)


def use_reader(monkeypatch: pytest.MonkeyPatch, log: Path) -> Path:
    """Let this process open readers by their names; return the log of their stretches."""
    monkeypatch.setattr(transcribers, "open_transcriber", open_reader)
    monkeypatch.setattr(doctor, "open_transcriber", open_reader)
    monkeypatch.setenv(LOG, str(log))
    return log


def heard(log: Path) -> list[Any]:
    """Return the stretches in the log: file, start, end, model, names."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


if __name__ == "__main__":  # the program in a separate process, which can open readers too
    with pytest.MonkeyPatch.context() as patch:
        use_reader(patch, Path(os.environ[LOG]))
        cli.main()
