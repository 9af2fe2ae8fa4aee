"""`doctor --report`: a bundle that a user can attach, with nothing in it that is nobody's business."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag import bug_report, doctor, log_file
from subtitle_rag.bug_report import shortener
from subtitle_rag.domain import VideoFailed
from subtitle_rag.log_file import logging_to
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.commandline import Run
from tests.support.invented import caption_folder
from tests.support.place import Place

SECRET = "Zq3xW9vT7uR5pN1m"
LINE = "2026-05-01T10:00:00.000Z {} cli[7] subtitle_rag.x: number {}"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks that say something of the library; the others have tests of their own."""
    probes = {name: doctor.PROBES[name] for name in ("python", "disk", "library")}
    monkeypatch.setattr(doctor, "PROBES", probes)


def section(text: str, title: str) -> list[str]:
    """The lines of a part of the report."""
    found = re.search(rf"^## {re.escape(title)}.*?\n\n(`{{3,}})\n(.*?)\n\1$", text, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[2].split("\n")


def log_of(home: Path, lines: list[str], name: str = log_file.NAME) -> None:
    (home / "log").mkdir(parents=True, exist_ok=True)
    (home / "log" / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_it_holds_versions_settings_checks_counts_and_log(run: Run, isolated_home: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    done = run("doctor", "--offline", "--report", file)
    assert done.code == 0
    assert str(file) in done.err
    assert "✓ library" in done.out
    text = file.read_text(encoding="utf-8")
    assert any(line.startswith("yt-dlp ") for line in section(text, "Versions"))
    assert "youtube.pause_min = 8" in section(text, "Settings")
    assert [line.split()[:2] for line in section(text, "Checks")] == [
        ["ok", f"{n}:"] for n in ("python", "disk", "library")
    ]
    assert "videos = 0" in section(text, "Library")
    assert section(text, "Log")[0].endswith("doctor begins, options: --offline --report")


def test_a_file_that_comes_while_the_checks_run_is_not_either(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.md"

    def slow(_runtime: object) -> tuple[str, str]:
        file.write_text("mine")
        return "ok", ""

    monkeypatch.setitem(doctor.PROBES, "library", slow)
    assert run("doctor", "--offline", "--report", file, "--json").failure == "report_exists"
    assert file.read_text() == "mine"


def test_a_place_where_nothing_can_be_written_is_told(run: Run, tmp_path: Path) -> None:
    assert run("doctor", "--offline", "--report", tmp_path / "none" / "report.md", "--json").failure == "unwritable"


def test_a_dash_prints_it_alone(run: Run) -> None:
    done = run("doctor", "--offline", "--report", "-")
    assert done.out.startswith("# subtitle-rag bug report\n")
    assert "✓" not in done.out


def test_json_names_the_file_or_holds_the_text(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    assert run("doctor", "--offline", "--json", "--report", file).result["report"] == {"file": str(file), "text": None}
    report = run("doctor", "--offline", "--json", "--report", "-").result["report"]
    assert report["file"] is None
    assert report["text"].startswith("# subtitle-rag bug report\n")
    assert "report" not in run("doctor", "--offline", "--json").result


def test_the_last_500_lines_that_are_not_for_debugging(run: Run, isolated_home: Path) -> None:
    lines = [LINE.format("DEBUG  " if n % 2 else "WARNING", n) for n in range(1_400)]
    log_of(isolated_home, lines[:700], f"{log_file.NAME}.1")
    log_of(isolated_home, [*lines[700:], "a torn line", " DEBUG forged INFO"])
    told = section(run("doctor", "--offline", "--report", "-").out, "Log")
    own, rest = told[-1], told[:-1]
    assert "doctor begins" in own
    assert len(told) == bug_report.LINES
    assert rest == [line for line in lines if "WARNING" in line][-499:]


def test_with_debug_on_no_query_gets_into_it(run: Run, isolated_home: Path) -> None:
    assert run("--debug", "show", "벚꽃-secret-query").code == 2
    assert "secret-query" in (isolated_home / "log" / log_file.NAME).read_text(encoding="utf-8")
    done = run("--debug", "doctor", "--offline", "--report", "-")
    assert "unknown_video" in done.out
    assert "secret-query" not in done.out


def test_no_title_gets_into_it(run: Run, isolated_home: Path, tmp_path: Path, analyzer: Analyzer) -> None:
    folder = caption_folder(tmp_path / "captions", 2, minutes=2)
    (folder / "secret-title [broken00000].ko.vtt").write_text("no captions", encoding="utf-8")
    with logging_to(isolated_home / "log", "cli"), closing(Place.at(isolated_home / "data", analyzer)) as place:
        events = list(place.indexer.index([folder]))
    assert any(isinstance(event, VideoFailed) and "secret-title" in event.title for event in events)
    text = run("doctor", "--offline", "--report", "-").out
    assert "videos = 3" in section(text, "Library")
    assert any("indexing ends" in line for line in section(text, "Log"))
    assert any("CaptionError" in line for line in section(text, "Log"))
    assert "secret-title" not in text
    assert "영상 1" not in text


def test_settings_come_without_secrets(run: Run, isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_QDRANT", SECRET)
    isolated_home.mkdir()
    (isolated_home / "config.toml").write_text(
        f"""
        [youtube]
        cookies_from_browser = "firefox:{SECRET}"
        cookie_file = "/secret/{SECRET}.txt"
        proxy = "http://me:{SECRET}@proxy.example:3128"
        [qdrant]
        url = "http://127.0.0.1:9"
        api_key_env = "MY_QDRANT"
        [players.own]
        command = ["own", "--key={SECRET}", "{{url}}"]
        [llm]
        hosts = []
        """,
        encoding="utf-8",
    )
    log_of(isolated_home, [LINE.format("INFO", f"the server said {SECRET}")])
    text = run("doctor", "--offline", "--report", "-").out
    assert SECRET not in text
    told = section(text, "Settings")
    assert "qdrant.url = http://127.0.0.1:9" in told
    assert "qdrant.api_key_env = MY_QDRANT" in told
    assert "the key's environment variable is set" in told
    assert "players = own" in told
    assert "youtube.cookie_file = [redacted]" in told
    assert "youtube.proxy = http://[redacted]@proxy.example:3128" in told


def test_a_damaged_library_hinders_nothing(run: Run, isolated_home: Path, tmp_path: Path) -> None:
    (isolated_home / "data").mkdir(parents=True)
    (isolated_home / "data" / "library.db").write_bytes(b"not a database at all" * 200)
    done = run("doctor", "--offline", "--report", tmp_path / "report.md")
    assert done.code == 1
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert section(text, "Library")[0].startswith(
        "cannot be told: subtitle_rag.domain.errors.AppError: library_damaged"
    )
    assert any(line.startswith("error   library: ") for line in section(text, "Checks"))
    assert "library_damaged" in "\n".join(section(text, "Log"))


def test_a_locked_library_neither(run: Run, isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.library.connection.BUSY_TIMEOUT_MS", 10)
    (isolated_home / "data").mkdir(parents=True)
    holder = sqlite3.connect(isolated_home / "data" / "library.db", isolation_level=None)
    try:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        done = run("doctor", "--offline", "--report", "-")
    finally:
        holder.close()
    assert done.code == 1
    assert "library_locked" in section(done.out, "Library")[0]


def test_home_and_name_are_shortened(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "kim.minji"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("SUBTITLE_RAG_HOME", str(home / "library"))
    text = run("doctor", "--offline", "--report", "-").out
    assert "kim.minji" not in text
    assert os.path.join("~", "library") in text  # noqa: PTH118 - as a text


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("/home/minji/captions", "~/captions"),
        ("in '/home/minji'", "in '~'"),
        ("/home/minji2/captions", "/home/minji2/captions"),
        ("/media/minji/disk", "/media/~/disk"),
        ("/run/user/MINJI", "/run/user/~"),
        ("minji is a word", "minji is a word"),
        ("file:///home/minji/x", "file://~/x"),
        ("/var/minjian/x", "/var/minjian/x"),
    ],
)
def test_what_is_shortened(line: str, wanted: str) -> None:
    assert shortener(Path("/home/minji"), "minji")(line) == wanted


def test_a_home_of_windows_is_shortened_however_it_is_written() -> None:
    shorten = shortener(None, "minji")
    assert shorten(r"C:\Users\minji\x") == r"C:\Users\~\x"
    assert shorten(r"'C:\\Users\\Minji\\x'") == r"'C:\\Users\\~\\x'"


def test_a_fence_cannot_be_closed_from_within(run: Run, isolated_home: Path) -> None:
    log_of(isolated_home, [LINE.format("INFO", "````` # forged")])
    assert any("forged" in line for line in section(run("doctor", "--offline", "--report", "-").out, "Log"))
