"""kill -9 while a process listens: each stretch that was stored is heard once, and the next run goes on behind it."""

from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.library.store import Library
from tests.support.commandline import ran
from tests.support.heard import MODEL, Stretch, heard, use_reader, write_wav
from tests.support.invented import caption_folder, end_hosts
from tests.support.processes import kill_when, needs_sigkill, start, windows_without_points

STRETCHES: tuple[Stretch, ...] = tuple(
    (60 * number, 60 * number + 60, [(60 * number + 1, 60 * number + 9, f"비밀번호는 {7_000 + number}")], "")
    for number in range(20)
)

pytestmark = [
    pytest.mark.hosts,
    needs_sigkill,
]


def stored(home: Path) -> list[int]:
    """The begins of the stretches in the library, in seconds."""
    path = config.Paths.under(home).library
    if not path.exists():
        return []
    library = Library(path)
    try:
        rows = library.database.rows("SELECT begin_ms FROM heard ORDER BY begin_ms")
        return [begin // 1000 for (begin,) in rows]
    finally:
        library.close()


@pytest.mark.campaign(part="listening")
def test_a_killed_run_goes_on_behind_its_last_stretch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")
    monkeypatch.setenv("HEARD_PAUSE", "0.15")
    log = use_reader(monkeypatch, tmp_path / "heard.log")
    film = write_wav(tmp_path / "films" / "국수.wav", *STRETCHES)
    home = tmp_path / "home"
    process = start(home, "listen", film, "--model", MODEL, "--yes", module="tests.support.heard")
    assert kill_when(process, lambda: len(heard(log)) >= 4)
    kept = stored(home)
    assert 0 < len(kept) < len(STRETCHES)
    before = len(heard(log))
    monkeypatch.setenv("HEARD_PAUSE", "0")
    again = ran(capsys, "--home", str(home), "listen", "--model", MODEL, "--json")
    assert (again.code, again.result["heard"], again.result["left"]) == (0, 1, 0)
    begins = [begin for _file, begin, *_rest in heard(log)]
    assert begins[before:] == [begin for begin, *_rest in STRETCHES][len(kept) :]
    found = ran(capsys, "--home", str(home), "search", '"7019"', "--json").result["scenes"]
    assert [scene["video"]["title"] for scene in found] == ["국수"]
    end_hosts([config.Paths.under(home).index])


DOORS = {
    "listen the film": ("listen", "{film}", "--model", MODEL, "--yes"),
    "listen": ("listen", "--model", MODEL),
    "index": ("index", "{folder}"),
    "sync": ("sync",),
}


@pytest.mark.parametrize(
    "door",
    [
        pytest.param(name, marks=() if name == "listen the film" else pytest.mark.campaign(part="kills"))
        for name in DOORS
    ],
)
def test_windows_that_were_killed_before_their_points_are_taken_up_by_every_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], door: str
) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")
    use_reader(monkeypatch, tmp_path / "heard.log")
    film = write_wav(tmp_path / "films" / "국수.wav", *STRETCHES)
    caption_folder(tmp_path / "captions", 1, minutes=1)
    home = tmp_path / "home"
    process = start(home, "listen", film, "--model", MODEL, "--yes", module="tests.support.heard")
    assert kill_when(process, lambda: windows_without_points(config.Paths.under(home).library) > 0)
    waiting = windows_without_points(config.Paths.under(home).library)
    assert waiting
    assert ran(capsys, "--home", str(home), "search", '"7019"', "--json").result["waiting"] == waiting
    assert "not searchable yet" in ran(capsys, "--home", str(home), "search", '"7019"').err
    words = [word.format(film=film, folder=tmp_path / "captions") for word in DOORS[door]]
    assert ran(capsys, "--home", str(home), *words, "--json").code == 0
    assert windows_without_points(config.Paths.under(home).library) == 0
    found = ran(capsys, "--home", str(home), "search", '"7019"', "--json")
    assert [scene["video"]["title"] for scene in found.result["scenes"]] == ["국수"]
    assert "not searchable yet" not in ran(capsys, "--home", str(home), "search", '"7019"').err
    end_hosts([config.Paths.under(home).index])
