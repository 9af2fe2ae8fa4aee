"""Encoders and rerankers as ONNX graphs, run by onnxruntime on the CPU without PyTorch.

The only module that imports onnxruntime and tokenizers. Prompts, pooling and the choice of a graph's outputs are our
own. Each text is a pass of its own: on a CPU batches are no faster, they need padding, and an 8-bit graph has one scale
per batch, so that a vector would depend on the other texts in it.

Passages are read by several low-priority threads; a query does not wait for them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.platforms import lower_thread_priority
from subtitle_rag.base.vectors.points import DenseVector
from subtitle_rag.models.manifest import DENSE
from subtitle_rag.models.model_store import ModelFiles
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.encoder import CACHE_SIZE, PASSAGE_TOKENS, highest, unit
from subtitle_rag.models.neural.local_model import PASSAGE, QUERY, LocalModel, PriorityLock, clean, reachable_words
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.models.neural.reranker import PAIR_TOKENS, PairReranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OUTPUTS: Mapping[str, frozenset[str]] = {
    "dense": frozenset({"dense_vecs", "dense", "dense_embeddings", "sentence_embedding"}),
    "sparse": frozenset({"sparse_vecs", "sparse", "sparse_weights"}),
    "states": frozenset({"last_hidden_state", "token_embeddings"}),
    "logits": frozenset({"logits"}),
}
"""Names of outputs in exported graphs: the text's vector, token weights, last states, and a reranker's score."""
NICENESS = 19
"""Niceness of the threads that read passages, so that they do not slow a search down."""
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_KINDS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_PROBE = "가"

Tokens = Any
"""An `Encoding` of tokenizers."""
Arrays = dict[str, "NDArray[np.float32]"]
"""Outputs of a pass by role in `OUTPUTS`, without the batch axis."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph in memory, with its tokenizer."""

    session: Any
    tokenizer: Any
    inputs: Mapping[str, str]
    """Names and types of the required inputs."""
    outputs: Mapping[str, str]
    """Role in `OUTPUTS` → name of the output."""
    special: frozenset[int]
    """Tokens without text."""

    def run(self, tokens: Tokens) -> Arrays:
        """Run the graph on one text."""
        import numpy as np

        values = {"input_ids": tokens.ids, "attention_mask": tokens.attention_mask, "token_type_ids": tokens.type_ids}
        feed = {name: np.array([values[name]], dtype=kind) for name, kind in self.inputs.items()}
        arrays = self.session.run(list(self.outputs.values()), feed)
        return {role: np.asarray(array[0], np.float32) for role, array in zip(self.outputs, arrays, strict=True)}


