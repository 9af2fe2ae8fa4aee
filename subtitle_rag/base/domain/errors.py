"""Errors for the user: a stable code, what happened, why, and what to do next.

    AppError
    ├── UsageError      the request is invalid: wrong arguments, unknown video, bad config
    ├── CaptionError    one caption file or track cannot be used; the run continues
    ├── FetchError      YouTube did not return a video or list; the code decides about a retry
    ├── LlmError        Ollama failed a request
    └── BusyError       the library or a service cannot be used at the moment; a later retry can help

The sentences are in `error_messages`: the library stores an error as code and details, so that it can be shown in the
reader's language. Exit codes are in `output.exit_code_for`.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.error_messages import SENTENCES
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.terminal_text import line_text

SILENT = frozenset({"no_captions", "film_no_captions"})
"""Codes of videos without captions, which can be transcribed."""

UNUSABLE_INDEX = frozenset({"index_mismatch", "index_damaged"})
"""Codes of an index that can be rebuilt from the library."""

EXPECTED = frozenset(
    {
        "members_only",
        "private",
        "age_restricted",
        "geo_blocked",
        "payment_required",
        "not_found",
        "upcoming",
        "live",
        "processing",
        "half_heard",
        *SILENT,
    }
)
"""Codes of videos that are skipped as a matter of course, in every channel."""


SCARCE = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE)
"""System errors for a lack of memory, threads or descriptors."""


class AppError(Exception):
    """An error with a stable `code`, and the `details` for its sentences."""

    def __init__(self, code: str, **details: Any) -> None:
        self.code = code
        self.details = details
        super().__init__(code, details)

    @property
    def message(self) -> str:
        return self._sentence(self.code)

    @property
    def hint(self) -> str:
        return self._sentence(f"{self.code}.hint")

    def _sentence(self, key: str) -> str:
        details = {name: line_text(str(v)) if isinstance(v, str | Path) else v for name, v in self.details.items()}
        if isinstance(reason := details.get("reason"), str):
            details["reason"] = localize_reason(reason)
        return _(SENTENCES[key]).format(**details)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.code, **self.details), ()


class UsageError(AppError):
    """The request is invalid."""


def bad_time(text: str) -> UsageError:
    return UsageError("bad_value", value=text, kind=_("time"), form="12:41, 1:02:33, 761")


@contextmanager
def os_error_as_unwritable(path: Path) -> Iterator[None]:
    """Raise an OSError as UsageError `unwritable`, with the system's reason."""
    try:
        yield
    except OSError as error:
        raise UsageError("unwritable", path=str(path), reason=error.strerror or str(error)) from error


class CaptionError(AppError):
    """One caption file or track cannot be used."""


class FetchError(AppError):
    """YouTube did not return a video's captions or a list.

    The optional detail `retry_at` is YouTube's own time for the next request, in Unix seconds.
    """


class LlmError(AppError):
    """Ollama failed a request. The details include `model` and `host`."""


class BusyError(AppError):
    """The library or a service is temporarily unusable."""


SYSTEM_REASONS = (
    N_("Permission denied"),
    N_("Operation not permitted"),
    N_("No such file or directory"),
    N_("Is a directory"),
    N_("Not a directory"),
    N_("Directory not empty"),
    N_("File exists"),
    N_("File name too long"),
    N_("File too large"),
    N_("Too many levels of symbolic links"),
    N_("Read-only file system"),
    N_("No space left on device"),
    N_("Disk quota exceeded"),
    N_("Input/output error"),
    N_("Too many open files in system"),
    N_("Too many open files"),
    N_("Cannot allocate memory"),
    N_("Resource temporarily unavailable"),
    N_("Device or resource busy"),
    N_("Exec format error"),
    N_("Broken pipe"),
    N_("Connection refused"),
    N_("Connection reset by peer"),
    N_("Connection timed out"),
    N_("Network is unreachable"),
    N_("No route to host"),
    N_("Name or service not known"),
    N_("Temporary failure in name resolution"),
    N_("timed out"),
    N_("attempt to write a readonly database"),
    N_("unable to open database file"),
)
"""English messages of Linux, macOS and SQLite; a message that contains another one comes first."""

_REASON = re.compile(rf"\b(?:{'|'.join(map(re.escape, SYSTEM_REASONS))})\b")
_NUMBER = re.compile(r"\[Errno -?\d+\] ")


def scarcity_error(folder: Path, reason: str | None) -> BusyError:
    """Return BusyError `system_limit` for a lack of memory, threads or files."""
    return BusyError("system_limit", path=str(folder), reason=reason or "")


def localize_reason(reason: str) -> str:
    """Translate the system's messages in a reason, even inside another library's message, and drop error numbers."""
    return _REASON.sub(lambda match: _(match[0]), _NUMBER.sub("", reason))
