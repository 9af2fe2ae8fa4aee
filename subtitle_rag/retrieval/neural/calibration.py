"""How far apart an encoder puts related and unrelated texts, measured on built-in Korean pairs.

The cosines of one encoder tell nothing about another's: unrelated Korean texts are at 0.82 to an E5 and at 0.1 to
others. So each is asked once, when it is first used, for the cosines of 78 captions, each with a query that it answers
and one that it does not; `korean_pairs.jsonl` has them, on subjects of everyday videos.
"""

import json
import statistics
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from subtitle_rag.library.store import Library
from subtitle_rag.models import manifest
from subtitle_rag.retrieval.neural.interface import Encoder

_PAIRS = Path(__file__).with_name("korean_pairs.jsonl")
_DIGITS = 4
MEASURED = ((0.78, 0.7), (0.96, 0.3))
"""`Calibration.first` of multilingual-e5-small and of EmbeddingGemma, each with the weight of words that ranks best
beside it on both halves of scene_bench (`scripts/bench fusion --number WORDS=…`)."""
MOST_WORDS = 1.0
LEAST_FIRST = 0.5
"""`Calibration.first` of an encoder that knows Korean, at least; by chance it is 0.01."""


class Pair(NamedTuple):
    """What somebody says in a video, a query that it answers, and one that it does not."""

    caption: str
    related: str
    unrelated: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The cosines of the built-in pairs by one encoder, caption by caption."""

    related: tuple[float, ...]
    """Of each caption with the query that it answers,"""
    unrelated: tuple[float, ...]
    """and with one that it does not."""
    strangers: tuple[float, ...]
    """Of each query that no caption answers, with the caption nearest to it."""
    first: float
    """The share of queries that are nearest to the caption that answers them."""

    @property
    def floor(self) -> float:
        """Return the cosine below which nothing is found by meaning: that of the related pair that is farthest apart.

        Speech as it was recognised is farther from a query than the pairs' clean sentences.
        """
        return min(self.related)

    @property
    def strict_floor(self) -> float:
        """Return the floor of a query of which the library says next to nothing: most of these have no answer in it.

        One stranger in twenty passes it.
        """
        return max(self.floor, statistics.quantiles(self.strangers, n=20, method="inclusive")[-1])

    @property
    def words(self) -> float:
        """Return how much words weigh beside this meaning: by `first` on the line through two encoders that were
        measured on questions about scenes, and never more than beside no encoder of worth."""
        (weak, heavy), (strong, light) = MEASURED
        weight = heavy + (light - heavy) * (self.first - weak) / (strong - weak)
        return round(min(MOST_WORDS, max(light, weight)), 2)

    @property
    def has_floor(self) -> bool:
        """Whether the floors hold: those of an encoder that does not know Korean say nothing of other languages."""
        return self.first >= LEAST_FIRST


@cache
def korean_pairs() -> tuple[Pair, ...]:
    return tuple(Pair(**json.loads(line)) for line in _PAIRS.read_text(encoding="utf-8").splitlines())


def calibration_of(library: Library, encoder: Encoder) -> Calibration | None:
    """Return the stored calibration of an encoder, at its first use a new one; None without dense vectors.

    Raises the errors of the encoder and of writing the library.
    """
    stored = stored_calibration(library, encoder.id)
    if stored is None and encoder.dimensions:
        stored = calibrate(encoder)
        library.database.put_setting(_key(encoder.id), json.dumps(asdict(stored)))
    return stored


def stored_calibration(library: Library, encoder_id: str) -> Calibration | None:
    """Return the calibration that the library keeps of an encoder; None without one, or of other pairs."""
    text = library.database.get_setting(_key(encoder_id))
    values = json.loads(text) if text else {}
    if len(values.get("related", ())) != len(korean_pairs()):
        return None
    cosines = {name: tuple(values[name]) for name in ("related", "unrelated", "strangers")}
    return Calibration(**cosines, first=values["first"])


def words_weight(library: Library, encoder_id: str) -> float | None:
    """Return how much words weigh beside an encoder's meaning: by the manifest, else by its stored calibration."""
    weight = manifest.words_weight(encoder_id)
    if weight is None and (calibration := stored_calibration(library, encoder_id)):
        return calibration.words
    return weight


def calibrate(encoder: Encoder) -> Calibration:
    """Encode the pairs: some seconds. Raises the errors of the encoder."""
    pairs = korean_pairs()
    captions = [
        encoded.dense.values if encoded else () for encoded in encoder.passages([pair.caption for pair in pairs])
    ]

    def cosines(query: str) -> list[float]:
        vector = encoder.query(query).dense.values
        return [round(sum(map(float.__mul__, vector, caption)), _DIGITS) for caption in captions]

    related = [cosines(pair.related) for pair in pairs]
    unrelated = [cosines(pair.unrelated) for pair in pairs]
    return Calibration(
        tuple(row[at] for at, row in enumerate(related)),
        tuple(row[at] for at, row in enumerate(unrelated)),
        tuple(map(max, unrelated)),
        statistics.fmean(row[at] == max(row) > min(row) for at, row in enumerate(related)),
    )


def _key(encoder_id: str) -> str:
    return f"calibration {encoder_id}"
