"""What this program and its tests use of yt-dlp beyond its documentation: here, and nowhere else.

With each new version these tests tell what is missing there, and who needs it.
"""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yt_dlp
from yt_dlp.version import __version__

SESSION = "subtitle_rag/youtube/session.py"
PLUGIN = "tests/stand_ins/plugins/yt_dlp_plugins/extractor/stand_in_youtube.py"
ADDRESSES = "tests/captions/test_addresses.py"

PRIVATE = [
    ("networking.common.RequestHandler._send", PLUGIN),
    ("networking.common.RequestHandler._SUPPORTED_URL_SCHEMES", PLUGIN),
    ("networking.common.RequestHandler._SUPPORTED_PROXY_SCHEMES", PLUGIN),
    ("networking._urllib.UrllibRH._create_instance", PLUGIN),
    ("networking.common.RequestHandler._validate", PLUGIN),
    ("networking.common._REQUEST_HANDLERS", PLUGIN),
    ("networking.common._REQUEST_HANDLERS", "tests/workflows/test_checks.py"),
    ("networking.common._REQUEST_HANDLERS", "tests/youtube/test_session.py"),
    ("networking.common.RequestHandler._validate", "tests/youtube/test_session.py"),
    ("YoutubeDL.YoutubeDL._impersonate_target_available", SESSION),
    ("extractor.youtube.YoutubeTabIE._RESERVED_NAMES", ADDRESSES),
]
"""Names with an underscore in front. yt-dlp's docstrings tell subclasses of its handlers to define theirs."""

PUBLIC = [
    ("YoutubeDL.YoutubeDL.urlopen", SESSION),
    ("YoutubeDL.YoutubeDL.cookiejar", SESSION),
    ("YoutubeDL.YoutubeDL.close", SESSION),
    ("globals.supported_js_runtimes", SESSION),
    ("cookies.CookieLoadError", SESSION),
    ("utils.GeoRestrictedError", SESSION),
    ("utils.download_range_func", SESSION),
    ("parse_options", SESSION),
]

ELSEWHERE = {("_closer", PLUGIN), ("_send", "tests/stand_ins/youtube.py")}
"""Names that are meant of other objects there."""

PHRASES = ["because a PO token was not provided", "Incomplete data received", "Unable to download webpage"]
"""Warnings that `Session` recognises."""


def has(name: str) -> bool:
    """Whether yt-dlp has a name, such as `networking.common.RequestHandler._send`."""
    parts = name.split(".")
    for count in range(len(parts) - 1, -1, -1):
        try:
            found = importlib.import_module(".".join(["yt_dlp", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize(("name", "user"), [*PRIVATE, *PUBLIC])
def test_yt_dlp_has_every_name_that_is_used(name: str, user: str) -> None:
    assert has(name), f"yt-dlp {__version__} has no {name} any more, which {user} uses"


@pytest.mark.parametrize("phrase", PHRASES)
def test_yt_dlp_says_what_a_session_listens_for(phrase: str) -> None:
    folder = Path(yt_dlp.__file__).parent / "extractor"
    sources = [folder / "common.py", *folder.glob("youtube/*.py")]
    assert any(phrase in source.read_text(encoding="utf-8") for source in sources), (
        f"yt-dlp {__version__} does not say “{phrase}” any more, which {SESSION} recognises"
    )


def test_every_private_name_that_is_used_is_listed() -> None:
    root = Path(__file__).parents[2]
    own = Path(yt_dlp.__file__).parent
    theirs: set[str] = set()
    for source in [own / "YoutubeDL.py", *own.glob("networking/*.py"), *own.glob("extractor/youtube/*.py")]:
        theirs |= {source.stem, *_private(ast.parse(source.read_text(encoding="utf-8")))}
    listed = {(part, user) for name, user in PRIVATE for part in name.split(".")}
    users = 0
    for source in [*root.glob("subtitle_rag/**/*.py"), *root.glob("tests/**/*.py"), *root.glob("scripts/*.py")]:
        text = source.read_text(encoding="utf-8")
        if source == Path(__file__) or "yt_dlp" not in text:
            continue
        tree = ast.parse(text)
        if not any(name.partition(".")[0] == "yt_dlp" for name in _imports(tree)):
            continue
        users += 1
        path = source.relative_to(root).as_posix()
        for name in set(_private(tree)) & theirs:
            assert (name, path) in listed | ELSEWHERE, (
                f"{path} uses the private name {name} of yt-dlp, which PRIVATE does not list"
            )
    assert users > 3


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _private(tree: ast.AST) -> Iterator[str]:
    """Yield the private names that are read, imported, or defined in a class."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.FunctionDef):
            names = [node.name]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names] + (node.module or "").split(".")
        elif isinstance(node, ast.ClassDef):
            assigned = [target for each in node.body if isinstance(each, ast.Assign) for target in each.targets]
            names = [target.id for target in assigned if isinstance(target, ast.Name)]
        yield from (name for name in names if name.startswith("_") and not name.startswith("__"))
