"""Whether yt-dlp has aged, by its name's day and by what has failed."""

from datetime import date
from importlib import metadata

import pytest

from subtitle_rag.base.installation.extractor import OLD_DAYS, YtDlpAge, yt_dlp_age

RELEASED = date(2026, 6, 9)


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.base.installation.extractor.version", {"yt-dlp": "2026.6.9"}.__getitem__)


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize(("days", "is_due"), [(0, False), (OLD_DAYS, False), (OLD_DAYS + 1, True)])
def test_it_is_due_by_age(days: int, is_due: bool) -> None:
    age = yt_dlp_age(today=date.fromordinal(RELEASED.toordinal() + days))
    assert age == YtDlpAge("2026.6.9", days)
    assert age.is_due == is_due


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize(
    ("failed", "is_due"), [("2026.06.09", True), ("2026.6.9", True), ("2026.6.10", False), ("", False)]
)
def test_a_young_one_is_due_where_it_has_failed_itself(failed: str, is_due: bool) -> None:
    assert yt_dlp_age([{"version": failed}], RELEASED).is_due == is_due


@pytest.mark.parametrize("version", ["2026.6.9.232843", "2026.06.09.post1", "2026.6.9.dev0"])
def test_a_build_between_releases_is_as_old_as_its_day(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr("subtitle_rag.base.installation.extractor.version", lambda _name: version)
    assert yt_dlp_age(today=RELEASED).days == 0


def test_the_installed_one_can_be_told() -> None:
    assert yt_dlp_age().version == metadata.version("yt-dlp")
