"""How many attacks a test of the campaign tries, and the line of figures that it prints."""

import os
import resource
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

SEED = int(os.environ.get("SUBTITLE_RAG_SEED") or 19)

Say = Callable[[str], None]


def count(variable: str, short: int) -> int:
    return int(os.environ.get(variable) or short)


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Say:
    def write(line: str) -> None:
        with capfd.disabled():
            sys.stdout.write(f"\n{line}\n")

    return write


@dataclass
class Figures:
    """What came of the attacks. `wrong` names each that went wrong, by its number."""

    name: str
    tried: int = 0
    results: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    foreign: int | None = None
    """Requests that came to the server that nobody may ask."""

    def line(self) -> str:
        results = ", ".join(f"{name} {number}" for name, number in sorted(self.results.items()))
        slowest = f", slowest {self.slowest[0]:.1f} s ({self.slowest[1]})" if self.slowest[1] else ""
        foreign = f", foreign requests {self.foreign}" if self.foreign is not None else ""
        mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        begin = f"{self.name}: tried {self.tried}, seed {SEED}, {results}, wrong {len(self.wrong)}"
        return f"{begin}{foreign}{slowest}, most memory {mb} MB"
