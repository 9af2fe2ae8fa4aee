"""The socket of an mpv that says nothing, floods, lies, or speaks in halves."""

import json
import os
import random
import socket
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.sharing.player import mpv
from subtitle_rag.sharing.player.mpv import MpvLaunch
from tests.campaign.figures import SEED, Figures, Say, count, say
from tests.campaign.hostile_http import JUNK, changed

__all__ = ["say"]
pytestmark = pytest.mark.campaign(part="hostile")

COUNT = count("SUBTITLE_RAG_ATTACKS", 150)
MAX_S = 8.0
URL = "https://www.youtube.com/watch?v=abc"
FLOOD = b'{"event":"x"}\n' * 5_000


def honest(request: dict[str, Any]) -> bytes:
    values = {"path": URL, "ontop": False, "time-pos": 1.0, "idle-active": False}
    name, *rest = request["command"]
    data = values.get(rest[0]) if name == "get_property" else None
    return json.dumps({"error": "success", "data": data, "request_id": request["request_id"]}).encode() + b"\n"


def pieces(name: str, request: dict[str, Any], chance: random.Random) -> Iterable[bytes | None]:
    """What is sent for a request; None closes the connection."""
    answer, id = honest(request), request["request_id"]
    match name:
        case "silent":
            return []
        case "closes":
            return [answer[: chance.randrange(len(answer))], None]
        case "half":
            return [answer[:-1]]
        case "flood":
            return (FLOOD for _time in range(2_000))
        case "long":
            return (b"x" * 65_536 for _time in range(1_600))
        case "bytes":
            return [chance.randbytes(chance.randrange(1, 5_000)) + b"\n", answer]
        case "events":
            lies = [
                {"event": "end-file", "request_id": id},
                {"request_id": chance.choice(JUNK[:12]), "error": "success"},
            ]
            return [json.dumps(lie).encode() + b"\n" for lie in lies] + [answer]
        case "deep":
            return [b"[" * 300_000 + b"\n", answer]
        case "digits":
            return [b'{"data": ' + b"9" * 10_000 + b"}\n", answer]
        case "pieces":
            return [answer[at : at + 1] for at in range(len(answer))]
        case _:
            value = changed(json.loads(answer), chance)
            try:
                return [json.dumps(value).encode("utf-8", "surrogatepass") + b"\n"]
            except ValueError:  # it holds itself
                return [answer]


NAMES = ("silent", "closes", "half", "flood", "long", "bytes", "events", "deep", "digits", "pieces", *["values"] * 6)


class HostileMpv:
    """Listens on a Unix socket; `attack` is what comes from the request `first` on."""

    def __init__(self, path: Path) -> None:
        self.attack: tuple[str, int, random.Random] = ("values", 0, random.Random(0))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.fspath(path))
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                line = self._listener.accept()[0]
                threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with suppress(OSError), line, line.makefile("rb") as requests:
            for number, request in enumerate(requests):
                name, first, chance = self.attack
                request = json.loads(request)
                for piece in pieces(name, request, chance) if number >= first else [honest(request)]:
                    if piece is None:
                        return
                    line.sendall(piece)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[HostileMpv, Path]]:
    monkeypatch.setattr(mpv, "_opened", None)
    monkeypatch.setattr(mpv, "REPLY_S", 0.3)
    with tempfile.TemporaryDirectory(prefix="srm-", dir="/tmp") as folder:
        path = Path(folder) / "socket"
        hostile = HostileMpv(path)
        yield hostile, path
        hostile.close()


def descriptors() -> int:
    return sum(1 for _each in Path("/dev/fd").iterdir())


def test_a_hostile_mpv_plays_or_does_not(window: tuple[HostileMpv, Path], say: Say) -> None:
    figures = Figures("hostile mpv")
    hostile, path = window
    for number in range(COUNT):
        chance = random.Random(f"{SEED} mpv {number}")
        name, first = chance.choice(NAMES), chance.choice([0, 0, 0, 1, 2, 3])
        label = f"{number} {name} from {first}"
        hostile.attack = (name, first, chance)
        launch = MpvLaunch(URL, path, None, mpv._request_count, (None, 0))
        if chance.random() < 0.5:
            figures.attempt(label, MAX_S, partial(jumped, path))
        else:
            figures.attempt(label, MAX_S, partial(watched, launch, label, figures))
    figures.check(say, "played", "new window")


def jumped(path: Path) -> str:
    return "played" if mpv._in_window(path, lambda window: window.play(URL, 61)) else "new window"


def watched(launch: MpvLaunch, label: str, figures: Figures) -> str:
    """Wait for a window, and count the descriptors that this takes."""
    before, most = descriptors(), 0
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(launch.wait, 1.0)
        while not waiting.done():
            most = max(most, descriptors() - before)
            wait([waiting], 0.02)
    if most > 12:
        figures.wrong.append(f"{label}: {most} descriptors")
    return f"watched: {waiting.result()}"
