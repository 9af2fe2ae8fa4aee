"""The command as a process of its own: pipes, signals, encodings, terminals, and what it imports."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from tests.support.invented import came_true, caption_folder, dump, end_hosts

COMMAND = [sys.executable, "-m", "subtitle_rag"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, signals and terminals are POSIX's here")
pytestmark = posix

IMPORTS = """
import sys
from subtitle_rag.cli.main import run
code = run(sys.argv[1:])
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(autouse=True)
def shared_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "60")  # tests end them


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return caption_folder(tmp_path_factory.mktemp("process") / "captions", 12, minutes=8)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, captions: Path) -> Iterator[Path]:
    """A home that holds `captions`; tests only read it."""
    home = tmp_path_factory.mktemp("indexed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "60")
        with Runtime(config.load(home)) as runtime:
            list(runtime.indexer.index([captions]))
    yield home
    end_hosts([home / "data" / "index"])


@pytest.fixture
def home(isolated_home: Path) -> Iterator[Path]:
    yield isolated_home
    end_hosts([isolated_home / "data" / "index"])


def finished(
    home: Path,
    *arguments: str,
    stdout: int | IO[str] = subprocess.PIPE,
    stderr: int | IO[str] = subprocess.PIPE,
    **variables: str,
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, "--home", str(home), *arguments],
        stdout=stdout,
        stderr=stderr,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        encoding="utf-8",
        timeout=60,
    )


@pytest.mark.campaign(part="flows")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["search", "국수", "--json"], 0),
        (["show", "none", "--json"], 2),
    ],
)
def test_a_reader_that_leaves_is_no_failure(indexed: Path, arguments: list[str], code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        ended = finished(indexed, *arguments, stdout=pipe)
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    assert "BrokenPipe" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["export", "invented000"], ["show", "invented000", "--json"]], ids=" ".join)
def test_a_full_disk_behind_more_than_a_buffer_is_no_fault_of_the_program(indexed: Path, arguments: list[str]) -> None:
    assert len(finished(indexed, *arguments).stdout.encode()) > 8192
    with Path("/dev/full").open("w") as full:
        ended = finished(indexed, *arguments, stdout=full)
    assert ended.returncode == 1
    assert ended.stderr.startswith("! The output could not be written: No space left on device.")
    assert "unexpected" not in ended.stderr


