"""Runs of the vectors stage over a real library and index, with tiny encoders, and what they come to."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.events import VectorEvent, VectorsReport
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.base.vectors.points import Vector
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.index.interface import Index
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.models.neural.protocols import Encoder
from tests.support.invented import context
from tests.support.models_here import Asked, Here
from tests.support.place import Place

NOW = 1_800_000_000


class Counting(Asked):
    """An encoder of a folder."""

    @classmethod
    def of(cls, folder: Path, options: str = "") -> "Counting":
        return cls(folder, f"{folder.name}@00000000{options}")

    def fresh(self) -> "Counting":
        """As if it had read nothing."""
        self.read, self.failure = [], None
        return self


@dataclass
class Clock:
    """Unix seconds that pass when they are told to."""

    now: float = float(NOW)

    def __call__(self) -> float:
        return self.now


@dataclass
class Desk:
    """A place, and runs there."""

    place: Place
    clock: Clock = field(default_factory=Clock)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def library(self) -> Library:
        return self.place.library

    @property
    def index(self) -> Index:
        return self.place.index

    def job(self, *encoders: Encoder) -> EncodingRun:
        """A run of the first encoder, where all of these are here."""
        here = Here([*encoders])
        return EncodingRun(self.library, self.index, encoders[0], here, self.stop, clock=self.clock, pause=0.0)

    def run(
        self, *encoders: Encoder, chosen: WindowSelection | None = None, patient: bool = True
    ) -> tuple[list[VectorEvent], VectorsReport]:
        """All events but the last one, and that."""
        *events, report = self.job(*encoders).run(chosen, patient=patient)
        assert isinstance(report, VectorsReport)
        return events, report

    def windows(self) -> list[str]:
        """The ids of all windows."""
        return [w.id for state in self.library.videos() for w in self.library.windows_of(state.video.id)]

    def holding(self, encoder: Encoder) -> dict[str, dict[str, Vector]]:
        """Of each window what the index holds under the encoder's names."""
        names = vector_names(encoder.id)
        points = self.index.get(self.windows())
        found = {one.id: {name: one.vectors[name] for name in names if name in one.vectors} for one in points}
        return {id: own for id, own in found.items() if own}

    def write_context(self, window_id: str, text: str = "국수를 삶는 장면입니다.", **changes: Any) -> None:
        """As if a model had answered at the clock's time."""
        (window,) = self.library.windows([window_id]).values()
        changes = {"written_at": int(self.clock.now), **changes}
        assert self.library.contexts.put(context(window_id, window.video_id, text, **changes))
