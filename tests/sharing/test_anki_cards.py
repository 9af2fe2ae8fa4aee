"""Decks for Anki, read by the importer of the real Anki in an empty collection."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.values import Cue, Video
from subtitle_rag.base.installation.extras import ANKI
from subtitle_rag.base.installation.package_installer import install_steps
from subtitle_rag.sharing.export_formats import render_export, write_export
from subtitle_rag.sharing.exported_scene import ExportedScene

VIDEO = Video("dQw4w9WgXcQ", "느린 부엌: 국수", "UC1", "느린 부엌", url="https://www.youtube.com/watch?v=dQw4w9WgXcQ")
CUES = (Cue(60_000, 63_000, "국수를 삶아요"), Cue(64_000, 67_000, "물이 끓어요"))
SCENE = ExportedScene(
    VIDEO, 60_000, 90_000, 64_000, CUES, context="국수를 삶는 장면이다.", note="다시 보기", tag="요리 법"
)
HOSTILE = "{{Front}} [sound:/etc/passwd] <script>x</script> \x1f\x1f & \t\n\"'"


@pytest.fixture
def anki(tmp_path: Path) -> Iterator[Collection]:
    collection = Collection(str(tmp_path / "collection.anki2"))
    yield collection
    collection.close()


def take(anki: Collection, path: Path) -> int:
    """Import a package as Anki does on a double click; return the number of new notes."""
    request = ImportAnkiPackageRequest(package_path=str(path), options=ImportAnkiPackageOptions())
    return len(anki.import_anki_package(request).log.new)


def deck(tmp_path: Path, *scenes: ExportedScene) -> Path:
    path = tmp_path / "cards.apkg"
    write_export(path, render_export("anki", scenes, "국수 :: 요리"))
    return path


def test_a_fresh_anki_has_filled_cards_in_a_deck_of_their_own(anki: Collection, tmp_path: Path) -> None:
    assert take(anki, deck(tmp_path, SCENE)) == 1
    (id,) = anki.find_notes("")
    note = anki.get_note(id)
    (card,) = note.cards()
    assert anki.decks.name(card.did) == "국수 : 요리"
    assert note.tags == ["요리_법"]
    assert dict(note.items()) == {
        "Sentence": "물이 끓어요",
        "Scene": "국수를 삶아요 물이 끓어요",
        "Context": "국수를 삶는 장면이다.",
        "Note": "다시 보기",
        "Link": '<a href="https://youtu.be/dQw4w9WgXcQ?t=64">느린 부엌: 국수 1:04</a>',
        "Clip": "",
    }
    assert "물이 끓어요" in card.question()
    for text in ("국수를 삶아요", "국수를 삶는 장면이다.", "다시 보기", "youtu.be"):
        assert text in card.answer()
        assert text not in card.question() or text == "국수를 삶아요"


def test_a_clip_comes_with_its_card(anki: Collection, tmp_path: Path) -> None:
    clip = tmp_path / "dQw4w9WgXcQ_60000-90000.mp4"
    clip.write_bytes(b"film")
    take(anki, deck(tmp_path, replace(SCENE, clip=clip)))
    (id,) = anki.find_notes("")
    assert anki.get_note(id)["Clip"] == f"[sound:{clip.name}]"
    assert (Path(anki.media.dir()) / clip.name).read_bytes() == b"film"
    assert len(anki.get_note(id).cards()[0].question_av_tags()) == 1


def test_a_second_import_brings_notes_up_to_date(anki: Collection, tmp_path: Path) -> None:
    take(anki, deck(tmp_path, SCENE, replace(SCENE, start_ms=0)))
    assert take(anki, deck(tmp_path, SCENE)) == 0
    assert len(anki.find_notes("")) == 2


def test_outside_text_is_no_markup_sound_or_field(anki: Collection, tmp_path: Path) -> None:
    hostile = replace(VIDEO, title=HOSTILE, channel=HOSTILE)
    cues = tuple(replace(cue, text=HOSTILE) for cue in CUES)
    take(anki, deck(tmp_path, replace(SCENE, video=hostile, cues=cues, context=HOSTILE, note=HOSTILE, tag=HOSTILE)))
    (id,) = anki.find_notes("")
    (card,) = anki.get_note(id).cards()
    assert "<script" not in card.question() + card.answer()
    assert "{{Front}}" not in card.answer().replace("&#123;", "x")
    assert card.question_av_tags() == card.answer_av_tags() == []


def test_a_deck_in_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cards"):
        write_export(tmp_path / "none" / "cards.apkg", render_export("anki", [SCENE], "국수"))
    with pytest.raises(UsageError):
        render_export("anki", [], "국수")


def test_without_the_extra_it_says_what_to_install_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "genanki", None)
    with pytest.raises(AppError) as caught:
        deck(tmp_path, SCENE)
    assert (caught.value.code, caught.value.details["line"]) == ("missing_extra", install_steps(ANKI))
    assert list(tmp_path.iterdir()) == []
