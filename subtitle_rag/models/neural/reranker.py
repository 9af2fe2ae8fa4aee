"""Cross-encoder: reads query and passage together, and scores the match.

This one runs with sentence-transformers on PyTorch; `onnx_models` has the other.

Nogueira and Cho, Passage Re-ranking with BERT, 2019.
"""

import json
import math
import time
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.atomic_files import replace_content
from subtitle_rag.base.i18n import _
from subtitle_rag.models.neural.device import Plan, prepare
from subtitle_rag.models.neural.local_model import RERANK, Loaded, LocalModel, PriorityLock, clean, room
from subtitle_rag.models.neural.protocols import PATIENCE_S

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

PAIR_TOKENS = 2048
"""Tokens of the longest window with context and query. A model with a lower limit reads it in parts."""
LEAST_DEPTH, MOST_DEPTH = 5, 150
_MARKS = 8
"""Tokens around query and passage, and one or two more where a part begins inside a word."""
_MEASURED = 4
"""Pairs per timed pass."""
_MEASURED_S = 1.0
"""Time after which the measurement ends."""
_QUESTION = "감자를 넣은 매콤한 닭볶음탕"
_SENTENCE = "오늘은 시장에서 사 온 닭고기랑 감자를 큼직하게 썰어 넣고 고춧가루를 듬뿍 풀어서 끓여 볼게요. "
_PASSAGE = _SENTENCE * 10
"""About 300 tokens, like a window with its context."""


class PairReranker(LocalModel[Loaded]):
    """`neural.Reranker` for a model folder. The file `depths` stores measured speeds by model, CPU and precision."""

    rank = RERANK

    def __init__(
        self, path: Path, id: str, plan: Plan, *, depths: Path | None = None, turns: PriorityLock | None = None
    ) -> None:
        """Read the configuration; the model is loaded at its first use.

        Args:
            path: folder of the model.
            id: id of the model.
            plan: device and precision.
            depths: file of measured speeds.
            turns: lock shared with other models.
        """
        super().__init__(path, id, plan, turns)
        self._depths = depths
        self._depth_key = f"{self.id} {plan.device} {plan.name} {plan.precision} {plan.threads}"
        depth = self._read_depths().get(self._depth_key)
        is_depth = type(depth) is int and LEAST_DEPTH <= depth <= MOST_DEPTH
        self.depth: int | None = depth if is_depth else None

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """Score each passage, 0 to 1. A passage in parts has its best part's score."""
        query = clean(query)
        owners: list[int] = []
        pairs: list[tuple[str, str]] = []
        for owner, passage in enumerate(passages):
            parts = self._parts(query, clean(passage))
            pairs += [(query, part) for part in parts]
            owners += [owner] * len(parts)
        lengths = [min(PAIR_TOKENS, (len(query) + len(part)) * 2 // 3) for _query, part in pairs]  # roughly, in Korean
        scores = self._in_passes(RERANK, lengths, lambda batch: self._read([pairs[at] for at in batch]))
        best = [0.0] * len(passages)
        for owner, score in zip(owners, scores, strict=True):
            best[owner] = max(best[owner], score)
        return best

    def _parts(self, query: str, passage: str) -> list[str]:
        """Return the passage, in equal parts if it does not fit into the model with the query."""
        with self._turns.take(RERANK):
            self._ready()
            most = self._most_tokens()
        if len(query) + len(passage) <= most - _MARKS:  # a token has at least one character
            return [passage]
        tokens = self._offsets(passage)
        query_tokens = min(len(self._offsets(query)), most // 2)
        count = math.ceil(len(tokens) / (most - query_tokens - _MARKS))
        if count < 2:
            return [passage]
        starts = [tokens[len(tokens) * at // count][0] for at in range(1, count)]
        return [passage[start:end] for start, end in pairwise([0, *starts, len(passage)])]

    @abstractmethod
    def _most_tokens(self) -> int:
        """Return the most tokens of a pair; the model is loaded."""

    @abstractmethod
    def _offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the start and end of each token of a text; empty if the tokenizer does not know them."""

    @abstractmethod
    def _read(self, pairs: list[tuple[str, str]]) -> list[float]:
        """Score a batch in one pass, while holding the lock."""

    def measure(self) -> int:
        """Measure, set and store `depth`: the pairs of about 300 tokens read in two seconds, 5 to 150.

        Takes a second or two, and as long again to load. Raises OSError if it cannot be stored.
        """
        self._timed(1)  # the first pass also reads the weights from the disk
        passes_s: list[float] = []
        while sum(passes_s) < _MEASURED_S:
            passes_s.append(self._timed(_MEASURED))
        pairs = int(PATIENCE_S * _MEASURED / min(passes_s))
        self.depth = max(LEAST_DEPTH, min(MOST_DEPTH, pairs))
        if self._depths is not None:
            self._depths.parent.mkdir(parents=True, exist_ok=True)
            depths = self._read_depths() | {self._depth_key: self.depth}
            replace_content(self._depths, json.dumps(depths, indent=2, ensure_ascii=False).encode())
        return self.depth

    def _read_depths(self) -> dict[str, Any]:
        try:
            entry = json.loads(self._depths.read_text(encoding="utf-8")) if self._depths else {}
        except (OSError, ValueError):
            return {}
        return entry if isinstance(entry, dict) else {}

    def _timed(self, count: int) -> float:
        """Return the seconds of one pass, without the wait for the lock."""
        with self._turns.take(RERANK):
            started = time.perf_counter()
            self._read([(_QUESTION, _PASSAGE)] * count)
            return time.perf_counter() - started


class CrossReranker(PairReranker["CrossEncoder"]):
    """A reranker run by sentence-transformers."""

    def _most_tokens(self) -> int:
        return int(self._ready().max_seq_length or PAIR_TOKENS)

    def _offsets(self, text: str) -> Sequence[tuple[int, int]]:
        tokenizer: Any = self._ready().tokenizer
        if not tokenizer.is_fast:
            return ()
        offsets: list[tuple[int, int]] = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        return offsets

    def _import(self) -> Any:
        from sentence_transformers import CrossEncoder

        return CrossEncoder

    def _load(self, library: "type[CrossEncoder]") -> "CrossEncoder":
        from torch.nn import Sigmoid

        prepare(self.plan)
        model = library(
            str(self.path.resolve(strict=True)),
            device=self.plan.device,
            max_length=PAIR_TOKENS,
            local_files_only=True,
            activation_fn=Sigmoid(),
            model_kwargs={"dtype": self.plan.dtype},
        )
        if model.num_labels != 1:
            raise self._damaged(_("it gives {n} numbers for a pair, not one").format(n=model.num_labels))
        layers = model.transformers_model
        assert layers is not None
        self._check_whole(layers, model.tokenizer)
        model.max_seq_length = min(PAIR_TOKENS, room(layers.config))
        return model.eval()

    def _read(self, pairs: list[tuple[str, str]]) -> list[float]:
        model = self._ready()
        with self._memory_errors():
            scores = model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        values: list[float] = scores.tolist()
        if not all(0.0 <= score <= 1.0 for score in values):
            raise self._damaged(_("its weights give no numbers"))
        return values
