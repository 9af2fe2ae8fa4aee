"""Sound that says what is heard in it, and a transcriber of another distribution that reads this.

A file is a WAV of silence; a chunk behind its samples has the stretches as JSON. Players and decoders pass it over.
"""

import io
import json
import os
import struct
import sys
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.plugins import TRANSCRIBERS

MODEL = "reader"
RATE = 4_000
"""Samples a second."""
Stretch = tuple[int, int, list[tuple[int, int, str]], str]
"""Begin and end in seconds, lines of them (begin, end, text), and the reason of a gap or nothing."""

MODULE = '''
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain import AppError, Cue
from subtitle_rag.listening import GapReason, HeardStretch

LOG = Path(__file__).with_name("heard.log")


@dataclass(frozen=True)
class Reader:
    """Hears what a file says of itself."""

    model: str
    settings: str = "read"

    def listen(self, sound, *, begin_ms=0, language="ko", names=(), stop=None):
        raw = Path(sound).read_bytes()
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
            with LOG.open("a") as log:
                log.write(json.dumps([Path(sound).name, begin, end, self.model, list(names)]) + "\\n")
            cues = []
            for start, stop_, text in lines:
                words = text.split()
                step = (stop_ - start) * 1000 // max(1, len(words))
                starts = tuple(start * 1000 + step * number for number in range(len(words)))
                cues.append(Cue(start * 1000, stop_ * 1000, text, starts))
            yield HeardStretch(begin * 1000, end * 1000, tuple(cues), GapReason(gap) if gap else None, language)


READER = Reader("reader")
OTHER = Reader("other")
'''

STRETCHES: tuple[Stretch, ...] = (
    (0, 60, [(1, 4, "오늘은 멸치 육수부터 끓여 볼게요"), (5, 9, "불은 약하게 두고 십오 분만 기다립니다")], ""),
    (60, 140, [], "loop"),
    (140, 200, [(150, 155, "다온 님이 보내 주신 된장을 넣어요"), (160, 166, "그러면 국물이 맑아져요")], ""),
)


def wav(stretches: Sequence[Stretch] = STRETCHES) -> bytes:
    """Return a WAV file that says these stretches."""
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


def install_reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the distribution, for subprocesses too; return its log of stretches."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "heard_reader.py").write_text(MODULE)
    info = folder / "heard_reader-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: heard-reader\nVersion: 1.0\n")
    entries = f"[{TRANSCRIBERS}]\n{MODEL} = heard_reader:READER\nother = heard_reader:OTHER\n"
    (info / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delitem(sys.modules, "heard_reader", raising=False)
    return folder / "heard.log"


def heard(log: Path) -> list[Any]:
    """Return the stretches that the transcriber has heard: file, begin, end, model, names."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
