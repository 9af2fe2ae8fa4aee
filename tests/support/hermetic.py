"""Environment of the test run: the same for everybody, and without access to the user's files.

Importing this module applies it before anything reads its environment, so that pytest's other processes, fixtures of
every scope and all processes started by tests inherit it. Of the original environment, only `KEPT` is left. The guard
(`tests/guard`) fails any test that still reaches out, by name.

A test that needs a real program names it with `@pytest.mark.programs("chromium")`, and finds it by `program`.
"""

import json
import locale
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.guard import audit

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

BEFORE: Mapping[str, str] = dict(os.environ)
"""Environment in which pytest was started; in a worker of xdist, the controller's environment for tests."""
_WIDTH = shutil.get_terminal_size().columns
_WORKER = audit.RUN in BEFORE and "PYTEST_XDIST_WORKER" in BEFORE
_PATH = "TEST_GUARD_PATH"
RUN = Path(BEFORE[audit.RUN]) if _WORKER else Path(tempfile.mkdtemp(prefix="subtitle-rag-tests-")).resolve()
_OWN = Path(tempfile.mkdtemp(prefix="process-", dir=RUN))
_RECORDS = _OWN / "records"
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
        "PYTHONPATH": os.pathsep.join((audit.SITE, str(ROOT))),
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


def _users_folders() -> set[str]:
    """Return the user's own folders, by the password database and the original environment."""
    names = ("HOME", "XDG_RUNTIME_DIR", *(f"XDG_{kind}_HOME" for kind in ("CONFIG", "DATA", "CACHE", "STATE")))
    folders = {BEFORE.get(name, "") for name in names}
    with suppress(ImportError, KeyError):
        import pwd

        folders.add(pwd.getpwuid(os.getuid()).pw_dir)
    return {folder for folder in folders if folder.startswith("/") and folder.strip("/")}


def _policies() -> str:
    """Return the access rules for folders, in the guard's form."""
    data = BEFORE.get("SUBTITLE_RAG_DATA") or ROOT.parent / "shared" / "data"
    caches = {ROOT, Path(sys.prefix), Path(data), *(Path(entry) for entry in sys.path if entry)}
    folders = {
        audit.CLOSED: {*_users_folders(), "/dev/tty"},
        audit.PYTHON: {sys.base_prefix},  # for a system's Python this is /usr, with all programs
        audit.CACHES: {str(folder.absolute()) for folder in caches},
        audit.FREE: {tempfile.gettempdir(), "/tmp", "/dev", "/proc/self", str(RUN)},
    }
    named: dict[str, str] = {}
    for policy, paths in folders.items():
        named |= dict.fromkeys((each for path in paths for each in (path, os.path.realpath(path))), policy)
    return os.pathsep.join(f"{policy}={path.rstrip('/')}" for path, policy in named.items())


def _settle() -> None:
    """Apply the environment."""
    home = _OWN / "home"
    for folder in (home, _RECORDS, RUN / "bin"):
        folder.mkdir(mode=0o700, exist_ok=True)
    guarding = {audit.RECORDS: str(_RECORDS)}
    if not _WORKER:
        for tool in TOOLS:
            if place := shutil.which(tool):
                (RUN / "bin" / tool).symlink_to(place)
        _STARTED.write_text(json.dumps(dict(BEFORE)), encoding="utf-8")
        guarding |= {audit.RUN: str(RUN), audit.POLICIES: _policies(), _PATH: BEFORE.get("PATH", "")}
    # import the package only now, in an environment without the user's settings
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(KEPT_PREFIXES):
            del os.environ[name]
    os.environ.update(surroundings(home) | guarding)
    _compile_sentences()
    sys.dont_write_bytecode = False  # otherwise every process would compile the program and the tests again
    if audit.SITE not in sys.path:
        sys.path.append(audit.SITE)  # processes are started with this path too
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


_settle()
guard = audit.install()
guard.configure()


class Plugin:
    """Fails the tests that the guard names, and lets marked ones use real services and programs."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "programs(*names): starts these real programs")
        config.addinivalue_line("markers", "outside: works with the user's own pip and network, unguarded")
        if config.pluginmanager.has_plugin("terminalreporter"):  # the user's terminal gets pytest's own report
            writer = config.get_terminal_writer()
            writer.fullwidth = _WIDTH
            if config.option.color == "auto" and (BEFORE.get("NO_COLOR") or BEFORE.get("TERM") == "dumb"):
                writer.hasmarkup = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        live = any(item.get_closest_marker(name) for name in LIVE)
        names = [name for mark in item.iter_markers("programs") for name in mark.args]
        changes = {audit.RUN: ""} if live else {}
        if names:
            changes |= {audit.PROGRAMS: os.pathsep.join(names), "PATH": os.environ[_PATH]}
        with changed(changes):
            guard.active, guard.programs = not live, frozenset(names)
            try:
                return (yield)
            finally:
                guard.active, guard.programs = True, frozenset()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if attempts := taken(_RECORDS):
            report.outcome = "failed"
            earlier = f"{report.longreprtext}\n\n" if report.longrepr else ""
            report.longrepr = "\n".join((f"{earlier}{item.nodeid} reached beyond the test run:\n", *attempts))
            vars(report).pop("wasxfail", None)
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run for attempts recorded after the last test or outside of any."""
        if _WORKER:
            return
        attempts = [attempt for folder in sorted(RUN.glob("process-*/records")) for attempt in taken(folder)]
        if attempts:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            sys.stderr.write("\nOutside of the tests, or after them, something reached beyond the test run:\n\n")
            sys.stderr.write("\n".join(attempts))

    def pytest_unconfigure(self) -> None:
        if not _WORKER:
            guard.active = False
            shutil.rmtree(RUN, ignore_errors=True)


def taken(folder: Path) -> list[str]:
    """Return the attempts recorded in the folder, without repetitions, and delete them."""
    attempts = []
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - called after each phase of each test
        if not name.endswith(".part"):
            attempts.append((folder / name).read_text(encoding="utf-8"))
            (folder / name).unlink()
    return list(dict.fromkeys(attempts))


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
