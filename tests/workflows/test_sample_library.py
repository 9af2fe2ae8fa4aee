"""The sample's folder and settings."""

from pathlib import Path

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows.sample_library import sample_settings


def test_only_the_library_lies_apart(tmp_path: Path) -> None:
    settings = config.load(home=tmp_path)
    sample = sample_settings(settings)
    assert sample.is_sample
    assert sample.paths.data == tmp_path / "cache" / "demo" / "data"
    assert (sample.paths.cache, sample.paths.config) == (settings.paths.cache, settings.paths.config)
    with Runtime(sample) as of_sample, Runtime(settings) as of_user:
        assert of_sample.models.folder == of_user.models.folder == tmp_path / "data" / "models"
