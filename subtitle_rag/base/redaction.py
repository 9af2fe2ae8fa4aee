"""Removal of secrets and private text from the log.

`redact` removes secrets (cookies, keys, tokens, passwords in URLs) at every level. `describe` tells what an exception
is without text that could come from a query, a caption, a title or a model; it applies from level info on.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import quote

from subtitle_rag.base.domain.errors import AppError

MARK = "[redacted]"
"""Replacement for a secret."""
LONGEST = 64_000
"""Maximum number of characters of a text; the rest is cut off."""
SHORTEST_SECRET = 4
"""Shortest registered secret; a shorter one would blot out ordinary words."""

_SECRETS: set[str] = set()

SYSTEM_MODULES = frozenset({"ssl", "sqlite3", "filelock", "httpx", "httpx2", "httpcore", "httpcore2"})
"""Packages whose exceptions name files, sockets and databases, never text from the library."""
SYSTEM_TYPES = (AttributeError, ImportError, MemoryError, NameError, RecursionError, ZeroDivisionError)
"""The same for exceptions of the standard library."""
SAFE_DETAILS = frozenset(
    {"host", "model", "status", "n", "version", "oldest", "seconds", "needed", "free", "retry_at", "place", "known"}
    | {"n_prompt_tokens", "n_ctx", "read", "collection", "port", "kind", "lock"}
)
"""Details of an AppError that never have text from the library."""
SAFE_REASONS = frozenset({"library_readonly", "library_damaged", "index_damaged", "hub_unreachable", "unwritable"})
"""Codes of AppErrors whose `reason` comes from the system or this program."""
SAFE_ATTRIBUTES = ("status_code", "status", "errno", "sqlite_errorname")
"""Safe numbers and names in other packages' exceptions."""


def register_secret(value: str) -> None:
    """Redact `value` from now on, both raw and URL-encoded."""
    if len(value.strip()) >= SHORTEST_SECRET:
        _SECRETS.update({value.strip(), quote(value.strip(), safe="")})


def redact(text: str) -> str:
    """Return the text without secrets in headers, cookies, tokens, query parameters and URL user names."""
    text = text[:LONGEST]
    for secret in sorted(_SECRETS, key=len, reverse=True):
        text = text.replace(secret, MARK)
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    return text


_HEADERS = "authorization|proxy-authorization|cookie2?|set-cookie2?"
_NAMES = (
    r"(?:(?<![a-z0-9])|(?<=%[0-9a-f]{2}))"  # `x_token` and `%3Ftoken`, but not `mytoken`
    r"(api[-_]?key|key|token|secret|password|passwd|credentials?|l?sig|signature|sigh|sqp|pot|po_?token|expires?|hsid"
    r"|ssid|sid|sapisid|apisid|\dp(?:ap|sap)?i?sid\w{0,4}|login_info|visitor_?(?:data|id))"
)


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]:
    """Compile the rules at the first use: `--help` needs none of them.

    Repetitions are bounded, so that no text takes quadratic time.
    """
    quote_mark = r"\\{0,4}['\"]"  # also escaped in nested JSON or a repr
    quoted = rf"({quote_mark})(?:(?!\3)[^\n])*"
    tab = r"(?:[\t ]|\\{1,4}t)"  # sentences have spaces for tabs in outside text
    end = r"[^\s&;,'\"<>)\]}]"
    return (
        (re.compile(r"(?<=://)[^\s/@'\"<>]{1,500}@"), f"{MARK}@"),
        # parameters inside paths, as in media addresses
        (re.compile(r"(?i)/((?:l?sig|signature|expire|pot|key|token|ip|ei))/[^\s/?&'\"<>]+"), rf"/\1/{MARK}"),
        # `Cookie: a=1; b=2`, up to the end of the line or of the quoted value
        (re.compile(rf"(?i)\b({_HEADERS})\b((?:{quote_mark})?\s{{0,9}}[:=,]\s{{0,9}})b?{quoted}"), rf"\1\2\3{MARK}"),
        (re.compile(rf"(?i)\b({_HEADERS})\b(\s{{0,9}}[:=]\s{{0,9}})(?!{quote_mark})[^\n]+"), rf"\1\2{MARK}"),
        (re.compile(r"(?i)\b(bearer|basic|sapisidhash)\s{1,9}[\w.~+/=:-]{6,}"), rf"\1 {MARK}"),
        # a line of a Netscape cookie file
        (re.compile(rf"({tab}(?:TRUE|FALSE){tab}[^\n]{{0,300}}?{tab}\d{{1,20}}{tab})[^\n'\"]+"), rf"\1{MARK}"),
        # `api-key: x`, `'token': 'x'`, `?sig=x`
        (re.compile(rf"(?i){_NAMES}((?:{quote_mark})?\s{{0,9}}[=:]\s{{0,9}})b?{quoted}"), rf"\1\2\3{MARK}"),
        (re.compile(rf"(?i){_NAMES}(\s{{0,9}}[=:]\s{{0,9}}|%3D)(?!{quote_mark}){end}+"), rf"\1\2{MARK}"),
        (re.compile(r"\bhf_\w{6,}|\bsk-[\w-]{12,}|\bgh[pousr]_\w{12,}|\bya29\.[\w-]+|\bAIza[\w-]{20,}"), MARK),
        (re.compile(r"\beyJ[\w-]{6,2000}\.[\w-]{1,4000}\.[\w-]*"), MARK),  # a JSON Web Token
        (re.compile(r"(https?://[^\s?#'\"<>]{0,2000})\?([^\s'\"<>]*)"), _short_query),
    )


def _short_query(match: re.Match[str]) -> str:
    """Return a URL whose query has only the ids of a video and a list."""
    parameters = re.findall(r"(?:^|[&;])((?:v|list)=[\w-]+)", match[2])
    return match[1] + (f"?{'&'.join(parameters)}" if parameters else "?…")


def one_line(text: str) -> str:
    """Return the text as one line, with line ends and other control characters escaped."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "backslashreplace").decode("ascii")
        for each in text
    )


def describe(error: BaseException, folders: tuple[Path, ...] = ()) -> str:
    """Return the exception's type, with its text if it cannot come from the library.

    An OSError's file is named if it is in one of `folders`, the program's own.
    """
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    parts = list(_particulars(error, folders))
    return f"{name}: {', '.join(parts)}" if parts else name


def _particulars(error: BaseException, folders: tuple[Path, ...]) -> Iterator[str]:
    if isinstance(error, AppError):
        yield error.code
        for key, value in error.details.items():
            if key in SAFE_DETAILS or (key == "reason" and error.code in SAFE_REASONS):
                yield f"{key}={value!r}"
            elif key == "path" and _within(str(value), folders):
                yield f"path={str(value)!r}"
    elif isinstance(error, OSError) and error.errno is not None:
        yield f"[Errno {error.errno}] {error.strerror}"
        if isinstance(error.filename, str) and _within(error.filename, folders):
            yield repr(error.filename)
    elif isinstance(error, SYSTEM_TYPES) or type(error).__module__.partition(".")[0] in SYSTEM_MODULES:
        yield str(error)
    else:
        for attribute in SAFE_ATTRIBUTES:
            value = getattr(error, attribute, None)
            if isinstance(value, int):
                yield f"{attribute}={value}"


def _within(path: str, folders: tuple[Path, ...]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)
