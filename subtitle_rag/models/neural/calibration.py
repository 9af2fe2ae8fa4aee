"""Cosines of related and unrelated texts for an encoder, measured on built-in Korean pairs.

Encoders differ: two unrelated Korean texts have a cosine of 0.82 with an E5, 0.1 with others. So at its first use each
encodes 78 captions on everyday subjects, each with a query that it answers and one that it does not
(`korean_pairs.jsonl`).
"""

import json
import statistics
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from subtitle_rag.library.store import Library
from subtitle_rag.models import manifest
from subtitle_rag.models.neural.protocols import Encoder

_PAIRS = Path(__file__).with_name("korean_pairs.jsonl")
_DIGITS = 4
MEASURED = ((0.78, 1.25), (0.96, 0.5))
"""`Calibration.first` and best weight of words of two encoders; see `docs/dev/evaluation.md`."""
MOST_WORDS = 1.5
LEAST_FIRST = 0.5
"""Minimum `Calibration.first` of an encoder that knows Korean; chance gives 0.01."""


class Pair(NamedTuple):
    """A caption, a query that it answers, and one that it does not."""

    caption: str
    related: str
    unrelated: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """An encoder's cosines of the built-in pairs, one per caption."""

    related: tuple[float, ...]
    """Cosines of the captions and the queries they answer."""
    unrelated: tuple[float, ...]
    """Cosines of the captions and the queries they do not answer."""
    strangers: tuple[float, ...]
    """Cosines of the unanswered queries and their nearest captions."""
    first: float
    """Share of queries whose nearest caption is the answer."""

    @property
    def floor(self) -> float:
        """Return the least cosine of a match by meaning: the lowest one of a related pair.

        Recognized speech is farther from a query than the pairs' clean sentences.
        """
        return min(self.related)

    @property
    def strict_floor(self) -> float:
        """Return the floor for a query with hardly any words in the library, which most often has no answer.

        Three unanswered queries in twenty pass it: with one, EmbeddingGemma loses three right windows in 100.
        """
        return max(self.floor, statistics.quantiles(self.strangers, n=20, method="inclusive")[16])

    @property
    def words(self) -> float:
        """Return the weight of words next to this encoder's vectors.

        A line through two measured encoders gives it by `first`, within `MOST_WORDS` and the better encoder's weight.
        """
        (weak, heavy), (strong, light) = MEASURED
        weight = heavy + (light - heavy) * (self.first - weak) / (strong - weak)
        return round(min(MOST_WORDS, max(light, weight)), 2)

    @property
    def has_floor(self) -> bool:
        """Whether the floors are valid: an encoder that knows no Korean may still know other languages."""
        return self.first >= LEAST_FIRST


@cache
def korean_pairs() -> tuple[Pair, ...]:
    return tuple(Pair(**json.loads(line)) for line in _PAIRS.read_text(encoding="utf-8").splitlines())


def calibration_of(library: Library, encoder: Encoder) -> Calibration | None:
    """Return an encoder's stored calibration, or at first use a new one; None without dense vectors.

    Raises the errors of the encoder and of writing the library.
    """
    stored = stored_calibration(library, encoder.id)
    if stored is None and encoder.dimensions:
        stored = calibrate(encoder)
        library.database.put_setting(_key(encoder.id), json.dumps(asdict(stored)))
    return stored


def stored_calibration(library: Library, encoder_id: str) -> Calibration | None:
    """Return the calibration stored for an encoder; None if missing, or made with other pairs."""
    text = library.database.get_setting(_key(encoder_id))
    values = json.loads(text) if text else {}
    if len(values.get("related", ())) != len(korean_pairs()):
        return None
    cosines = {name: tuple(values[name]) for name in ("related", "unrelated", "strangers")}
    return Calibration(**cosines, first=values["first"])


def words_weight(library: Library, encoder_id: str) -> float | None:
    """Return the weight of words next to an encoder's vectors, from the manifest or its stored calibration."""
    weight = manifest.words_weight(encoder_id)
    if weight is None and (calibration := stored_calibration(library, encoder_id)):
        return calibration.words
    return weight


def calibrate(encoder: Encoder) -> Calibration:
    """Encode the pairs, which takes some seconds. Raises the encoder's errors."""
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