@pytest.mark.campaign(part="flows")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["show", "none", "--json"]], ids=" ".join)
def test_output_that_cannot_be_written_is_a_failure(indexed: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = finished(indexed, *arguments, stdout=full)
    assert ended.returncode == 1
    assert "No space left" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(("arguments", "code"), [(["list"], 0), (["show", "none"], 2)])
def test_narration_that_cannot_be_written_changes_no_exit_code(indexed: Path, arguments: list[str], code: int) -> None:
    with Path("/dev/full").open("w") as full:
        ended = finished(indexed, *arguments, stderr=full, PYTHONUNBUFFERED="")
    assert ended.returncode == code


@pytest.mark.campaign(part="flows")
def test_an_encoding_without_hangul_stops_nothing(indexed: Path) -> None:
    listed = finished(indexed, "list", "--json", PYTHONIOENCODING="latin-1")
    assert (listed.returncode, listed.stderr) == (0, "")
    titles = [
        video["title"] for channel in json.loads(listed.stdout)["result"]["channels"] for video in channel["videos"]
    ]
    assert "영상 1" in titles
    text = finished(indexed, "list", PYTHONIOENCODING="ascii")
    assert text.returncode == 0
    assert r"\uc601\uc0c1 1" in text.stdout


def test_an_argument_that_is_no_text_is_a_wrong_request(indexed: Path) -> None:
    ended = finished(indexed, "show", os.fsdecode(b"\xff\xfe"), "--json")
    assert ended.returncode == 2
    assert json.loads(ended.stdout)["errors"][0]["code"] == "unknown"


@pytest.mark.campaign(part="flows")
def test_help_imports_nothing_heavy() -> None:
    names = "kiwipiepy qdrant_edge qdrant_client textual webvtt numpy torch rich filelock yt_dlp rapidfuzz"
    heavy = set(names.split())
    for arguments in (["--help"], ["index", "--help"], ["search", "--help"]):
        ended = subprocess.run(
            [sys.executable, "-c", IMPORTS, *arguments], capture_output=True, encoding="utf-8", check=True
        )
        assert "click" in ended.stderr.split()
        assert not heavy & set(ended.stderr.split())


@pytest.mark.campaign(part="flows")
def test_help_reads_no_verb_and_verbs_nothing_of_their_work() -> None:
    def loaded(code: str) -> set[str]:
        imports = "import sys; from subtitle_rag.cli.main import VERBS, root, run"
        whole = f"{imports}; {code}; print(*sys.modules, file=sys.stderr)"
        ended = subprocess.run([sys.executable, "-c", whole], capture_output=True, encoding="utf-8", check=True)
        return set(ended.stderr.split())

    verbs = {name for name in loaded("run(['--help'])") if name.startswith("subtitle_rag.cli.")}
    assert verbs == {"subtitle_rag.cli.main"}
    own = "('eval', 'export')"  # the help of `export` names the installed formats
    modules = loaded(f"[root.get_command(None, verb) for verb in VERBS if verb not in {own}]")
    assert "subtitle_rag.cli.index_videos" in modules
    use_cases = {
        "youtube.fetcher",
        "index.indexing",
        "youtube.youtube",
        "captions.files",
        "base.installation.package_installer",
    }
    use_cases |= {"search.searcher", "library.store", "library.rows", "captions.addresses", "sharing.player"}
    assert not [name for name in modules if name.startswith("subtitle_rag.evaluation")]
    assert not modules & {"importlib.metadata", *(f"subtitle_rag.{name}" for name in use_cases)}


@pytest.mark.campaign(part="flows")
def test_search_leaves_the_heavy_work_to_the_host(indexed: Path) -> None:
    arguments = ["--home", str(indexed), "search", "국수를 먹었어요", "--json"]
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS, *arguments], capture_output=True, encoding="utf-8", check=True
    )
    assert json.loads(ended.stdout)["result"]["scenes"]
    assert not {"kiwipiepy", "qdrant_edge", "qdrant_client", "textual", "torch", "numpy", "rich"} & set(
        ended.stderr.split()
    )


@pytest.mark.campaign(part="hosts")
@pytest.mark.hosts
def test_ctrl_c_during_indexing_ends_with_130_and_goes_on(home: Path, indexed: Path, captions: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "index", str(captions), "--jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdout is not None
    events = [json.loads(process.stdout.readline()) for _event in range(4)]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    last = json.loads(out.splitlines()[-1])
    assert (last["event"], last["code"]) == ("error", "interrupted")
    assert err.strip().startswith("! Interrupted.")
    assert "Traceback" not in err
    assert [event["event"] for event in events] == ["progress", "video_done", "progress", "video_done"]
    assert len(dump(home / "data" / "library.db")["video"]) >= 2
    assert finished(home, "index", str(captions)).returncode == 0
    tables, expected = (dump(each / "data" / "library.db") for each in (home, indexed))
    expected["setting"] = [row for row in expected["setting"] if row[0] != "found_scenes"]  # of other tests' searches
    assert tables == expected


@pytest.mark.campaign(part="hosts")
@pytest.mark.hosts
def test_progress_is_drawn_on_a_terminal_s_stderr(home: Path, captions: Path) -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "index", str(captions), "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        encoding="utf-8",
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            read = os.read(ours, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not read:
            break
        drawn += read
    os.close(ours)
    out, _err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["result"]["videos"]["new"] == 12
    shown = drawn.decode()
    assert "Videos" in shown
    assert "12/12" in shown
    assert "Windows " in shown


@pytest.mark.campaign(part="hosts")
@pytest.mark.hosts
def test_the_host_outlives_its_client_for_a_while(indexed: Path) -> None:
    from subtitle_rag.base.hosting.entry import host_entry

    def host() -> int | None:
        entry = host_entry(indexed / "data" / "index")
        return entry["pid"] if entry else None

    assert finished(indexed, "search", "국수").returncode == 0
    first = host()
    assert first is not None
    assert finished(indexed, "search", "바다").returncode == 0
    assert host() == first
    end_hosts([indexed / "data" / "index"])
    assert came_true(lambda: host() is None)
