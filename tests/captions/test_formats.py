"""The one table of caption formats, and everything that reads it."""

from pathlib import Path

import pytest

from subtitle_rag.captions import files
from subtitle_rag.captions.addresses import find_addresses
from subtitle_rag.captions.formats import FORMATS, caption_suffixes
from tests.support.reading import texts

ROOT = Path(__file__).parents[2]
SUBRIP = "1\n00:00:01,000 --> 00:00:02,000\n안녕하세요\n"


@pytest.mark.parametrize("suffix", caption_suffixes())
def test_a_format_is_known_wherever_captions_are(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"강연{suffix.upper()}").write_text(SUBRIP, encoding="utf-8")
    assert isinstance(next(files.discover([tmp_path])), files.CaptionGroup)
    assert not find_addresses(f"@name{suffix}")


@pytest.mark.parametrize("suffix", caption_suffixes())
@pytest.mark.parametrize("page", ["docs/captions.md", "docs/en/captions.md"])
def test_the_documents_name_each_format(suffix: str, page: str) -> None:
    assert f"`{suffix}`" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_in_another_format_than_its_name_says_is_read(format: str) -> None:
    assert texts(SUBRIP, format) == ["안녕하세요"]
