"""Environment of the test run: the same for everybody, and without access to the user's files.

Importing this module applies it before anything reads its environment, so that pytest's other processes, fixtures of
every scope and all processes started by tests inherit it. Of the original environment, only `KEPT` is left. A test
that connects to another machine, or to a service of this one, fails.

A test that needs a real program names it with `@pytest.mark.programs("chromium")`, and finds it by `program`.
"""

import json
import locale
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = (
    "CI",
    "PYTHONFAULTHANDLER",
    "SUBTITLE_RAG_DATA",
    "SUBTITLE_RAG_EXAMPLES",
    "SUBTITLE_RAG_DAMAGES",
    "SUBTITLE_RAG_HOURS",
    "SUBTITLE_RAG_KILLS",
    "SUBTITLE_RAG_ATTACKS",
    "SUBTITLE_RAG_WORDS",
    "SUBTITLE_RAG_FUZZ",
    "SUBTITLE_RAG_GUARDS",
    "SUBTITLE_RAG_SEED",
    "SUBTITLE_RAG_TEST_HOSTS",
    "SUBTITLE_RAG_TEST_MODEL",
    "SUBTITLE_RAG_TEST_OLLAMA",
    "SUBTITLE_RAG_TEST_QDRANT",
    "SUBTITLE_RAG_TEST_QDRANT_KEY",
    "SUBTITLE_RAG_TEST_YT_DLP",
)
"""Variables for maintainers to set options of the test run."""
SYSTEM = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LOGNAME", "PYTHONPYCACHEPREFIX", "TEMP", "TMP", "TMPDIR", "USER")
KEPT = frozenset((*OPTIONS, *SYSTEM))
KEPT_PREFIXES = ("COVERAGE_", "COV_CORE_", "HYPOTHESIS_", "PYTEST_", "PY_COLORS", "TEST_", "TEXTUAL_SNAPSHOT_")
TOOLS = ("env", "false", "ps", "sh", "true")
"""Standard Unix programs, on the tests' PATH."""
LIVE = ("ollama", "youtube", "outside")
"""Marks of tests that use real services or the user's files, if the user asks for it."""

SERVICES = (6333, 6334, 11434)
"""Ports of Qdrant and Ollama, which may run on this machine."""
_RUN, _PATH, _OUTSIDE = "TEST_RUN", "TEST_RUN_PATH", "TEST_RUN_OUTSIDE"
"""Environment variables: folder of the run, the user's PATH, and whether the test may connect anywhere."""

BEFORE: Mapping[str, str] = dict(os.environ)
"""Environment in which pytest was started; in a worker of xdist, the controller's environment for tests."""
_WIDTH = shutil.get_terminal_size().columns
_WORKER = _RUN in BEFORE and "PYTEST_XDIST_WORKER" in BEFORE
RUN = Path(BEFORE[_RUN]) if _WORKER else Path(tempfile.mkdtemp(prefix="subtitle-rag-tests-")).resolve()
_OWN = Path(tempfile.mkdtemp(prefix="process-", dir=RUN))
_STARTED = RUN / "started.json"


def program(*names: str) -> str | None:
    """Return the first of these programs that is installed."""
    found = (shutil.which(name, path=os.environ[_PATH]) for name in names)
    return next(filter(None, found), None)


def started_environment() -> dict[str, str]:
    """Return the environment in which the user started the tests, also in a worker of xdist."""
    environment: dict[str, str] = json.loads(_STARTED.read_text(encoding="utf-8"))
    return environment


def surroundings(home: Path) -> dict[str, str]:
    """Return all fixed variables, with `home` in place of the user's."""
    from subtitle_rag.base.config import settings as config

    return {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(home / ".runtime"),
        config.HOME_VARIABLE: str(home / "subtitle-rag"),
        config.HOSTS_VARIABLE: "",
        "HF_ENDPOINT": "http://127.0.0.1:9",  # nothing listens there
        "PATH": str(RUN / "bin"),
        "PYTHONPATH": str(ROOT),
        "PYTHONNOUSERSITE": "1",
        "LANG": "C.UTF-8",
        "LANGUAGE": "en",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "COLUMNS": "80",
        "LINES": "24",
        "OMP_NUM_THREADS": "1",  # PyTorch's other threads would busy-wait and take a core
        "CUDA_VISIBLE_DEVICES": "",  # so that results are the same on a machine with a GPU
    }


