"""BGE-M3 and models of its kind: a dense and a sparse vector of a text from one pass.

The only module that imports FlagEmbedding. `BGEM3FlagModel` loads the model and its heads and computes them; the loop
over batches is this module's own, because `encode` runs its first batch twice and draws progress bars.

Chen et al., M3-Embedding: Multi-Linguality, Multi-Functionality, Multi-Granularity Text Embeddings, 2024.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.errors import AppError
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.device import Plan, prepare, round_to_int8
from subtitle_rag.retrieval.index import DenseVector, SparseVector
from subtitle_rag.retrieval.loading import (
    check_whole,
    clean,
    damage_told,
    damaged,
    memory_told,
    quiet,
    read_config,
    return_memory,
    room,
)
from subtitle_rag.retrieval.neural import Encoded
from subtitle_rag.retrieval.priority_lock import PASSAGE, QUERY, PriorityLock, passes

if TYPE_CHECKING:
    from FlagEmbedding import BGEM3FlagModel

CHUNK = 256
"""Texts split into tokens in one turn: a tenth of a second."""
PASSAGE_TOKENS = 512
QUERY_TOKENS = 128
REMEMBERED = 64
"""Queries whose vectors are kept."""
HEADS = ("sparse_linear.pt", "colbert_linear.pt")
"""FlagEmbedding reads both or, where one is missing, leaves both random."""

Tokens = list[int]


@dataclass(frozen=True, slots=True)
class _Loaded:
    flag: "BGEM3FlagModel"
    """Kept whole: when it goes, it takes its layers from the device."""
    limit: int
    """The most tokens that the model takes."""
    special: frozenset[int]
    """Tokens that stand for no text."""

    def sparse(self, tokens: Tokens, weights: Sequence[float]) -> SparseVector:
        """Each token's highest weight; `weights` may be longer by the batch's padding."""
        highest: dict[int, float] = {}
        for token, weight in zip(tokens, weights, strict=False):
            if weight > highest.get(token, 0.0) and token not in self.special:
                highest[token] = weight
        return SparseVector(tuple(highest), tuple(highest.values()))


class FlagEncoder:
    """Implements `neural.Encoder` over a model's folder, loaded at first use and again after `close`.

    Several models that share `turns` run one at a time. `has_sparse` None means what the folder has.

    Raises:
        AppError: `model_damaged`, where the folder holds no such model.
    """

    def __init__(
        self,
        path: Path,
        id: str,
        plan: Plan,
        *,
        has_sparse: bool | None = None,
        max_tokens: int = PASSAGE_TOKENS,
        turns: PriorityLock | None = None,
    ) -> None:
        self.path = path
        self.id = plan.named(id)
        self.plan = plan
        self.dimensions: int = read_config(path, self.id)["hidden_size"]
        missing = [name for name in HEADS if not (path / name).is_file()]
        if has_sparse and missing:
            raise damaged(self.id, _("{name} is missing").format(name=missing[0]))
        self.has_sparse = not missing if has_sparse is None else has_sparse
        self._max_tokens = max_tokens
        self._turns = turns or PriorityLock()
        self._loaded: _Loaded | None = None
        self._remembered = lru_cache(REMEMBERED)(self._query)

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        """Load the model where it is not, which takes some seconds. Raises what `neural.Encoder` raises."""
        with self._turns.take(QUERY):
            self._ready()

    def passages(self, texts: Sequence[str], *, stop: threading.Event | None = None) -> list[Encoded]:
        """The vectors of these texts, in their order. The longest go first, with others of about their length.

        Raises:
            AppError: `model_stopped`, where `stop` was set between two passes.
        """
        tokens: list[Tokens] = []
        for start in range(0, len(texts), CHUNK):
            with self._turns.take(PASSAGE):
                tokens += self._tokens(texts[start : start + CHUNK], self._max_tokens)
        made: dict[int, Encoded] = {}
        for batch in passes([len(one) for one in tokens], self.plan.pass_tokens):
            if stop is not None and stop.is_set():
                raise AppError("model_stopped")
            with self._turns.take(PASSAGE):
                made.update(zip(batch, self._encoded([tokens[at] for at in batch]), strict=True))
        return [made[at] for at in range(len(tokens))]

    def query(self, text: str) -> Encoded:
        """The vectors of a query, of whose tokens the first 128 count; the last 64 queries are remembered."""
        return self._remembered(clean(text))

    def close(self) -> None:
        """Give the model's memory back."""
        with self._turns.take(QUERY):
            self._loaded = None
            return_memory()

    def _query(self, text: str) -> Encoded:
        with self._turns.take(QUERY):
            return self._encoded(self._tokens([text], min(QUERY_TOKENS, self._max_tokens)))[0]

    def _ready(self) -> _Loaded:
        if self._loaded is None:
            with quiet():
                from FlagEmbedding import BGEM3FlagModel

                with damage_told(self.id):
                    self._loaded = self._load(BGEM3FlagModel)
        return self._loaded

    def _load(self, kind: "type[BGEM3FlagModel]") -> _Loaded:
        prepare(self.plan)
        flag = kind(
            str(self.path.resolve(strict=True)),  # a name that is no folder would be looked for in the network
            normalize_embeddings=False,  # done here, in float32
            use_fp16=self.plan.precision == "float16",
            use_bf16=self.plan.precision == "bfloat16",
            devices=self.plan.device,  # several would start processes
            pooling_method=_pooling(self.path, self.id),
        )
        check_whole(self.id, flag.model.model, flag.tokenizer)
        if self.plan.precision == "int8":
            round_to_int8(flag.model.model)
        flag.model.to(self.plan.device).eval()
        return _Loaded(flag, room(flag.model.config), frozenset(flag.tokenizer.all_special_ids))

    def _tokens(self, texts: Sequence[str], limit: int) -> list[Tokens]:
        """In a turn: the tokenizer is not safe between threads."""
        if not texts:
            return []
        loaded = self._ready()
        limit = min(limit, loaded.limit)
        with memory_told(self.id):
            ids = loaded.flag.tokenizer([clean(text) for text in texts], truncation=True, max_length=limit)["input_ids"]
        return [list(tokens) for tokens in ids]

    def _encoded(self, batch: Sequence[Tokens]) -> list[Encoded]:
        """The vectors of a batch, from one pass, in a turn."""
        import torch

        loaded = self._ready()
        with torch.inference_mode(), memory_told(self.id):
            padded = loaded.flag.tokenizer.pad({"input_ids": list(batch)}, padding_side="right", return_tensors="pt")
            out = loaded.flag.model(padded.to(self.plan.device), return_dense=True, return_sparse=self.has_sparse)
            dense = torch.nn.functional.normalize(out["dense_vecs"].float(), dim=-1).cpu()
            weights = out["sparse_vecs"].squeeze(-1).float().cpu() if self.has_sparse else None
        if not bool(dense.isfinite().all()) or (weights is not None and not bool(weights.isfinite().all())):
            raise damaged(self.id, _("its weights give no numbers"))
        sparse = [None] * len(batch) if weights is None else map(loaded.sparse, batch, weights.tolist())
        return [Encoded(DenseVector(tuple(row)), one) for row, one in zip(dense.tolist(), sparse, strict=True)]


def _pooling(path: Path, id: str) -> str:
    """How the model makes one vector of all tokens': `cls`, or `mean` where its folder says so.

    Raises:
        AppError: `model_damaged`, where it says something else.
    """
    try:
        entry: Any = json.loads((path / "1_Pooling" / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "cls"
    modes = [entry["pooling_mode"]] if "pooling_mode" in entry else [key for key in entry if entry[key] is True]
    found = {
        str(mode).removeprefix("pooling_mode_").partition("_")[0] for mode in modes if str(mode) != "include_prompt"
    }
    if found not in ({"cls"}, {"mean"}):
        raise damaged(id, f"1_Pooling/config.json: {', '.join(sorted(found))}")
    return found.pop()
