"""BGE-M3 and similar models: a text's dense and sparse vectors from one pass.

The only module that imports FlagEmbedding. `BGEM3FlagModel` loads and runs the model and its heads. The loop over
batches is our own, because `encode` runs its first batch twice and draws progress bars.

Chen et al., M3-Embedding: Multi-Linguality, Multi-Functionality, Multi-Granularity Text Embeddings, 2024.
"""

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.points import DenseVector, SparseVector
from subtitle_rag.models.neural.device import Plan, prepare
from subtitle_rag.models.neural.local_model import PASSAGE, QUERY, LocalModel, PriorityLock, clean, room
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.models.prompts import Prompts

if TYPE_CHECKING:
    import numpy as np
    from FlagEmbedding import BGEM3FlagModel
    from numpy.typing import NDArray

CHUNK = 256
"""Texts tokenized while holding the lock: a tenth of a second."""
PASSAGE_TOKENS = 2048
"""Tokens of the longest window with title and context, so that nothing is cut if the model allows it."""
QUERY_TOKENS = 128
CACHE_SIZE = 64
"""Queries in the cache."""
HEADS = ("sparse_linear.pt", "colbert_linear.pt")
"""FlagEmbedding reads both files; if one is missing, both heads stay random."""

NONE_BEFORE = Prompts()
"""Prompts of a model that needs none."""

Tokens = list[int]


@dataclass(frozen=True, slots=True)
class _Loaded:
    flag: "BGEM3FlagModel"
    """Owner of the layers; deleting it frees the device."""
    limit: int
    """Maximum number of tokens of the model."""
    special: frozenset[int]
    """Tokens without text."""


class FlagEncoder(LocalModel[_Loaded]):
    """`neural.Encoder` for a model folder."""

    def __init__(
        self,
        path: Path,
        id: str,
        plan: Plan,
        *,
        has_sparse: bool | None = None,
        max_tokens: int = PASSAGE_TOKENS,
        turns: PriorityLock | None = None,
        prompts: Prompts = NONE_BEFORE,
    ) -> None:
        """Read the configuration; the model is loaded at its first use.

        Args:
            path: folder of the model.
            id: id of the vector space.
            plan: device and precision.
            has_sparse: whether to make sparse vectors; None: if the folder has the heads.
            max_tokens: tokens of a passage before it is cut.
            turns: lock shared with other models.
            prompts: texts in front of queries and passages.
        """
        super().__init__(path, id, plan, turns)
        self._prompts = prompts
        self.dimensions: int = self.config["hidden_size"]
        missing = [name for name in HEADS if not (path / name).is_file()]
        if missing and has_sparse:
            raise self._damaged(_("{name} is missing").format(name=missing[0]))
        self.has_sparse = not missing if has_sparse is None else has_sparse
        self._max_tokens = min(max_tokens, _trained_tokens(path))
        self._cached_query = lru_cache(CACHE_SIZE)(self._query)

    is_light = False

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        tokens: list[Tokens] = []
        for chunk in split_batches((self._prompts.document + text for text in texts), CHUNK):
            with self._turns.take(PASSAGE):
                tokens += self._tokens(chunk, self._max_tokens)

        def read(batch: list[int]) -> list[Encoded]:
            return self._encoded([tokens[at] for at in batch])

        return self._in_passes(PASSAGE, list(map(len, tokens)), read)

    def query(self, text: str) -> Encoded:
        """Return the vectors of a query's first 128 tokens; the last 64 queries are cached."""
        return self._cached_query(text)

    def _query(self, text: str) -> Encoded:
        with self._turns.take(QUERY):
            return self._encoded(self._tokens([self._prompts.query + text], min(QUERY_TOKENS, self._max_tokens)))[0]

    def _import(self) -> Any:
        from FlagEmbedding import BGEM3FlagModel

        return BGEM3FlagModel

    def _load(self, library: "type[BGEM3FlagModel]") -> _Loaded:
        prepare(self.plan)
        flag = library(
            str(self.path.resolve(strict=True)),  # a name without a folder would be downloaded
            normalize_embeddings=False,  # done here, in float32
            use_fp16=self.plan.precision == "float16",
            use_bf16=self.plan.precision == "bfloat16",
            devices=self.plan.device,  # several devices would start processes
            pooling_method=self._read_pooling() or "cls",
        )
        self._check_whole(flag.model.model, flag.tokenizer)
        flag.model.to(self.plan.device).eval()
        return _Loaded(flag, room(flag.model.config), frozenset(flag.tokenizer.all_special_ids))

    def _tokens(self, texts: Sequence[str], limit: int) -> list[Tokens]:
        """Tokenize while holding the lock: the tokenizer is not thread-safe."""
        if not texts:
            return []
        loaded = self._ready()
        limit = min(limit, loaded.limit)
        with self._memory_errors():
            ids = loaded.flag.tokenizer([clean(text) for text in texts], truncation=True, max_length=limit)["input_ids"]
        return [list(tokens) for tokens in ids]

    def _encoded(self, batch: Sequence[Tokens]) -> list[Encoded]:
        """Encode a batch in one pass, while holding the lock."""
        import torch

        loaded = self._ready()
        with torch.inference_mode(), self._memory_errors():
            padded = loaded.flag.tokenizer.pad({"input_ids": list(batch)}, padding_side="right", return_tensors="pt")
            out = loaded.flag.model(
                padded.to(self.plan.device),
                return_dense=True,
                return_sparse=self.has_sparse,
                return_colbert_vecs=False,
            )
            dense = torch.nn.functional.normalize(out["dense_vecs"].float(), dim=-1).cpu()
            weights = out["sparse_vecs"].squeeze(-1).float().cpu() if self.has_sparse else None
        if any(values is not None and not bool(values.isfinite().all()) for values in (dense, weights)):
            raise self._damaged(_("its weights give no numbers"))
        sparse: Iterable[SparseVector | None] = [None] * len(batch)
        if weights is not None:
            sparse = (highest(tokens, row, loaded.special) for tokens, row in zip(batch, weights.tolist(), strict=True))
        return [Encoded(DenseVector(tuple(row)), lexical) for row, lexical in zip(dense.tolist(), sparse, strict=True)]


def highest(tokens: Sequence[int], weights: Sequence[float], special: Collection[int]) -> SparseVector:
    """Return each token's highest weight, without `special` tokens; surplus weights belong to padding."""
    best: dict[int, float] = {}
    for token, weight in zip(tokens, weights, strict=False):
        if weight > best.get(token, 0.0) and token not in special:
            best[token] = weight
    return SparseVector(tuple(best), tuple(best.values()))


def unit(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return the rows scaled to length one; a row of zeros stays."""
    import numpy as np

    lengths: NDArray[np.float32] = np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return rows / lengths


def _trained_tokens(path: Path) -> int:
    """Read the number of tokens in training, which may be below the number of positions; else no limit."""
    try:
        entry: Any = json.loads((path / "sentence_bert_config.json").read_text(encoding="utf-8"))
        limit = entry["max_seq_length"]
    except (OSError, ValueError, KeyError, TypeError):
        return sys.maxsize
    return limit if type(limit) is int and limit > 0 else sys.maxsize
