"""Homes with a Qdrant server in their config, and command lines run in them."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.commandline import Ran, ran
from tests.support.invented import caption_folder, end_hosts

QUERY = ("search", "국수를 먹었어요", "--limit", "50", "--json")


class Machine:
    """A separate home, and the commands run in it."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self._capsys = capsys

    def use(self, url: str, *lines: str) -> None:
        """Set the server in the config; empty: none."""
        self.home.mkdir(parents=True, exist_ok=True)
        text = "\n".join(["[qdrant]", f'url = "{url}"', *lines])
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def __call__(self, *arguments: object) -> Ran:
        return ran(self._capsys, "--home", self.home, *arguments)

    @property
    def embedded(self) -> Path:
        return self.home / "data" / "index"

    def end(self) -> None:
        end_hosts([self.embedded, *(self.home / "cache" / "qdrant").glob("*")])


def videos(folder: Path, *numbers: int) -> Path:
    """Return captions of the chosen ones of five invented videos."""
    caption_folder(folder, 5, minutes=2)
    for file in folder.iterdir():
        if not any(f"[invented{number:03d}]" in file.name for number in numbers):
            file.unlink()
    return folder


def scenes(found: Ran) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = found.document["result"]["scenes"]
    return listed


def found_videos(found: Ran) -> set[str]:
    return {scene["video"]["id"] for scene in scenes(found)}


def ranking(found: Ran) -> list[tuple[str, Any]]:
    return [(scene["scene"], pytest.approx(scene["score"], rel=1e-3)) for scene in scenes(found)]
