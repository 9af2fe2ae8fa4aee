"""Parts of other distributions: a real one on `sys.path`, found by its metadata."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag import plugins
from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.base.vectors.points import DenseVector
from subtitle_rag.models.model_store import ModelStore, encoder_source, is_added
from subtitle_rag.models.neural.added_encoder import AddedEncoder
from subtitle_rag.models.neural.neural_client import HostedModels
from subtitle_rag.models.neural.protocols import EncoderSource
from subtitle_rag.plugins import ENCODERS, EXPORT_FORMATS
from subtitle_rag.sharing.export_formats import ExportFormat, render_export
from subtitle_rag.sharing.exported_scene import ExportedScene

MODULE = """
from subtitle_rag import ExportFormat, TextEncoder

TITLES = ExportFormat(lambda scenes, title: "\\n".join(scene.video.title for scene in scenes))
FAILING = ExportFormat(lambda scenes, title: 1 / 0)
NOTHING = 7
LETTERS = TextEncoder("1 beta", 2, lambda texts: [(3, 4) for _ in texts], lambda text: (0, len(text)), is_light=True)


class Sizes:
    def open_encoder(self, name, models):
        return LETTERS.open_encoder("sizes", models) if name == "sizes:small" else 1 / 0


SIZES = Sizes()
SHORT = TextEncoder("1", 3, lambda texts: [(3, 4) for _ in texts], lambda text: 1 / 0)
"""
ENTRIES = f"""
[{EXPORT_FORMATS}]
titles = tiny_plugin:TITLES
failing = tiny_plugin:FAILING
wrong = tiny_plugin:NOTHING
absent = tiny_plugin_that_is_not_there:FORMAT
md = tiny_plugin:NOTHING

[{ENCODERS}]
letters = tiny_plugin:LETTERS
short = tiny_plugin:SHORT
broken = tiny_plugin:NOTHING
sizes = tiny_plugin:SIZES
ollama = tiny_plugin:NOTHING
bge-m3 = tiny_plugin:LETTERS
"""


@pytest.fixture(autouse=True)
def tiny_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution that adds formats and encoders."""
    (tmp_path / "tiny_plugin.py").write_text(MODULE)
    info = tmp_path / "tiny_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tiny_plugin", raising=False)


def scenes() -> list[ExportedScene]:
    return [ExportedScene(Video("v", "국수", "UC", "부엌"), 0, 1000, 0, ())]


def test_names_are_known_without_an_import() -> None:
    assert set(plugins.plugin_names(EXPORT_FORMATS)) >= {"titles", "failing", "wrong", "absent", "md"}
    assert "tiny_plugin" not in sys.modules


def test_a_format_is_written_as_the_others_are() -> None:
    assert render_export("titles", scenes(), None).text == "국수"


def test_a_built_in_format_keeps_its_name() -> None:
    assert "# " in render_export("md", scenes(), None).text


@pytest.mark.parametrize(
    ("group", "kind", "built_in"),
    [
        (EXPORT_FORMATS, ExportFormat, ["anki", "csv", "jsonl", "md", "srt", "txt", "vtt"]),
        (ENCODERS, EncoderSource, ["files", "ollama"]),
    ],
)
def test_the_built_in_parts_are_entry_points_as_those_of_others(group: str, kind: type, built_in: list[str]) -> None:
    names = [name for name in plugins.plugin_names(group) if plugins.is_built_in(group, name)]
    assert names == built_in
    assert all(plugins.load_plugin(group, name, kind) for name in names)


@pytest.mark.parametrize("name", ["bge-m3", "bge-m3@5617a9f6", "ollama:bge-m3", ""])
def test_a_search_with_a_built_in_encoder_reads_the_metadata_of_no_other_package(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_group: pytest.fail("read all metadata"))
    plugins._points_at.cache_clear()
    assert encoder_source(name) == ("ollama" if name.startswith("ollama") else "files")
    assert plugins.load_plugin(ENCODERS, encoder_source(name), EncoderSource)


