"""The manifest of the offered models."""

import re
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.models import manifest, manifest as models_manifest
from subtitle_rag.models.manifest import ENCODER, NeuralModel, context_models, default_context_model, neural_model
from subtitle_rag.models.ollama.host_guard import is_cloud_name

FOLDER = Path(__file__).parents[2] / "models"


def test_every_model_says_what_it_needs() -> None:
    offered = context_models()
    assert len({each.name for each in offered}) == len(offered) > 3
    for each in offered:
        assert ":" in each.name
        assert not is_cloud_name(each.name)
        assert each.licence in ("Apache-2.0", "MIT")  # whoever installs the app may use it for anything
        assert each.suits in ("8GB", "16GB", "GPU")
        assert each.rollback in ("any", "batch")
        assert each.disk_gb < each.memory_gb
        assert each.num_ctx <= each.context
        assert 0.2 < each.tokens_per_character < 1.2
        assert set(each.note) == {"en", "ko"}
        assert each.confirmed == (not each.doubt)


@pytest.mark.parametrize(
    ("memory", "name"),
    [
        (3.9, "qwen3.5:2b"),
        (7.7, "cookieshake/a.x-4.0-light-imatrix:q4_k_m"),  # a machine of 8 GB
        (12.0, "cookieshake/a.x-4.0-light-imatrix:q4_k_m"),
        (16.4, "cookieshake/a.x-4.0-light-imatrix:Q8_0"),
        (137.0, "cookieshake/a.x-4.0-light-imatrix:Q8_0"),
    ],
)
def test_the_default_suits_the_machine(memory: float, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "memory", lambda: memory)
    found = default_context_model()
    assert found.name == name
    assert found.memory_gb <= max(4, memory)


def test_this_machine_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_context_model() in context_models()
    monkeypatch.setattr(manifest, "memory", lambda: None)
    assert default_context_model().suits == "8GB"


def test_the_wheel_s_manifest_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "models_data" / "models.toml"
    monkeypatch.setattr(manifest, "_MANIFESTS", (shipped, FOLDER / "models.toml"))
    context_models.cache_clear()
    assert context_models()
    shipped.parent.mkdir()
    shipped.write_text("")
    context_models.cache_clear()
    assert context_models() == ()
    context_models.cache_clear()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("Modelfile.*")), ids=lambda path: path.name)
def test_modelfiles_build_on_offered_models(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    base = re.findall(r"^FROM (\S+)$", text, re.MULTILINE)
    (found,) = [each for each in context_models() if [each.name] == base]
    assert f"PARAMETER num_ctx {found.num_ctx}\n" in text
    assert f"-f models/{path.name} " in text


def test_every_encoder_and_reranker_says_what_is_fetched() -> None:
    every = (*models_manifest.encoders(), *models_manifest.rerankers())
    assert len({each.name for each in every}) == len(every)
    for each in every:
        owner, _slash, name = each.name.partition("/")
        assert owner
        assert name
        assert each.licence in ("Apache-2.0", "MIT", "Gemma")
        assert re.fullmatch(r"([0-9a-f]{40})?", each.revision)
        assert each.confirmed == (not each.doubt)
        assert each.revision or "revision" in each.doubt
        assert set(each.note) == {"en", "ko"}
        assert each.dtype in (("int8",) if each.graph else ("float32", "float16", "bfloat16"))
        assert each.max_tokens >= 512
        assert 0 < each.disk_gb < 10
        assert each.memory_gb > 0
        assert each.memory_bf16_gb > 0
        assert (each.dimensions > 0) == (each.kind == ENCODER and each.vectors != "sparse")


@pytest.mark.parametrize(
    "each", [*models_manifest.encoders(), *models_manifest.rerankers()], ids=lambda each: each.name
)
def test_the_files_are_those_that_loading_needs(each: NeuralModel) -> None:
    def taken(path: str) -> bool:
        return any(file.matches(path) for file in each.files)

    assert taken("config.json")
    assert taken("tokenizer.json")
    assert taken("tokenizer_config.json") != bool(each.graph)
    assert [taken("model.safetensors"), taken("pytorch_model.bin"), bool(each.graph)].count(True) == 1
    assert taken("sparse_linear.pt") == taken("colbert_linear.pt") == (each.has_sparse and not each.graph)
    for other in ("onnx/model.onnx", "onnx/config.json.bak", "imgs/a.jpg", "README.md", "../config.json", ".x.json"):
        assert not taken(other)
    known = [file for file in each.files if file.sha256 or (each.confirmed and file.bytes is not None)]
    assert all(re.fullmatch(r"[0-9a-f]{64}", file.sha256) for file in known)
    assert all("*" not in file.path for file in known)
    whole = [file.bytes for file in each.files if file.bytes is not None]
    if len(whole) == len(each.files):
        assert sum(whole) == pytest.approx(each.disk_gb * 1e9, rel=0.05)


def test_defaults_are_the_settings_own_and_wholly_pinned() -> None:
    own = ModelSettings()
    for chosen, offered in ((own.encoder, models_manifest.encoders()), (own.reranker, models_manifest.rerankers())):
        assert [each.name for each in offered if each.default] == [offered[0].name] == [chosen]
        assert offered[0].revision
        assert all(file.bytes and file.sha256 for file in offered[0].files)


def test_a_model_is_known_with_and_without_its_owner() -> None:
    assert neural_model("BAAI/bge-m3") is neural_model("BGE-M3") is models_manifest.encoders()[0]
    assert neural_model("qwen3.5:2b") is None
    assert neural_model("") is None
