"""Encoders in the layout of sentence-transformers: dense, or sparse (SPLADE).

Modules, pooling, prompts and `max_seq_length` come from the model's own files; code in its folder is never run.
BGE-M3's layout with heads is read by `encoder`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.points import DenseVector, SparseVector
from subtitle_rag.models.manifest import DENSE, SPARSE
from subtitle_rag.models.model_store import ModelFiles
from subtitle_rag.models.neural.device import Plan, prepare
from subtitle_rag.models.neural.encoder import CACHE_SIZE, HEADS, PASSAGE_TOKENS, FlagEncoder
from subtitle_rag.models.neural.local_model import PASSAGE, QUERY, LocalModel, PriorityLock, clean
from subtitle_rag.models.neural.protocols import Encoded

if TYPE_CHECKING:
    import torch

MODULES = "modules.json"
NO_DENSE = DenseVector(())
"""The dense vector of a model without any."""


def open_encoder(files: ModelFiles, id: str, plan: Plan, *, turns: PriorityLock) -> "FlagEncoder | SentenceEncoder":
    """Return the encoder for a model folder's layout: sentence-transformers modules, or BGE-M3's heads."""
    has_heads = all((files.path / name).is_file() for name in HEADS)
    if files.pooling or ((files.path / MODULES).is_file() and not has_heads):
        return SentenceEncoder(files, id, plan, turns=turns)
    limit = min(files.max_tokens, PASSAGE_TOKENS)
    return FlagEncoder(
        files.path,
        id,
        plan,
        has_sparse=files.has_sparse,
        max_tokens=limit,
        turns=turns,
        prompts=files.prompts,
    )


class SentenceEncoder(LocalModel[Any]):
    """`neural.Encoder` for a model folder.

    A prompt of `files` replaces the one in the model's own files. Its `pooling` makes a dense vector if the folder has
    no modules.
    """

    def __init__(self, files: ModelFiles, id: str, plan: Plan, *, turns: PriorityLock | None = None) -> None:
        super().__init__(files.path, id, plan, turns)
        self.kind, dimensions = files.vectors, files.dimensions
        self._architecture = str(self.config.get("model_type"))
        self.dimensions = dimensions if self.kind == DENSE else 0
        self.has_sparse = self.kind == SPARSE
        self.is_light = files.is_light
        self._width = dimensions
        self._prompts = files.prompts
        self._pooling = files.pooling
        self._max_tokens = min(files.max_tokens, PASSAGE_TOKENS)
        self.query = lru_cache(CACHE_SIZE)(self._query)

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        prompt = len(self._prompts.document)
        lengths = [min(self._max_tokens, (prompt + len(text)) * 2 // 3) for text in texts]  # roughly, in Korean
        return self._in_passes(
            PASSAGE, lengths, lambda batch: self._encoded([texts[at] for at in batch], is_query=False)
        )

    def _query(self, text: str) -> Encoded:
        with self._turns.take(QUERY):
            return self._encoded([text], is_query=True)[0]

    def _import(self) -> Any:
        import sentence_transformers

        kinds = {DENSE: "SentenceTransformer", SPARSE: "SparseEncoder"}
        return getattr(sentence_transformers, kinds[self.kind])

    def _load(self, library: Any) -> Any:
        import torch

        prepare(self.plan)
        dtype = self.plan.dtype
        if dtype is torch.float16 and self._architecture.startswith("gemma"):
            dtype = torch.bfloat16  # Gemma's activations exceed the range of float16
        path = str(self.path.resolve(strict=True))  # a name without a folder would be downloaded
        if self._pooling and not (self.path / MODULES).is_file():
            model = library(modules=self._modules(path, dtype), device=self.plan.device)
        else:
            model = library(
                path,
                device=self.plan.device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"dtype": dtype},
            )
        if model.transformers_model is not None:
            self._check_whole(model.transformers_model, model.tokenizer)
        model.max_seq_length = min(model.max_seq_length or self._max_tokens, self._max_tokens)
        model.to(self.plan.device, dtype)  # a dense module keeps its own type
        return model.eval()

    def _modules(self, path: str, dtype: Any) -> list[Any]:
        """Load the transformer of a folder without modules, with the manifest's pooling."""
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

        options = {"trust_remote_code": False, "local_files_only": True}
        transformer = Transformer(
            path, model_kwargs={"dtype": dtype, **options}, config_kwargs=dict(options), processor_kwargs=dict(options)
        )
        return [transformer, Pooling(transformer.get_embedding_dimension(), self._pooling)]

    def _encoded(self, texts: Sequence[str], *, is_query: bool) -> list[Encoded]:
        """Encode a batch in one pass, while holding the lock."""
        model = self._ready()
        encode = model.encode_query if is_query else model.encode_document
        prompt = (self._prompts.query if is_query else self._prompts.document) or None
        options: dict[str, Any] = {"prompt": prompt, "batch_size": max(1, len(texts)), "show_progress_bar": False}
        options["convert_to_tensor"] = True
        if self.kind == SPARSE:
            options["convert_to_sparse_tensor"] = False
        with self._memory_errors():
            rows = [row.float().cpu() for row in encode([clean(text) for text in texts], **options)]
        if not all(bool(row.isfinite().all()) for row in rows):
            raise self._damaged(_("its weights give no numbers"))
        if self.kind != SPARSE and any(row.shape[-1] != self._width for row in rows):
            raise self._damaged(_("its vectors have another length"))
        return [self._vectors(row) for row in rows]

    def _vectors(self, row: "torch.Tensor") -> Encoded:
        import torch

        if self.kind == SPARSE:
            terms = row.nonzero().flatten()
            return Encoded(NO_DENSE, SparseVector(tuple(terms.tolist()), tuple(row[terms].tolist())))
        unit = torch.nn.functional.normalize(row, dim=-1)
        return Encoded(DenseVector(tuple(unit.tolist())), None)
