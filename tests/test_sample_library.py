"""The sample's folder and settings, and what an earlier version left with it."""

from pathlib import Path

from subtitle_rag.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.sample_library import fill, sample_settings


class Captions:
    def index(self, _sources: list[Path]) -> list[object]:
        return []


def test_only_the_library_lies_apart(tmp_path: Path) -> None:
    settings = config.load(home=tmp_path)
    sample = sample_settings(settings)
    assert sample.is_sample
    assert sample.paths.data == tmp_path / "cache" / "demo" / "data"
    assert (sample.paths.cache, sample.paths.config) == (settings.paths.cache, settings.paths.config)
    with Runtime(sample) as of_sample, Runtime(settings) as of_user:
        assert of_sample.models.folder == of_user.models.folder == tmp_path / "data" / "models"


def test_models_under_the_sample_become_the_users(tmp_path: Path) -> None:
    sample = sample_settings(config.load(home=tmp_path))
    weights = sample.paths.models / "org" / "weights"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"1")
    with Runtime(sample) as runtime:
        runtime.__dict__["indexer"] = Captions()
        fill(runtime)
    assert not sample.paths.models.exists()
    assert (tmp_path / "data" / "models" / "org" / "weights").read_bytes() == b"1"
