"""Age of yt-dlp: YouTube changes within weeks, and a release is named after its day.

A newer version is due by age, or after failures that only another version can fix. Everything is read from the
installed metadata.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version

EXTRACTOR = "yt-dlp"
OLD_DAYS = 90
"""Age at which a release is likely to fail; yt-dlp warns about itself at the same age."""


@dataclass(frozen=True, slots=True)
class YtDlpAge:
    """The installed release, and the reasons to replace it."""

    version: str
    days: int
    has_failed: bool = False
    """Whether it failed to understand an answer from YouTube."""

    @property
    def is_due(self) -> bool:
        return self.has_failed or self.days > OLD_DAYS


def yt_dlp_age(failures: Iterable[Mapping[str, object]] = (), today: date | None = None) -> YtDlpAge:
    """Return the age of the installed yt-dlp; `failures` are details of errors with the code `yt_dlp_outdated`."""
    release = version(EXTRACTOR)
    year, month, day = map(int, release.split(".")[:3])
    days = ((today or date.today()) - date(year, month, day)).days
    failed = {_comparable(str(details.get("version", ""))) for details in failures}
    return YtDlpAge(release, days, _comparable(release) in failed)


def _comparable(release: str) -> tuple[str, ...]:
    """Return the parts without leading zeros: the metadata has `2026.6.9` for `2026.06.09`."""
    return tuple(part.lstrip("0") for part in release.split("."))