def _settle() -> None:
    """Apply the environment."""
    home = _OWN / "home"
    for folder in (home, RUN / "bin"):
        folder.mkdir(mode=0o700, exist_ok=True)
    shared = {}
    if not _WORKER:
        for tool in TOOLS:
            if place := shutil.which(tool):
                (RUN / "bin" / tool).symlink_to(place)
        _STARTED.write_text(json.dumps(dict(BEFORE)), encoding="utf-8")
        shared = {_RUN: str(RUN), _PATH: BEFORE.get("PATH", "")}
    # import the package only now, in an environment without the user's settings
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(KEPT_PREFIXES):
            del os.environ[name]
    os.environ.update(surroundings(home) | shared)
    _compile_sentences()
    with suppress(locale.Error):
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    if hasattr(time, "tzset"):
        time.tzset()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in background jobs, whose children would ignore it
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _compile_sentences() -> None:
    """Compile the Korean catalogue in a fresh clone, since no test may write into the sources."""
    from subtitle_rag.base import i18n, message_catalog

    for po in i18n.LOCALE_DIR.rglob("*.po"):
        message_catalog.compile_changed(po)


REFUSED: list[str] = []
"""Refused attempts of the running test, which fail it even if the program suppresses the error."""


def _guard_sockets() -> None:
    """Refuse connections to other machines and to services, and look-ups of names, in this process."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo
    urls = [urlsplit(os.environ.get(f"SUBTITLE_RAG_TEST_{name}", "")) for name in ("OLLAMA", "QDRANT")]
    named = {(url.hostname, url.port or 6333) for url in urls}

    def check(is_allowed: bool, attempt: str) -> None:
        if not (is_allowed or os.environ.get(_OUTSIDE)):
            REFUSED.append(attempt)
            raise PermissionError(f"no test may {attempt}")

    def is_near(host: str) -> bool:
        return host in ("", "localhost", "::1", *(url.hostname for url in urls)) or host.startswith("127.")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple):
            host, port = address[:2]
            is_allowed = (host, port) in named or (is_near(host) and port not in SERVICES)
            check(is_allowed, f"connect to {host}, port {port}")
        connect(self, address)

    def guarded_look_up(host: Any, *rest: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host or ""
        check(is_near(name) or ":" in name or name.replace(".", "").isdigit(), f"look up {name}")
        return look_up(host, *rest, **options)

    socket.socket.connect = guarded_connect  # type: ignore[assignment,method-assign]
    socket.getaddrinfo = guarded_look_up


_settle()
_guard_sockets()


class Plugin:
    """Lets marked tests use real services and programs."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "programs(*names): starts these real programs")
        config.addinivalue_line("markers", "outside: works with the user's own pip and network, without a guard")
        if config.pluginmanager.has_plugin("terminalreporter"):  # the user's terminal gets pytest's own report
            writer = config.get_terminal_writer()
            writer.fullwidth = _WIDTH
            if config.option.color == "auto" and (BEFORE.get("NO_COLOR") or BEFORE.get("TERM") == "dumb"):
                writer.hasmarkup = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        live = any(item.get_closest_marker(name) for name in LIVE)
        names = [name for mark in item.iter_markers("programs") for name in mark.args]
        with changed(({_OUTSIDE: "1"} if live else {}) | ({"PATH": os.environ[_PATH]} if names else {})):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if REFUSED:
            report.outcome = "failed"
            report.longrepr = f"{report.longreprtext}\n{report.nodeid} tried to {', '.join(REFUSED)}"
            vars(report).pop("wasxfail", None)
            REFUSED.clear()
        return report

    def pytest_unconfigure(self) -> None:
        if not _WORKER:
            shutil.rmtree(RUN, ignore_errors=True)


@contextmanager
def changed(variables: Mapping[str, str]) -> Iterator[None]:
    """Change environment variables during the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
