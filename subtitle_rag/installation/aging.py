"""Whether the installed yt-dlp has aged: YouTube changes within weeks, and each release is named after its day.

Nothing is asked of an index: the age tells, and failures that only another version mends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version

EXTRACTOR = "yt-dlp"
OLD_DAYS = 90
"""From which on a release is likely to fail; yt-dlp warns about itself from there on, too."""


@dataclass(frozen=True, slots=True)
class ExtractorAge:
    """The installed release, and what speaks for another one."""

    version: str
    days: int
    has_failed: bool = False
    """YouTube has answered it in a way that it did not understand."""

    @property
    def is_due(self) -> bool:
        return self.has_failed or self.days > OLD_DAYS


def extractor_age(failed_versions: Iterable[str] = (), today: date | None = None) -> ExtractorAge:
    """How old the installed yt-dlp is; `failed_versions` are those with which captions were not understood."""
    found = version(EXTRACTOR)
    year, month, day = map(int, found.split(".")[:3])
    days = ((today or date.today()) - date(year, month, day)).days
    return ExtractorAge(found, days, _comparable(found) in set(map(_comparable, failed_versions)))


def _comparable(release: str) -> tuple[str, ...]:
    """`2026.06.09` and `2026.6.9` are one: the package's metadata leaves out zeros that the module has."""
    return tuple(part.lstrip("0") for part in release.split("."))