class OnnxModel(LocalModel[Graph]):
    """An ONNX graph in a model folder, with `tokenizer.json` and `config.json`."""

    graph_path: Path
    roles: tuple[str, ...]
    """Roles in `OUTPUTS` to use if the graph has them."""
    most_tokens: int
    threads_of_a_pass = 1

    def _silence(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _import(self) -> Any:
        import onnxruntime

        onnxruntime.disable_telemetry_events()
        onnxruntime.set_default_logger_severity(4)
        return onnxruntime

    def _load(self, library: Any) -> Graph:
        tokenizer = self._read_tokenizer()
        options = library.SessionOptions()
        options.intra_op_num_threads = self.threads_of_a_pass
        options.inter_op_num_threads = 1
        path = str(self.graph_path.resolve(strict=True))
        with self._graph_errors():
            session = library.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        inputs = {each.name: _KINDS.get(each.type, "") for each in session.get_inputs()}
        if unknown := next((name for name, kind in inputs.items() if name not in _INPUTS or not kind), ""):
            raise self._damaged(_("its graph asks for {name}, which is not known").format(name=unknown))
        added = tokenizer.get_added_tokens_decoder()
        special = frozenset(id for id, token in added.items() if token.special)
        graph = Graph(session, tokenizer, inputs, self._choose_outputs(session), special)
        words = reachable_words(tokenizer.get_vocab_size(with_added_tokens=False), added)
        self._check_vocabulary(words, len(special), self._known_words())
        with self._graph_errors():
            self._check(graph, tokenizer.encode(_PROBE))
        return graph

    def _check(self, graph: Graph, probe: Tokens) -> None:
        """Run the graph once. Raises `model_damaged` for outputs of another shape."""
        raise NotImplementedError

    def _read_tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self.path / "tokenizer.json"))
        except Exception as error:  # it raises nothing more specific
            raise self._damaged(f"tokenizer.json: {error}") from error
        tokenizer.encode_special_tokens = True  # special tokens in a text are plain text
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.most_tokens)
        return tokenizer

    def _known_words(self) -> int:
        """Return how many words the weights have."""
        count = self.config.get("vocab_size")
        if not isinstance(count, int):
            raise self._damaged("config.json: vocab_size")
        return count

    def _choose_outputs(self, session: Any) -> dict[str, str]:
        """Find the outputs of the wanted roles by name; a graph's only output needs no name."""
        outputs = session.get_outputs()
        output_names = {
            role: each.name for role in self.roles for each in outputs if each.name.casefold() in OUTPUTS[role]
        }
        if not output_names and len(outputs) == 1:
            axes = len(outputs[0].shape)
            output_names = {"states" if axes == 3 and "states" in self.roles else self.roles[0]: outputs[0].name}
        if not output_names:
            names = ", ".join(each.name for each in outputs)
            raise self._damaged(_("what its outputs are is not known: {names}").format(names=names))
        return output_names

    def _check_vocabulary(self, tokenizer_words: int, special: int, weight_words: int) -> None:
        if 2 * tokenizer_words < weight_words:  # from another model: no text ever reaches most of the weights' words
            special = tokenizer_words
        super()._check_vocabulary(tokenizer_words, special, weight_words)

    @contextmanager
    def _graph_errors(self) -> Iterator[None]:
        """Turn onnxruntime's plain exceptions into `model_memory` and `model_damaged`."""
        try:
            with self._memory_errors():
                yield
        except AppError:
            raise
        except Exception as error:
            raise self._damaged(_reason(str(error))) from error


class OnnxEncoder(OnnxModel):
    """`neural.Encoder` for an ONNX model folder."""

    def __init__(self, files: ModelFiles, id: str, plan: Plan, *, turns: PriorityLock | None = None) -> None:
        super().__init__(files.path, id, plan, turns)
        self.graph_path = files.path / files.graph
        self.dimensions = files.dimensions if files.vectors == DENSE else 0
        self.has_sparse = files.has_sparse
        self.is_light = files.is_light
        self.most_tokens = min(files.max_tokens, PASSAGE_TOKENS)
        self._prompts = files.prompts
        self._method = files.pooling or self._read_pooling()
        self.roles = ("dense", *(["sparse"] if self.has_sparse else []), "states")
        self.query = lru_cache(CACHE_SIZE)(self._query)

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        graph = self._graph(PASSAGE)
        workers = ThreadPoolExecutor(self.plan.threads, initializer=lower_thread_priority, initargs=(NICENESS,))
        try:
            return list(workers.map(lambda text: self._encoded(graph, self._prompts.document + text), texts))
        finally:
            workers.shutdown(cancel_futures=True)

    def _query(self, text: str) -> Encoded:
        return self._encoded(self._graph(QUERY), self._prompts.query + text, is_query=True)

    def _graph(self, rank: int) -> Graph:
        with self._turns.take(rank):
            return self._ready()

    def _check(self, graph: Graph, probe: Tokens) -> None:
        self._vectors(graph, probe)

    def _choose_outputs(self, session: Any) -> dict[str, str]:
        outputs = super()._choose_outputs(session)
        if "dense" in outputs:
            outputs.pop("states", None)
        elif not self._method:
            raise self._damaged(_("{name} is missing").format(name="1_Pooling/config.json"))
        if self.has_sparse and "sparse" not in outputs:
            raise self._damaged(_("its graph lacks the output {name}").format(name=min(OUTPUTS["sparse"])))
        return outputs

    def _encoded(self, graph: Graph, text: str, *, is_query: bool = False) -> Encoded:
        with self._graph_errors():
            return self._vectors(graph, graph.tokenizer.encode(clean(text)), is_query=is_query)

    def _vectors(self, graph: Graph, tokens: Tokens, *, is_query: bool = False) -> Encoded:
        """Encode a text in one pass. Raises `model_damaged` for outputs of another shape, or not numbers."""
        import numpy as np

        arrays, count = graph.run(tokens), len(tokens.ids)
        if not all(bool(np.isfinite(array).all()) for array in arrays.values()):
            raise self._damaged(_("its weights give no numbers"))
        dense = arrays["dense"] if "dense" in arrays else self._pooled(arrays["states"], count)
        if dense.shape != (self.dimensions,):
            raise self._damaged(_("its vectors have another length"))
        weights = arrays["sparse"].reshape(-1).tolist() if "sparse" in arrays else None
        return Encoded(
            DenseVector(tuple(unit(dense).tolist())),
            None if weights is None else highest(tokens.ids, weights, graph.special),
            is_cut=bool(tokens.overflowing) and not is_query,
        )

    def _pooled(self, states: "NDArray[np.float32]", count: int) -> "NDArray[np.float32]":
        """Make one vector from the last layer's states."""
        if states.ndim != 2 or len(states) != count:
            raise self._damaged(_("its vectors have another length"))
        choose: Mapping[str, Callable[[], NDArray[np.float32]]] = {
            "cls": lambda: states[0],
            "mean": lambda: states.mean(axis=0),
            "lasttoken": lambda: states[-1],
        }
        return choose[self._method]()


