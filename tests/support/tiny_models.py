"""Tiny models of random weights with the same files as BGE-M3 and bge-reranker-v2-m3: 1 to 2 MB, made in seconds.

FlagEmbedding and sentence-transformers really load and run them. The same arguments make the same bytes. The sparse
head's bias gives every piece a weight, so sparse search finds texts that share pieces with the query.
"""

import html
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import subtitle_rag

PIECES = 1200
"""Pieces in the vocabulary, in addition to the five special ones."""
LAYERS = 2
POSITIONS = 8194
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_SAMPLE = Path(subtitle_rag.__file__).parent / "sample"


def tiny_encoder(folder: Path, *, seed: int = 0, hidden: int = 32, sparse: bool = True, **shape: Any) -> Path:
    """Make a model in BAAI/bge-m3's form, without `sparse` in its dense fine-tunes' form; return its new folder."""
    import torch
    from transformers import XLMRobertaModel

    vocabulary = begin(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = XLMRobertaModel(_config(vocabulary, hidden, **shape))
        heads = {"sparse_linear.pt": torch.nn.Linear(hidden, 1), "colbert_linear.pt": torch.nn.Linear(hidden, hidden)}
    model.config.architectures = ["XLMRobertaModel"]
    model.config.save_pretrained(folder)
    if sparse:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        torch.nn.init.ones_(heads["sparse_linear.pt"].bias)
        for name, head in heads.items():
            torch.save(head.half().state_dict(), folder / name)
    else:
        model.save_pretrained(folder)
    _write_modules(folder, hidden)
    return folder


def tiny_reranker(folder: Path, *, seed: int = 0, hidden: int = 32, labels: int = 1, **shape: Any) -> Path:
    """Make a model in BAAI/bge-reranker-v2-m3's form, which has one label; return its new folder."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    vocabulary = begin(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = XLMRobertaForSequenceClassification(_config(vocabulary, hidden, num_labels=labels, **shape))
        # scores of a fresh head differ by less than a hundredth
        torch.nn.init.normal_(model.classifier.out_proj.weight, std=1.0)
    model.save_pretrained(folder)
    return folder


def tiny_sentence_model(folder: Path, kind: str) -> Path:
    """Make a sentence-transformers model: `dense` with a dense module and prompts, or `sparse`."""
    import sentence_transformers
    from sentence_transformers.sentence_transformer import modules
    from sentence_transformers.sparse_encoder.modules import SpladePooling
    from transformers import XLMRobertaForMaskedLM

    prompts = {"query": "질문: ", "document": "글: "}
    layers = folder.with_name(f"{folder.name}-layers")
    model: Any
    if kind == "sparse":
        XLMRobertaForMaskedLM(_config(begin(layers), 32)).save_pretrained(layers)
        language = modules.Transformer(str(layers), transformer_task="fill-mask")
        model = sentence_transformers.SparseEncoder(modules=[language, SpladePooling()], device="cpu")
    else:
        transformer = modules.Transformer(str(tiny_encoder(layers, sparse=False)), max_seq_length=24)
        stack = [transformer, modules.Pooling(32, "mean"), modules.Dense(32, 16)]
        model = sentence_transformers.SentenceTransformer(modules=stack, prompts=prompts, device="cpu")
    model.save(str(folder))
    return folder


def _config(vocabulary: int, hidden: int, **more: Any) -> Any:
    from transformers import XLMRobertaConfig

    usual = {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": 4 * hidden,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 1,
        "layer_norm_eps": 1e-5,
        "initializer_range": 0.2,  # with BERT's 0.02 so small a model would give all texts nearly the same vector
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
    }
    return XLMRobertaConfig(**(usual | more))


def begin(folder: Path) -> int:
    """Make the folder with its tokenizer; return the size of the vocabulary."""
    from transformers import logging

    logging.disable_progress_bar()
    folder.mkdir(parents=True)
    pieces = [(name, 0.0) for name in SPECIAL] + train_pieces(spoken_lines()) + [("<mask>", 0.0)]
    write_tokenizer(folder, pieces)
    return len(pieces)


def spoken_lines() -> list[str]:
    """Return the sample's speech, and the characters that any text may need."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(_SAMPLE.glob("*.vtt"))]
    plain = html.unescape(re.sub(r"<[^>]*>", "", "\n".join(texts)))
    return sorted({line.strip() for line in plain.splitlines() if re.search(r"[가-힣]", line)})


def train_pieces(lines: list[str]) -> list[tuple[str, float]]:
    """Return a unigram vocabulary from sentencepiece's trainer: unlike the one in `tokenizers`, it is deterministic."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=PIECES,
        hard_vocab_limit=False,
        required_chars="".join(map(chr, range(33, 127))),
        normalization_rule_name="nmt_nfkc",
        num_threads=1,
        minloglevel=3,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    return [(processor.id_to_piece(id), processor.get_score(id)) for id in range(3, processor.get_piece_size())]


def write_tokenizer(folder: Path, pieces: list[tuple[str, float]]) -> None:
    """Write XLM-RoBERTa's fast tokenizer with these pieces and their log probabilities."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=SPECIAL.index("<unk>")))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(name, SPECIAL.index(name)) for name in ("<s>", "</s>")],
    )
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in (*SPECIAL, "<mask>")])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>"}
    entry = {"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": POSITIONS - 2}
    write_json(folder / "tokenizer_config.json", entry | {f"{name}_token": token for name, token in names.items()})


