"""The operating system's reasons in the user's language.

Python gives them in English in every locale: `OSError.strerror`, and within the messages of other libraries.
"""

import re

from subtitle_rag.i18n import N_, _

TEXTS = (
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
)
"""What Linux and macOS say; a text that holds another one comes before it."""

_TEXT = re.compile(rf"\b(?:{'|'.join(map(re.escape, TEXTS))})\b")
_NUMBER = re.compile(r"\[Errno -?\d+\] ")


def localized(reason: str) -> str:
    """Translate the system's texts in a reason; error numbers in front of them are left out."""
    return _TEXT.sub(lambda match: _(match[0]), _NUMBER.sub("", reason))
