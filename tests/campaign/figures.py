"""How many attacks a test of the campaign tries, and the line of figures that it prints."""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from subtitle_rag.base.domain.errors import AppError

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

    def attempt(self, label: str, most_s: float, work: Callable[[], str]) -> str:
        """Count what came of an attack: what `work` returns, or that it was refused in words or crashed."""
        began = time.monotonic()
        try:
            result = work()
        except AppError as error:
            result = "refused"
            if not (error.message and error.hint) or "\x1b" in str(error.details):
                self.wrong.append(f"{label}: {error!r}")
        except Exception as error:  # every one is listed, by its number
            result = "crashed"
            self.wrong.append(f"{label}: {error!r}"[:300])
        took = time.monotonic() - began
        self.tried += 1
        self.results[result] += 1
        self.slowest = max(self.slowest, (took, label))
        if took > most_s:
            self.wrong.append(f"{label}: {took:.1f} s")
        return result

    def check(self, say: Say, *results: str) -> None:
        """Print the line, and see that nothing went wrong and that each of these results came."""
        say(self.line())
        assert self.wrong == []
        assert not self.foreign
        assert [name for name in results if not self.results[name]] == []

    def line(self) -> str:
        results = ", ".join(f"{name} {number}" for name, number in sorted(self.results.items()))
        slowest = f", slowest {self.slowest[0]:.1f} s ({self.slowest[1]})" if self.slowest[1] else ""
        foreign = f", foreign requests {self.foreign}" if self.foreign is not None else ""
        mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        begin = f"{self.name}: tried {self.tried}, seed {SEED}, {results}, wrong {len(self.wrong)}"
        return f"{begin}{foreign}{slowest}, most memory {mb} MB"