def _write_modules(folder: Path, hidden: int) -> None:
    """Write the settings of sentence-transformers to take the first token's vector and normalise it."""
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(kinds)
    ]
    pooling = {"word_embedding_dimension": hidden, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling").mkdir()
    write_json(folder / "1_Pooling" / "config.json", pooling)
    write_json(folder / "modules.json", modules)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": POSITIONS - 2, "do_lower_case": False})
    write_json(folder / "config_sentence_transformers.json", {"prompts": {}, "default_prompt_name": None})


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an encoder with both heads and 32 dimensions. Read only."""
    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny-m3")


@pytest.fixture(scope="session")
def other_encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return another encoder, with 48 dimensions. Read only."""
    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny-m3-other", seed=1, hidden=48)


@pytest.fixture(scope="session")
def dense_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an encoder without a sparse head. Read only."""
    return tiny_encoder(tmp_path_factory.mktemp("models") / "tiny-dense", seed=2, sparse=False)


@pytest.fixture(scope="session")
def reranker_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a reranker. Read only."""
    return tiny_reranker(tmp_path_factory.mktemp("models") / "tiny-reranker")


@pytest.fixture(scope="session")
def sentence_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a sentence-transformers model of each kind. Read only."""
    base = tmp_path_factory.mktemp("models")
    return {kind: tiny_sentence_model(base / f"tiny-{kind}", kind) for kind in ("dense", "sparse")}


def add_graph(folder: Path) -> Path:
    """Add an 8-bit graph of a reranker to its folder, as in real exports, and remove PyTorch's weights."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    names, axes = ["input_ids", "attention_mask"], {0: "batch", 1: "tokens"}
    ones = torch.ones(1, 8, dtype=torch.long)
    (folder / "onnx").mkdir()
    whole = folder / "onnx" / "whole.onnx"
    with warnings.catch_warnings(action="ignore"):  # its successor needs another package
        torch.onnx.export(
            model,
            (ones, ones),
            str(whole),
            input_names=names,
            output_names=["logits"],
            dynamic_axes=dict.fromkeys(names, axes),
            opset_version=17,
            dynamo=False,
        )
    quantize_dynamic(whole, folder / "onnx" / "model_quantized.onnx", weight_type=QuantType.QInt8, per_channel=True)
    whole.unlink()
    (folder / "model.safetensors").unlink()
    return folder
