"""Hostile media through the process that listens: a clear word each, and no file left behind."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import HeardStretch
from subtitle_rag.listening.transcribers import sound_length_ms
from tests.listening.media_files import DAMAGED, HOSTILE, sparse_wav
from tests.listening.test_transcribers import SENTENCES, transcriber
from tests.support.made_sound import voice, write_wav
from tests.support.tiny_whisper import tiny_whisper

pytestmark = pytest.mark.xdist_group("listening")
FEW = ("cut.mp4", "protected.m4p", "no sound.mkv")
"""Of the hostile files; the campaign has all of them."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_whisper(tmp_path_factory.mktemp("whisper") / "said", SENTENCES)


@pytest.fixture
def media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for a file; what else is written, there or among temporary files, fails the test."""
    folder, temporary = tmp_path / "media", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield folder
    assert list(temporary.iterdir()) == []
    assert len(list(folder.iterdir())) == 1


def outcome(model: Path, path: Path) -> str | list[HeardStretch]:
    """The code of the refusal, or what was heard."""
    try:
        return list(transcriber(model).listen(path))
    except AppError as error:
        failure = error
    assert path.name in failure.message
    return failure.code


def whole(stretches: str | list[HeardStretch]) -> int:
    """Where the stretches end, which follow each other."""
    assert isinstance(stretches, list)
    assert [each.end_ms for each in stretches[:-1]] == [each.begin_ms for each in stretches[1:]]
    return stretches[-1].end_ms


@pytest.mark.campaign(part="listening")
@pytest.mark.parametrize("name", FEW)
def test_what_cannot_be_heard_is_told(name: str, model: Path, media: Path) -> None:
    code, make = HOSTILE[name]
    assert outcome(model, make(media / name)) == code


@pytest.mark.campaign(part="listening")
@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in FEW])
def test_everything_that_cannot_be_heard_is_told(name: str, model: Path, media: Path) -> None:
    code, make = HOSTILE[name]
    assert outcome(model, make(media / name)) == code


@pytest.mark.campaign(part="listening")
@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_heard_in_part_or_told(name: str, model: Path, media: Path) -> None:
    found = outcome(model, DAMAGED[name](media / name))
    assert found in ([], "sound_unreadable", "no_sound") or whole(found) > 0


SILENCE = """
import resource, sys
from pathlib import Path
from tests.listening.test_hostile_media import outcome, whole
found = outcome(Path(sys.argv[1]), Path(sys.argv[2]))
assert all(each.cues == () and each.gap is None for each in found)
print(whole(found), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


@pytest.mark.campaign(part="listening")
def test_four_hours_of_silence_are_four_hours(model: Path, media: Path) -> None:
    """In a process of its own: the peak of a child counts what its parent has in memory when it starts."""
    path = sparse_wav(media / "silence.wav", 4)
    assert sound_length_ms(path) == 14_400_000
    command = [sys.executable, "-c", SILENCE, str(model), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    length, grown = map(int, run.stdout.split())
    assert length == 14_400_000
    assert grown < 700  # MB: the sound is never in memory as a whole, which would be 920 MB


@pytest.mark.campaign(part="listening")
def test_a_week_is_not_listened_to(model: Path, media: Path) -> None:
    path = sparse_wav(media / "week.wav", 30)
    assert sound_length_ms(path) == 108_000_000
    path = sparse_wav(path, 37)  # the longest that the size of a WAV file can tell
    assert sound_length_ms(path) <= 48 * 3_600_000


LIMITED = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.{limit}, ({size}, {size}))
from tests.listening.test_hostile_media import outcome
print(outcome(Path(sys.argv[1]), Path(sys.argv[2])))
"""


def limited(limit: str, size: int, model: Path, path: Path) -> str:
    """The outcome in a process, and processes of it, that get so much of something."""
    code = LIMITED.format(limit=limit, size=size)
    command = [sys.executable, "-c", code, str(model), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr
    return run.stdout.strip()


@pytest.mark.campaign(part="listening")
@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
def test_no_memory_is_told(model: Path, media: Path) -> None:
    path = write_wav(media / "speech.wav", voice(3))
    assert limited("RLIMIT_AS", 450_000_000, model, path) in ("listening_memory", "listening_ended")


@pytest.mark.campaign(part="listening")
@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
def test_a_disk_that_takes_nothing_is_told(model: Path, media: Path) -> None:
    path = write_wav(media / "speech.wav", voice(3))
    assert limited("RLIMIT_FSIZE", 0, model, path) == "listening_ended"


@pytest.mark.campaign(part="listening")
def test_a_file_that_vanishes_meanwhile_is_told_or_heard(model: Path, media: Path) -> None:
    path = sparse_wav(media / "silence.wav", 2)
    listening = transcriber(model).listen(path)
    next(listening)
    with path.open("r+b") as file:
        file.truncate(1_000_000)
    rest = list(listening)
    assert rest[-1].end_ms == 7_200_000
    assert rest[-1].gap is not None
