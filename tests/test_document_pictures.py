"""The pictures of the documents: every text takes the cells it takes in a terminal, and loads nothing."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.cells import cell_len

ROOT = Path(__file__).resolve().parents[1]
PICTURES = sorted((ROOT / "docs").glob("*.svg"))
FILM = ROOT / "docs" / "demo.svg"
MAX_FILM_BYTES = 300_000
CELL = 12
TEXT = "{http://www.w3.org/2000/svg}text"


def texts(picture: Path) -> list[ET.Element]:
    return list(ET.parse(picture).iter(TEXT))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_every_text_is_as_long_as_its_cells(picture: Path) -> None:
    shown = texts(picture)
    assert len(shown) > 100
    for text in shown:
        assert text.text
        assert float(text.attrib["textLength"]) == cell_len(text.text) * CELL, text.text
        assert text.attrib["lengthAdjust"] == "spacingAndGlyphs"
        assert float(text.attrib["x"]) % CELL == 0
        assert len({cell_len(letter) for letter in text.text}) == 1, f"two widths in one run: {text.text}"


@pytest.mark.parametrize("picture", [path for path in PICTURES if path != FILM], ids=lambda path: path.name)
def test_no_text_begins_before_the_one_at_its_left_ends(picture: Path) -> None:
    places = sorted(
        (float(text.attrib["y"]), float(text.attrib["x"]), float(text.attrib["textLength"])) for text in texts(picture)
    )
    assert [(one, two) for one, two in pairwise(places) if one[0] == two[0] and one[1] + one[2] > two[1]] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_loads_nothing(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?:[^<]*?\)|url\(|@font-face|@import|<script|href=", text) == []


def test_a_document_shows_each_picture() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    shown = {
        (page.parent / address).resolve()
        for page in pages
        for address in re.findall(r"!\[[^\]]*\]\(([^):]+\.svg)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == set(PICTURES)


def test_the_film_is_small_composes_syllables_and_ends_with_the_jump() -> None:
    assert FILM.stat().st_size < MAX_FILM_BYTES
    svg = FILM.read_text(encoding="utf-8")
    shown = {text.text for text in texts(FILM)}
    assert {"승", "ㅉ", "찌", "칰"} <= shown
    assert "Ctrl+G" not in " ".join(filter(None, shown)), "it begins with scenes, not with an offer"
    assert "재생합니다" in " ".join(text for text in shown if text)
    assert "step-end infinite" in svg
    assert "prefers-reduced-motion" in svg
    for name in re.findall(r'<g class="(\w+)"', svg):
        assert f"@keyframes {name}{{" in svg
