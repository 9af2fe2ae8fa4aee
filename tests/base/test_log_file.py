"""The log: its lines, its file, and what is never in it."""

import ast
import json
import logging
import os
import re
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given as examples, strategies as st

from subtitle_rag.base import log_file, redaction
from subtitle_rag.base.domain.errors import AppError, FetchError
from subtitle_rag.base.log_file import LogFile, logged_stage, logging_to
from subtitle_rag.base.redaction import MARK, describe, one_line, redact, register_secret
from subtitle_rag.cli import main as cli

logger = logging.getLogger("subtitle_rag.tests")
LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR|CRITICAL) +[\w-]+\[\d+\] [\w.]+: \S.*"
)
QUERY = "벚꽃 국수 secret-query"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "new" / "log"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    redaction._SECRETS.clear()


def written(folder: Path) -> list[str]:
    """The lines of the log, each of which must be one."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.log")))
    lines = text.split("\n")
    assert lines.pop() == ""
    for line in lines:
        assert LINE.fullmatch(line), line
    return lines


def failing(error: BaseException) -> None:
    raise error


def logged_failure(error: BaseException, level: int = logging.WARNING) -> None:
    try:
        failing(error)
    except BaseException:
        logger.log(level, "it failed", exc_info=True)


# --- the file ---


def test_nothing_is_made_before_the_first_line(folder: Path) -> None:
    with logging_to(folder, "cli"):
        logger.debug("of no interest")
    assert not folder.parent.exists()


@pytest.mark.parametrize("wrote", [True, False])
def test_a_record_that_comes_after_the_end_opens_no_file(folder: Path, wrote: bool) -> None:
    with logging_to(folder, "cli") as handler:
        if wrote:
            logger.info("hello")
    before = written(folder) if wrote else []
    handler.handle(logger.makeRecord(logger.name, logging.INFO, __file__, 1, "late, from a thread", (), None))
    assert (written(folder) if wrote else list(folder.glob("*"))) == before


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_the_file_is_its_owner_s_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        with logging_to(folder, "cli"):
            logger.info("hello")
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "cli.log").stat().st_mode) == 0o600


def test_a_line_has_time_level_process_pid_logger_and_message(folder: Path) -> None:
    with logging_to(folder, "neural-host"):
        logger.info("loaded in %d ms", 7)
    (line,) = written(folder)
    assert line.endswith(f"INFO    neural-host[{os.getpid()}] subtitle_rag.tests: loaded in 7 ms")


@pytest.mark.parametrize(
    ("flag", "variable", "wanted"),
    [(False, None, False), (True, None, True), (False, "1", True), (False, "0", False), (False, "", False)],
)
def test_what_turns_debugging_on(
    flag: bool, variable: str | None, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(log_file.DEBUG_VARIABLE, raising=False)
    if variable is not None:
        monkeypatch.setenv(log_file.DEBUG_VARIABLE, variable)
    assert log_file.wants_debug(flag) is wanted


def test_debug_lines_come_with_debug_alone(folder: Path) -> None:
    for debug in (False, True):
        with logging_to(folder, "cli", debug=debug):
            logger.debug("query %s", QUERY)
            assert len(written(folder)) == debug


def test_a_log_that_cannot_be_written_hinders_nobody(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    full = tmp_path / "full"
    full.mkdir()
    (full / "cli.log").mkdir()  # cannot be opened for writing, by root either
    for place in (tmp_path / "file" / "log", full):
        with logging_to(place, "cli"):
            logger.warning("lost")
            logged_failure(ValueError("lost"))
    assert capfd.readouterr() == ("", "")


def test_nothing_is_printed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with logging_to(folder, "cli", debug=True) as handler:
        logger.error("told to the file alone")
        logging.getLogger("elsewhere").error("and this")
        # by hand, for pytest's own handler raises
        handler.handle(logging.LogRecord("subtitle_rag", logging.INFO, __file__, 1, "too few: %s %s", (1,), None))
    assert capfd.readouterr() == ("", "")


def test_a_block_within_a_block_has_the_lines_for_its_time(tmp_path: Path) -> None:
    with logging_to(tmp_path / "outer", "app"):
        logger.info("one")
        with logging_to(tmp_path / "inner", "cli", debug=True):
            logger.debug("two")
        logger.debug("of no interest")
        logger.info("three")
    logger.info("nobody hears this")
    assert [line.rpartition(" ")[2] for line in written(tmp_path / "outer")] == ["one", "three"]
    assert [line.rpartition(" ")[2] for line in written(tmp_path / "inner")] == ["two"]
    assert log_file.log_path() is None


def test_other_packages_are_heard_from_warning_on_and_quoted_at_debug_alone(folder: Path) -> None:
    other = logging.getLogger("elsewhere.client")
    with logging_to(folder, "cli"):
        other.info("sending %s", QUERY)
        other.warning("sent %s", QUERY)
    (line,) = written(folder)
    assert "secret-query" not in line
    assert "test_log_file.py:" in line
    with logging_to(folder, "cli", debug=True):
        other.warning("sent %s", QUERY)
    assert [QUERY in line for line in written(folder)] == [False, False, True]
    assert " DEBUG " in written(folder)[-1]


# --- rotation ---


def test_the_file_is_rotated_and_the_oldest_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MAX_BYTES", 1_000)
    with logging_to(folder, "cli"):
        for n in range(200):
            logger.info("number %d %s", n, "x" * 100)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["cli.log", "cli.log.1"]
    assert all((folder / name).stat().st_size <= 1_000 for name in names)
    kept = [n for name in reversed(names) for n in re.findall(r"number (\d+)", (folder / name).read_text())]
    assert kept == [str(n) for n in range(200 - len(kept), 200)]


# --- exceptions ---


def test_a_swallowed_exception_has_its_traceback_without_its_text(folder: Path) -> None:
    with logging_to(folder, "cli"):
        logged_failure(ValueError(f"no {QUERY}"))
    text = "\n".join(written(folder))
    assert "in failing: raise error" in text
    assert text.endswith("| ValueError")
    assert "secret-query" not in text


def test_its_text_is_told_at_debug_in_lines_of_that_level(folder: Path) -> None:
    with logging_to(folder, "cli", debug=True):
        logged_failure(ValueError(f"no {QUERY}"))
    with_query = [line for line in written(folder) if "secret-query" in line]
    assert with_query
    assert all(" DEBUG " in line for line in with_query)


def test_what_is_logged_again_further_up_has_its_frames_once(folder: Path) -> None:
    error = ValueError(QUERY)
    with logging_to(folder, "cli"):
        logged_failure(error)
        logged_failure(error)
        try:
            raise RuntimeError(QUERY) from error
        except RuntimeError:
            logger.warning("further up", exc_info=True)
    text = "\n".join(written(folder))
    assert text.count("tests/base/test_log_file.py:") == 3
    assert text.count("ValueError (its traceback is above)") == 2
    assert text.count("in failing: raise error") == 1


def test_causes_groups_and_loops_are_told(folder: Path) -> None:
    first, last = KeyError(QUERY), RuntimeError(QUERY)
    first.__cause__, last.__cause__ = last, first
    with logging_to(folder, "cli"):
        logged_failure(first)
        logged_failure(ExceptionGroup(QUERY, [ValueError(QUERY), OSError(28, "No space left on device")]))
    text = "\n".join(written(folder))
    for wanted in ("RuntimeError", "which led to:", "KeyError", "ExceptionGroup", "ValueError", "[Errno 28] No space"):
        assert wanted in text
    assert "secret-query" not in text


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (ValueError(QUERY), "ValueError"),
        (KeyError(QUERY), "KeyError"),
        (ImportError("No module named 'mpv'"), "ImportError: No module named 'mpv'"),
        (OSError(13, "Permission denied", f"/films/{QUERY}.srt"), "PermissionError: [Errno 13] Permission denied"),
        (OSError(28, "No space", "/lib/data/x.db"), "OSError: [Errno 28] No space, '/lib/data/x.db'"),
        (FetchError("private", title=QUERY, reason=QUERY), "subtitle_rag.base.domain.errors.FetchError: private"),
        (
            AppError("library_damaged", path="/lib/data/library.db", reason="file is not a database"),
            "subtitle_rag.base.domain.errors.AppError: library_damaged, path='/lib/data/library.db', "
            "reason='file is not a database'",
        ),
        (AppError("unknown", name=QUERY), "subtitle_rag.base.domain.errors.AppError: unknown"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_told_of_an_exception(error: Exception, wanted: str) -> None:
    assert describe(error, (Path("/lib"),)) == wanted


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_nobody_catches_is_logged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__excepthook__", lambda *_: None)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    before = sys.excepthook, threading.excepthook
    with logging_to(folder, "cli"):
        thread = threading.Thread(target=failing, args=(ValueError(QUERY),), name="worker")
        thread.start()
        thread.join()
        try:
            failing(OSError(5, "Input/output error"))
        except OSError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    assert (sys.excepthook, threading.excepthook) == before
    text = "\n".join(written(folder))
    assert "uncaught exception in thread worker" in text
    assert "uncaught exception\n" in text
    assert "[Errno 5]" in text
    assert "secret-query" not in text


# --- hostile text ---


@examples(text=st.text())
def test_outside_text_cannot_forge_a_line(text: str) -> None:
    handler = LogFile(Path("unused"), "cli", debug=True)
    record = logging.LogRecord("subtitle_rag.x", logging.DEBUG, __file__, 1, "said %s", (text,), None)
    (line,) = handler.lines(record)
    assert "\n" not in line
    assert all(each.isprintable() for each in line)


@examples(text=st.text())
def test_a_traceback_cannot_either(text: str) -> None:
    handler = LogFile(Path("unused"), "cli", debug=True)
    error = ValueError(text)
    record = logging.LogRecord(
        "subtitle_rag.x", logging.INFO, __file__, 1, "failed", (), (ValueError, error, error.__traceback__)
    )
    for line in handler.lines(record):
        assert LINE.fullmatch(line) or line.endswith(": ")
        assert all(each.isprintable() for each in line)


def test_control_characters_are_escaped() -> None:
    assert one_line("a\nb\x1b[31m\u202e\ud800") == r"a\nb\x1b[31m\u202e\ud800"


# --- secrets ---

SECRET = "Zq3xW9vT7uR5pN1m"
PLACES = [
    "Authorization: Bearer {}",
    "authorization: {}",
    "{{'Authorization': 'Bearer {}', 'Accept': '*/*'}}",
    "[(b'cookie', b'SID={}; HSID=x')]",
    "Cookie: VISITOR_INFO1_LIVE=x; SID={}",
    'Set-Cookie: LOGIN_INFO="{}"; Path=/',
    '{{"cookie": "a={}"}}',
    r"{{\"Cookie\": \"a={}\"}}",
    "api-key: {}",
    "{{'api-key': '{}'}}",
    "api_key={}",
    "QDRANT_API_KEY={}",
    "https://www.youtube.com/api/timedtext?v=abcdefghijk&expire=17&sig={}&lang=ko",
    "https://www.youtube.com/api/timedtext?v=abcdefghijk&pot={}",
    "https://rr1.googlevideo.com/videoplayback/id/1/signature/{}/key/yt8",
    "https://i.ytimg.com/vi/abcdefghijk/hq720.jpg?sqp=x&sigh={}",
    "GET /v1?key={} HTTP/1.1",
    "token={}",
    "'access_token': '{}'",
    "http://user:{}@proxy.example:3128/",
    "socks5://{}@127.0.0.1:1080",
    "password = '{}'",
    "hf_{}",
    "sk-proj-{}",
    ".youtube.com\tTRUE\t/\tTRUE\t1999999999\t__Secure-3PSID\t{}",
    r"invalid line '.youtube.com\tTRUE\t/\tTRUE\t0\tSID\t{}'",
    "__Secure-3PAPISID={}",
    "SAPISIDHASH 1700000000_{}",
    "url%3Fsignature%3D{}",
    "client_secret='{}'",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("debug", [False, True], ids=["info", "debug"])
def test_a_secret_is_never_written(folder: Path, place: str, debug: bool) -> None:
    text = place.format(SECRET)
    with logging_to(folder, "cli", debug=debug):
        logger.debug("said %s", text)
        logger.info("said %s", text)
        logging.getLogger("elsewhere").error("said %s", text)
        logged_failure(ValueError(text))
        logged_failure(OSError(2, text, text))
        logged_failure(AppError("library_damaged", reason=text, path=text))
        logged_failure(ImportError(text), logging.DEBUG)
    lines = written(folder)
    assert len(lines) > 5
    assert SECRET not in "\n".join(lines)


@examples(
    secret=st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=12, max_size=60),
    place=st.sampled_from(PLACES),
    before=st.text(max_size=10),
)
def test_whatever_the_secret_is(secret: str, place: str, before: str) -> None:
    assert secret not in redact(f"{before} {place.format(secret)}")


@examples(
    secret=st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=4, max_size=40).filter(
        lambda secret: len(secret.strip()) >= redaction.SHORTEST_SECRET  # the next line sign is white space
    ),
    text=st.text(),
)
def test_a_registered_secret_is_removed_wherever_it_stands(secret: str, text: str) -> None:
    register_secret(secret)
    try:
        assert secret not in redact(f"{text}{secret}{text}").replace(MARK, "")
    finally:
        redaction._SECRETS.clear()


@pytest.mark.parametrize(
    "text",
    [
        "GET www.youtube.com/watch?v=abcdefghijk 200 in 412 ms",
        "https://www.youtube.com/watch?v=abcdefghijk",
        "video id: abcdefghijk",
        "POST 127.0.0.1:11434/api/chat 200 in 3021 ms",
        "indexing ends: 4012 ms, found 12, new 12, windows 340",
        "KeyError: 'publishedAt'",
        "n_prompt_tokens=4021",
        "keys are 3 of 7",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_url_keeps_no_more_of_its_query_than_ids() -> None:
    assert redact("see https://youtube.com/watch?list=PL1&v=abc&si=q8 or http://h/x?y=1") == (
        "see https://youtube.com/watch?list=PL1&v=abc or http://h/x?…"
    )


def test_long_hostile_text_takes_no_time_to_speak_of() -> None:
    """Patterns that look back and forth would take minutes here."""
    for text in (
        "a-" * 40_000,
        "key" * 30_000,
        "Cookie" * 20_000,
        "https://" * 10_000,
        "\tTRUE" * 20_000,
        "eyJ" * 9_999,
    ):
        assert len(redact(text)) <= 2 * redaction.LONGEST


# --- stages, and the command line ---


def test_a_stage_tells_its_begin_its_end_and_its_counts(folder: Path) -> None:
    with logging_to(folder, "cli"):
        with logged_stage(logger, "indexing") as counts:
            counts["windows"] = 12
        with pytest.raises(ValueError, match="broken"), logged_stage(logger, "indexing"):
            raise ValueError("broken")

        def events() -> Iterator[int]:
            with logged_stage(logger, "fetching"):
                yield 1
                yield 2

        running = events()
        next(running)
        running.close()  # type: ignore[attr-defined]
    told = [line.partition("tests: ")[2] for line in written(folder)]
    assert told[0] == "indexing begins"
    assert re.fullmatch(r"indexing ends: \d+ ms, windows 12", told[1])
    assert re.fullmatch(r"indexing failed: \d+ ms", told[3])
    assert re.fullmatch(r"fetching stopped: \d+ ms", told[-1])


def test_a_command_is_logged_without_what_was_typed(isolated_home: Path) -> None:
    assert cli.run(["show", QUERY, "--at=12:41", "--secret-query"]) == 2
    assert cli.run(["show", QUERY, "--at=12:41"]) == 2
    lines = written(isolated_home / "log")
    assert " cli[" in lines[0]
    assert lines[0].endswith("show begins, options: --at")
    assert any("unknown" in line for line in lines)
    assert "ends with status 2 after" in lines[-1]
    assert "secret-query" not in "\n".join(lines)


def test_with_debug_it_is_logged_with_what_was_typed(isolated_home: Path) -> None:
    assert cli.run(["--debug", "show", QUERY]) == 2
    assert any("secret-query" in line and " DEBUG " in line for line in written(isolated_home / "log"))


@pytest.mark.parametrize("arguments", [["--help"], ["search", "--help"], ["--version"]], ids=" ".join)
def test_help_writes_nothing(isolated_home: Path, arguments: list[str]) -> None:
    assert cli.run(arguments) == 0
    assert not isolated_home.exists()


def test_each_home_has_its_own_log(tmp_path: Path) -> None:
    for home in ("one", "two"):
        assert cli.run(["--home", str(tmp_path / home), "config"]) == 0
        assert len(written(tmp_path / home / "log")) == 2


def test_a_process_that_is_started_goes_on_with_the_log_of_the_one_that_starts_it(folder: Path) -> None:
    assert log_file.log_options() is None
    with logging_to(folder, "app", debug=True, private=(folder.parent,)):
        place = json.loads(json.dumps(log_file.log_options()))
    with log_file.join_log(place, "index-host") as handler:
        assert handler is not None
        logger.debug("from there")
    assert "index-host[" in written(folder)[0]
    with log_file.join_log(None, "index-host"):
        logger.warning("nowhere")
    assert len(written(folder)) == 1


# --- the source ---

PACKAGE = Path(log_file.__file__).parents[1]
TEXTS = {"query", "text", "title", "question", "answer", "typed", "said", "path", "url", "raw", "prompt", "passages"}
"""Names of what lines from level info on must not be given."""


def given(call: ast.Call) -> set[str]:
    """The names of the values that a call is given, those of lengths left out."""
    values = [arg for arg in call.args if not (isinstance(arg, ast.Call) and getattr(arg.func, "id", "") == "len")]
    nodes = [node for value in values for node in ast.walk(value)]
    return {str(getattr(node, "attr", getattr(node, "id", ""))) for node in nodes}


@pytest.mark.campaign(part="flows")
def test_no_line_from_info_on_is_given_text_of_the_library() -> None:
    offences, seen = [], 0
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "logger." in source else ():
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("logger.")):
                continue
            seen += 1
            assert not any(isinstance(each, ast.JoinedStr) for each in node.args), f"{path}:{node.lineno}"
            # a file of the hub, and a constant
            texts = given(node) & TEXTS - ({"path"} if path.name in ("download.py", "wire.py") else set())
            if texts and ast.unparse(node.func) != "logger.debug":
                offences.append(f"{path.name}:{node.lineno}: {texts}")
    assert offences == []
    assert seen > 50


@examples(
    text=st.text(min_size=6, max_size=60), kind=st.sampled_from([ValueError, RuntimeError, KeyError, LookupError])
)
def test_no_text_of_an_exception_is_told(text: str, kind: type[Exception]) -> None:
    assert describe(kind(text)) == kind.__name__
