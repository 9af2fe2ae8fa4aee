"""Measures how many pairs of query and window the offered rerankers read in a second.

    scripts/bench rerank [--folder FOLDER] [--pairs 8] [--rounds 2] [--precisions auto,int8]

The models have the true sizes and random weights, made from their configurations: speed depends on shapes alone. They
take 3 GB in `--folder`, a temporary one by default. The program's own `CrossReranker` reads pairs of 300 tokens, like a
window with its context. Models take turns, and the best round counts; ratios are of one run on one machine.
"""

import tempfile
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, timed

PAIR_TOKENS = 300
QUERY = "감자를 넣은 매콤한 닭볶음탕"
SPECIAL: dict[str, int] = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}


def bge_reranker_v2_m3() -> Any:
    """XLM-RoBERTa, large: 568 million parameters."""
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=250_002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
        max_position_embeddings=8194, type_vocab_size=1, num_labels=1, **SPECIAL,
    )  # fmt: skip


def kure_reranker_nano() -> Any:
    """ModernBERT, base: 149 million parameters."""
    from transformers import ModernBertConfig

    return ModernBertConfig(num_labels=1, cls_token_id=0, sep_token_id=2, **SPECIAL)


MODELS = {"BAAI/bge-reranker-v2-m3": bge_reranker_v2_m3, "nlpai-lab/KURE-Reranker-nano": kure_reranker_nano}


def make(folder: Path, config: Any) -> int:
    """Make a model of random weights, and return the count of its parameters."""
    import torch
    from transformers import AutoModelForSequenceClassification

    from tests.support.tiny_models import SPECIAL as NAMES, spoken_lines, train_pieces, write_tokenizer

    folder.mkdir(parents=True)
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    names = [(name, 0.0) for name in NAMES]
    write_tokenizer(folder, [*names, *train_pieces(spoken_lines()), ("<mask>", 0.0)])
    return sum(value.numel() for value in model.parameters())


def passages(tokenizer: Any, count: int) -> list[str]:
    """Return invented speech that fills a pair to `PAIR_TOKENS`."""
    from tests.support.tiny_models import spoken_lines

    room = PAIR_TOKENS - 4 - len(tokenizer(QUERY, add_special_tokens=False)["input_ids"])
    speech = " ".join(spoken_lines())
    offsets = tokenizer(speech * (1 + 2000 // len(speech)), add_special_tokens=False, return_offsets_mapping=True)
    start = [at[0] for at in offsets["offset_mapping"]]
    return [speech[start[at] : start[at + room]] for at in range(0, 3 * count, 3)]


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--precisions", default="auto,int8")
    options = parser.parse_args()

    from subtitle_rag.config.settings import ModelSettings
    from subtitle_rag.retrieval.neural.device import plan_device
    from subtitle_rag.retrieval.neural.reranker import CrossReranker

    table = Table("reranker", "parameters", "precision", "pairs/s", "pairs in 2 s", "ratio")
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        sizes = {name: make(Path(place) / name, config()) for name, config in MODELS.items()}
        for precision in options.precisions.split(","):
            device = "cpu" if precision == "int8" else "auto"
            plans = plan_device(ModelSettings(precision=precision, device=device))
            rates: dict[str, float] = {}
            for _round in range(options.rounds):
                for name in MODELS:
                    reranker = CrossReranker(Path(place) / name, "random", plans)
                    reranker.load()
                    texts = passages(reranker._ready().tokenizer, options.pairs)
                    reranker.scores(QUERY, texts[:2])
                    took = timed(lambda: reranker.scores(QUERY, texts))  # noqa: B023 - it is called at once
                    rates[name] = max(rates.get(name, 0.0), options.pairs / took)
                    reranker.close()
            first = rates[next(iter(MODELS))]
            for name, rate in rates.items():
                cells = [f"{sizes[name] / 1e6:.0f} M", plans.precision, f"{rate:.2f}", f"{2 * rate:.0f}"]
                table.row(name, *cells, f"{rate / first:.1f}")