class OnnxReranker(OnnxModel, PairReranker[Graph]):
    """A reranker as an ONNX graph. A user waits for it, so a pass uses all processors."""

    roles = ("logits",)

    def __init__(
        self, files: ModelFiles, id: str, plan: Plan, *, depths: Path | None = None, turns: PriorityLock | None = None
    ) -> None:
        """Read the configuration; the arguments are those of `PairReranker` but for `files`."""
        super().__init__(files.path, id, plan, depths=depths, turns=turns)
        self.graph_path = files.path / files.graph
        self.most_tokens = min(files.max_tokens, PAIR_TOKENS)
        self.threads_of_a_pass = plan.threads

    def _most_tokens(self) -> int:
        return self.most_tokens

    def _offsets(self, text: str) -> Sequence[tuple[int, int]]:
        offsets: list[tuple[int, int]] = []
        encoding = self._ready().tokenizer.encode(text, add_special_tokens=False)
        for part in (encoding, *encoding.overflowing):
            offsets += part.offsets
        return offsets

    def _check(self, graph: Graph, probe: Tokens) -> None:
        self._score(graph, probe)

    def _read(self, pairs: list[tuple[str, str]]) -> list[float]:
        graph = self._ready()
        with self._graph_errors():
            return [self._score(graph, graph.tokenizer.encode(*pair)) for pair in pairs]

    def _score(self, graph: Graph, tokens: Tokens) -> float:
        import numpy as np

        logits = graph.run(tokens)["logits"]
        if logits.size != 1:
            raise self._damaged(_("it gives {n} numbers for a pair, not one").format(n=logits.size))
        if not np.isfinite(logits).all():
            raise self._damaged(_("its weights give no numbers"))
        return float(1 / (1 + np.exp(-np.clip(logits.item(), -60, 60))))


def _reason(message: str) -> str:
    """Explain onnxruntime's message in words, or return it."""
    from onnxruntime import __version__ as version

    words = message.lower()
    if "opset" in words or "ir version" in words or "ir_version" in words:
        return _("it is made for a newer onnxruntime than {version}").format(version=version)
    if "invalid_graph" in words or "not_implemented" in words:
        return _("its graph has parts that onnxruntime {version} does not know").format(version=version)
    if "protobuf" in words or "does not have a graph" in words:
        return _("its graph is cut short or damaged")
    if "external data" in words or "external_data" in words:
        return _("the weights of its graph are not beside it, or are cut short")
    if "out of data bounds" in words or "out of bounds" in words:
        return _("its tokenizer has words that its weights lack")
    return message.rpartition("[ONNXRuntimeError] : ")[2]