def test_an_installation_finds_its_formats_without_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a wheel has them: in the metadata alone."""
    package = tmp_path / "site" / "subtitle_rag"
    package.mkdir(parents=True)
    monkeypatch.setattr(plugins, "__file__", str(package / "plugins.py"))
    info = tmp_path / "subtitle_rag-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: subtitle-rag\nVersion: 9\n")
    (info / "entry_points.txt").write_text(f"[{EXPORT_FORMATS}]\nwheel = subtitle_rag.sharing.markdown:MARKDOWN\n")
    monkeypatch.syspath_prepend(str(tmp_path / "."))
    plugins._points_at.cache_clear()
    plugins._own_points.cache_clear()
    assert plugins.is_built_in(EXPORT_FORMATS, "wheel")
    assert plugins.load_plugin(EXPORT_FORMATS, "wheel", ExportFormat)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("absent", "ModuleNotFoundError"), ("wrong", "tiny_plugin:NOTHING = int"), ("failing", "ZeroDivisionError")],
)
def test_a_broken_part_is_told_by_name_package_and_reason(name: str, reason: str) -> None:
    with pytest.raises(AppError) as broken:
        render_export(name, scenes(), None)
    assert broken.value.code == "plugin_broken"
    assert broken.value.details["name"] == name
    assert broken.value.details["package"] == "tiny-plugin"
    assert reason in broken.value.message


def test_an_unknown_format_is_told_with_all_that_there_are() -> None:
    with pytest.raises(AppError) as unknown:
        render_export("nothing", scenes(), None)
    assert unknown.value.code == "unknown_value"
    assert "titles" in unknown.value.hint


def test_a_part_is_loaded_by_its_name() -> None:
    assert isinstance(plugins.load_plugin(EXPORT_FORMATS, "titles", ExportFormat), ExportFormat)
    assert plugins.load_plugin(EXPORT_FORMATS, "nobody", ExportFormat) is None


class TestEncoder:
    @pytest.fixture
    def store(self, tmp_path: Path) -> ModelStore:
        return ModelStore(tmp_path / "models", ModelSettings(encoder="letters"))

    @pytest.fixture
    def models(self, store: ModelStore, tmp_path: Path) -> Iterator[HostedModels]:
        with closing(HostedModels(tmp_path / "neural", store)) as models:
            yield models

    def test_the_settings_name_it_and_an_id_finds_it_again(self, models: HostedModels) -> None:
        encoder = models.encoder()
        assert isinstance(encoder, AddedEncoder)
        assert (encoder.id, encoder.dimensions, encoder.has_pieces) == ("letters@1%20beta", 2, True)
        assert models.encoder(encoder.id) is models.encoder(encoder.id)
        assert models.encoder("letters@2") is None

    def test_a_source_opens_each_name_that_begins_with_its_own(self, models: HostedModels) -> None:
        encoder = models.encoder("sizes:small")
        assert encoder
        assert encoder.dimensions == 2

    def test_its_vectors_are_units(self, models: HostedModels) -> None:
        encoder = models.encoder()
        assert encoder
        assert [each and each.dense for each in encoder.passages(["가", "나"])] == [DenseVector((0.6, 0.8))] * 2
        assert encoder.query("국수").dense == DenseVector((0.0, 1.0))

    def test_it_needs_no_packages_and_no_files(self, store: ModelStore) -> None:
        assert store.required_extra("letters") is None
        assert store.state("letters").status == "here"
        assert store.knows_prompts("letters")

    @pytest.mark.parametrize(
        ("name", "call", "reason"),
        [
            ("sizes", lambda models: models.encoder("sizes:large"), "ZeroDivisionError"),
            ("broken", lambda models: models.encoder("broken"), "tiny_plugin:NOTHING = int"),
            ("short", lambda models: models.encoder("short").passages(["가"]), "ValueError: not 1 × 3"),
            ("short", lambda models: models.encoder("short").query("가"), "ZeroDivisionError"),
        ],
    )
    def test_what_it_does_wrong_is_told(
        self, models: HostedModels, name: str, call: Callable[[HostedModels], object], reason: str
    ) -> None:
        with pytest.raises(AppError) as broken:
            call(models)
        assert (broken.value.code, broken.value.details["name"]) == ("plugin_broken", name)
        assert reason in broken.value.message

    def test_the_manifests_models_keep_their_names(self) -> None:
        assert is_added("letters")
        assert not is_added("bge-m3")
