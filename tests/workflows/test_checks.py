"""What `doctor` says of the way to YouTube."""

import io
import os
import sqlite3
import sys
from contextlib import closing
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from yt_dlp.networking.common import _REQUEST_HANDLERS

from subtitle_rag import runtime
from subtitle_rag.base import i18n
from subtitle_rag.base.config import settings as config
from subtitle_rag.contexts import planning
from subtitle_rag.models.manifest import default_context_model
from subtitle_rag.workflows import checks as doctor
from subtitle_rag.youtube.session import JavaScriptRuntime
from tests.stand_ins.ollama import Model, StandIn as Ollama
from tests.stand_ins.youtube import stand_in
from tests.support.commandline import Run
from tests.support.invented import caption_folder, end_hosts


def checks(run: Run, *options: str) -> dict[str, dict[str, Any]]:
    document = run("doctor", "--json", *options).document
    return {check["name"]: check for check in document["result"]["checks"]}


def probe(name: str) -> dict[str, str]:
    """Run one check."""
    with runtime.Runtime(config.load()) as opened:
        check = doctor.probe(name, opened)
    return {"severity": check.severity, "message": check.message, "hint": check.remedy or ""}


def configure(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(f"[youtube]\n{text}\n", encoding="utf-8")


def test_the_network_is_one_request_and_offline_none(run: Run) -> None:
    with stand_in() as youtube:
        assert checks(run)["network"]["severity"] == "ok"
        assert youtube.count() == 1
        assert "network" not in checks(run, "--offline")
        assert youtube.count() == 1


@pytest.mark.parametrize(("system", "name"), [("linux", None), ("darwin", "macOS"), ("win32", "Windows")])
def test_a_system_that_nobody_has_tried_is_told(system: str, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with runtime.Runtime(config.load()) as opened:
        check = doctor.probe("python", opened)
    assert check.severity == "ok"
    assert (name or "SQLite") in check.message


@pytest.mark.parametrize(("system", "remedy"), [("linux", "LANG"), ("win32", "PYTHONUTF8")])
def test_what_helps_an_encoding_is_what_the_system_knows(
    system: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp949"))
    with runtime.Runtime(config.load()) as opened:
        check = doctor.probe("terminal", opened)
    assert check.severity == "warning"
    assert remedy in (check.remedy or "")


class GoneDrive:
    """A path on a drive of Windows that is not there, all the way up."""

    @property
    def parent(self) -> "GoneDrive":
        return self

    def exists(self) -> bool:
        return False

    def __fspath__(self) -> str:
        return "/nothing/is/here"

    __str__ = __fspath__


def test_a_drive_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with runtime.Runtime(config.load()) as opened:
        monkeypatch.setattr(opened, "settings", SimpleNamespace(paths=SimpleNamespace(data=GoneDrive())))
        check = doctor.probe("disk", opened)
    assert check.severity == "error"
    assert "/nothing/is/here" in check.message


def test_no_network_is_told_and_is_no_failure(isolated_home: Path) -> None:
    configure(isolated_home, "pause = 0")
    with stand_in() as youtube:
        youtube.stop()
        found = probe("network")
    assert found["severity"] == "warning"
    assert "Could not connect" in found["message"]


def test_a_missing_cookie_file_is_told(isolated_home: Path, tmp_path: Path) -> None:
    configure(isolated_home, f'cookie_file = "{tmp_path / "없음.txt"}"')
    found = probe("cookies")
    assert found["severity"] == "error"
    assert "없음.txt" in found["message"]
    assert "cookie_file" in found["hint"]


def test_cookies_of_youtube_are_counted(isolated_home: Path, tmp_path: Path) -> None:
    jar = tmp_path / "cookies.txt"
    lines = ["# Netscape HTTP Cookie File", *(f".youtube.com\tTRUE\t/\tTRUE\t0\tname{n}\tvalue" for n in range(2))]
    jar.write_text("\n".join([*lines, ".example.com\tTRUE\t/\tTRUE\t0\tother\tvalue", ""]))
    before = jar.read_bytes()
    configure(isolated_home, f'cookie_file = "{jar}"')
    assert probe("cookies")["message"] == "2 cookies for YouTube"
    assert jar.read_bytes() == before


def test_an_unknown_browser_is_told(isolated_home: Path) -> None:
    configure(isolated_home, 'cookies_from_browser = "netscape navigator"')
    found = probe("cookies")
    assert found["severity"] == "error"
    assert "netscape navigator" in found["message"]


@pytest.mark.parametrize(("version", "severity"), [("2024.1.1", "warning"), ("2999.12.31", "ok")])
def test_an_outdated_yt_dlp_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, severity: str
) -> None:
    """The installed package is looked at, so another one is put before it."""
    info = tmp_path / "first" / f"yt_dlp-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: yt-dlp\nVersion: {version}\n")
    monkeypatch.syspath_prepend(info.parent)
    found = probe("yt-dlp")
    assert (found["severity"], found["message"]) == (severity, f"yt-dlp {version}")
    if severity == "warning":
        assert "pip install --upgrade" in found["hint"]


@pytest.mark.parametrize(
    ("version", "gigabytes", "severity", "hint"),
    [
        ("0.20.7", 64, "warning", "Update Ollama"),
        ("0.33.3", 64, "ok", ""),
        ("0.33.3", 4.8, "warning", "There is memory for a context of 4,096 tokens"),
    ],
)
def test_an_ollama_that_ignores_schemas_or_has_little_memory_is_told(
    monkeypatch: pytest.MonkeyPatch, version: str, gigabytes: float, severity: str, hint: str
) -> None:
    monkeypatch.setattr(planning, "free_memory", lambda: int(gigabytes * 10**9))
    with Ollama(version=version) as ollama:
        ollama.add(Model(default_context_model().name))
        monkeypatch.setenv(config.HOSTS_VARIABLE, ollama.base)
        found = probe("ollama")
        assert (found["severity"], found["hint"].startswith(hint)) == (severity, True)
        assert ollama.count("chat") == 0


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_words_of_a_program_follow_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    def broken(_runtime: object) -> doctor.Finding:
        raise RuntimeError("raw")

    monkeypatch.setitem(doctor.PROBES, "python", broken)
    with runtime.Runtime(config.load(home=tmp_path, language=language)) as opened:
        i18n.activate(language)
        message = doctor.probe("python", opened).message
    assert message.endswith(": RuntimeError('raw')")


def test_a_damaged_library_is_told_once(run: Run, isolated_home: Path, tmp_path: Path) -> None:
    run("index", caption_folder(tmp_path / "captions", 1, minutes=2), "--no-contexts")
    library = isolated_home / "data" / "library.db"
    library.write_bytes(library.read_bytes()[:100] + b"\xff" * 4_000)
    found = checks(run, "--offline")
    assert [name for name, check in found.items() if "damaged:" in check["message"]] == ["library"]
    assert "malformed" not in found["library"]["message"]
    assert found["yt-dlp"]["message"] == "not looked at: the library cannot be read"


def test_an_index_that_cannot_be_opened_is_told_by_status(run: Run, isolated_home: Path, tmp_path: Path) -> None:
    run("index", caption_folder(tmp_path / "captions", 1, minutes=2), "--no-contexts")
    end_hosts([isolated_home / "data" / "index"])
    (isolated_home / "data" / "index" / "meta.json").write_text("no record")
    told = run("status", "--json")
    assert (told.document["result"]["windows"], told.document["errors"][0]["code"]) == (2, "index_damaged")
    (isolated_home / "data" / "index" / "meta.json").unlink()  # the shard is whole: its record is written anew
    assert run("status", "--json").document["status"] == "success"


def runtimes(monkeypatch: pytest.MonkeyPatch, *found: JavaScriptRuntime) -> None:
    monkeypatch.setattr("subtitle_rag.youtube.session.javascript_runtimes", lambda: list(found))


def lacking(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make these packages look as if they were not installed."""

    def version(name: str) -> str:
        if name in names:
            raise PackageNotFoundError(name)
        return "9.9"

    monkeypatch.setattr(doctor, "version", version)


class TestYoutubeExtra:
    DENO = JavaScriptRuntime("deno", "2.9.8", True)
    NODE = JavaScriptRuntime("node", "20.20.2", False)

    def test_a_runtime_and_its_scripts_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtimes(monkeypatch, self.DENO, self.NODE)
        lacking(monkeypatch)
        found = probe("javascript")
        assert (found["severity"], found["message"]) == ("ok", "deno 2.9.8, yt-dlp-ejs 9.9")

    def test_without_a_runtime_nothing_is_wrong_and_the_line_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtimes(monkeypatch)
        lacking(monkeypatch, "yt-dlp-ejs", "curl_cffi")
        for name in ("javascript", "impersonation"):
            found = probe(name)
            assert (found["severity"], found["message"]) == ("ok", "none")
            assert "subtitle-rag self add youtube" in found["hint"]

    def test_an_old_runtime_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtimes(monkeypatch, self.NODE)
        found = probe("javascript")
        assert (found["severity"], found["message"]) == ("warning", "node 20.20.2 is too old")

    def test_missing_scripts_are_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtimes(monkeypatch, self.DENO)
        lacking(monkeypatch, "yt-dlp-ejs")
        found = probe("javascript")
        assert (found["severity"], found["message"]) == ("warning", "deno 2.9.8")
        assert "yt-dlp-ejs" in found["hint"]

    def test_a_curl_cffi_that_yt_dlp_refuses_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        monkeypatch.delitem(_REQUEST_HANDLERS, "CurlCFFI", raising=False)
        found = probe("impersonation")
        assert (found["severity"], found["message"]) == ("warning", "curl_cffi 9.9")
        assert "does not accept" in found["hint"]

    def test_what_reads_the_keyring_of_gnome_is_told(
        self, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Chrome on GNOME keeps the key of its cookies in a keyring, which yt-dlp reads by a package."""
        folder = Path(os.environ["XDG_CONFIG_HOME"]) / "google-chrome" / "Default"
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / "Cookies")) as database:
            database.execute("create table meta (key, value)")
            database.execute("insert into meta values ('version', 24)")
            database.execute(
                "create table cookies (host_key, name, value, encrypted_value, path, expires_utc, is_secure)"
            )
            row = (".youtube.com", "SID", "", b"v11" + bytes(16), "/", 13_400_000_000_000_000, 1)
            database.execute("insert into cookies values (?, ?, ?, ?, ?, ?, ?)", row)
            database.commit()
        monkeypatch.setattr("yt_dlp.cookies.secretstorage", None)
        configure(isolated_home, 'cookies_from_browser = "chrome+gnomekeyring"')
        found = probe("cookies")
        assert found["severity"] == "error"
        assert "secretstorage" in found["message"]
        assert found["hint"].endswith("secretstorage")
