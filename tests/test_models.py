"""The manifest of the offered models."""

import re
from pathlib import Path

import pytest

from subtitle_rag import models
from subtitle_rag.llm.guard import cloudy

FOLDER = Path(__file__).parents[1] / "models"


def test_every_model_says_what_it_needs() -> None:
    offered = models.offered()
    assert len({each.name for each in offered}) == len(offered) > 3
    for each in offered:
        assert ":" in each.name
        assert not cloudy(each.name)
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
def test_the_default_suits_the_machine(memory: float, name: str) -> None:
    found = models.default(memory)
    assert found.name == name
    assert found.memory_gb <= max(4, memory)


def test_this_machine_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert models.default() in models.offered()
    monkeypatch.setattr(models, "memory", lambda: None)
    assert models.default().suits == "8GB"


def test_the_wheel_s_manifest_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "models_data" / "models.toml"
    monkeypatch.setattr(models, "_PLACES", (shipped, FOLDER / "models.toml"))
    models.offered.cache_clear()
    assert models.offered()
    shipped.parent.mkdir()
    shipped.write_text("")
    models.offered.cache_clear()
    assert models.offered() == ()
    models.offered.cache_clear()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("Modelfile.*")), ids=lambda path: path.name)
def test_modelfiles_build_on_offered_models(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    base = re.findall(r"^FROM (\S+)$", text, re.MULTILINE)
    (found,) = [each for each in models.offered() if [each.name] == base]
    assert f"PARAMETER num_ctx {found.num_ctx}\n" in text
    assert f"-f models/{path.name} " in text
