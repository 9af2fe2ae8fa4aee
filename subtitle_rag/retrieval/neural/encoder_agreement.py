"""How alike the vectors of two encoders with the same weights are, such as BGE-M3's by FlagEmbedding and by Ollama."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subtitle_rag.retrieval.neural.interface import Encoder

LEAST = 0.95
"""The least cosine of a text: below it, vectors of one encoder do not find windows of the other's."""
TEXTS = (
    "오늘은 시장에서 사 온 꽃게로 간장게장을 담가 볼게요.",
    "이 라이브러리는 비동기로 요청을 보내서 응답을 기다리는 동안 다른 일을 합니다.",
    "비 오는 날 텐트 치는 법, 바닥부터 마른 수건으로 닦아 주세요.",
    "The committee postponed the vote until the spring session.",
)
"""What is compared: speech of cooking, programming and camping, and a line of English."""


@dataclass(frozen=True, slots=True)
class EncoderAgreement:
    """The cosines of two encoders' vectors of the same texts."""

    texts: int
    mean: float
    least: float

    @property
    def is_same(self) -> bool:
        """Whether one encoder's vectors can be searched with the other's queries."""
        return self.least >= LEAST


def compare_encoders(first_encoder: "Encoder", second_encoder: "Encoder") -> EncoderAgreement:
    """Encode the texts as passages and the first as a query, too, by both.

    A text that one of them cannot read, or vectors of different lengths, count as a cosine of 0. Raises what encoders
    raise.
    """
    both = zip(
        (*first_encoder.passages(TEXTS), first_encoder.query(TEXTS[0])),
        (*second_encoder.passages(TEXTS), second_encoder.query(TEXTS[0])),
        strict=True,
    )
    cosines = [_cosine(first.dense.values, second.dense.values) if first and second else 0.0 for first, second in both]
    return EncoderAgreement(len(cosines), sum(cosines) / len(cosines), min(cosines))


def _cosine(first: "tuple[float, ...]", second: "tuple[float, ...]") -> float:
    """Return the cosine of two vectors of length one."""
    return sum(a * b for a, b in zip(first, second, strict=True)) if len(first) == len(second) else 0.0
