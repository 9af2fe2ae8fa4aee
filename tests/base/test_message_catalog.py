"""Compiling catalogues: what gettext reads is what the `.po` says, without a step of whoever has the sources."""

import gettext
import os
import shutil
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from subtitle_rag.base import i18n
from subtitle_rag.base.message_catalog import compile_catalog, compile_changed

PO = i18n.LOCALE_DIR / "ko" / "LC_MESSAGES" / "subtitle_rag.po"
HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n'


def catalog(content: bytes) -> gettext.GNUTranslations:
    return gettext.GNUTranslations(BytesIO(content))


def catalog_of(po: str) -> gettext.GNUTranslations:
    return catalog(compile_catalog(f"{HEADER}\n{po}"))


@pytest.fixture
def po(tmp_path: Path) -> Path:
    """A catalogue of one sentence, like that of a fresh clone."""
    path = tmp_path / "subtitle_rag.po"
    path.write_text(f'{HEADER}\nmsgid "Help"\nmsgstr "도움말"\n', encoding="utf-8")
    return path


def test_the_catalogue_of_the_program_is_what_babel_makes_of_it() -> None:
    by_babel = BytesIO()
    with PO.open("rb") as file:
        write_mo(by_babel, read_po(file, locale="ko"))
    ours, theirs = catalog(compile_catalog(PO.read_text(encoding="utf-8"))), catalog(by_babel.getvalue())
    sentences = [{key: text for key, text in each._catalog.items() if key} for each in (ours, theirs)]  # type: ignore[attr-defined]
    assert sentences[0] == sentences[1]
    assert len(sentences[0]) > 1_000


def test_texts_of_several_lines_signs_and_plurals_are_read() -> None:
    found = catalog_of(
        '#, python-brace-format\nmsgid ""\n"One \\"line\\",\\n"\n" two"\nmsgstr "한 줄,\\t두 줄"\n\n'
        'msgid "{n} thing"\nmsgid_plural "{n} things"\nmsgstr[0] "{n}개"\n'
    )
    assert found.gettext('One "line",\n two') == "한 줄,\t두 줄"
    assert [found.ngettext("{n} thing", "{n} things", n) for n in (1, 2)] == ["{n}개", "{n}개"]


def test_a_sentence_without_a_translation_stays_english() -> None:
    found = catalog_of('msgid "New"\nmsgstr ""\n\nmsgid "{n} new"\nmsgid_plural "{n} new ones"\nmsgstr[0] ""\n')
    assert found.gettext("New") == "New"
    assert found.ngettext("{n} new", "{n} new ones", 2) == "{n} new ones"


@pytest.mark.parametrize("line", ["nonsense", 'msgctxt "menu"', 'msgid "open', "msgid print()"])
def test_a_line_that_is_not_understood_is_an_error(line: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        compile_catalog(f"{line}\n")


def test_a_catalogue_is_compiled_when_there_is_none_and_when_it_has_changed(po: Path) -> None:
    mo = po.with_suffix(".mo")
    assert compile_changed(po) is None
    assert catalog(mo.read_bytes()).gettext("Help") == "도움말"
    made = mo.stat()
    assert compile_changed(po) is None
    assert mo.stat().st_ino == made.st_ino, "compiled without a change"
    older = po.read_text(encoding="utf-8").replace("도움말", "도움")
    po.write_text(older, encoding="utf-8")
    os.utime(po, ns=(made.st_mtime_ns - 10**12,) * 2)  # a checkout that keeps times
    assert compile_changed(po) is None
    assert catalog(mo.read_bytes()).gettext("Help") == "도움"
    assert sorted(path.name for path in po.parent.iterdir()) == ["subtitle_rag.mo", "subtitle_rag.po"]


def test_a_folder_that_cannot_be_written_has_the_catalogue_in_memory(po: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise PermissionError

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    compiled = compile_changed(po)
    assert compiled is not None
    assert catalog(compiled).gettext("Help") == "도움말"
    assert not po.with_suffix(".mo").exists()


def test_an_installed_program_has_the_compiled_one_alone(po: Path) -> None:
    compile_changed(po)
    made = po.with_suffix(".mo").read_bytes()
    po.unlink()
    assert compile_changed(po) is None
    assert po.with_suffix(".mo").read_bytes() == made


def test_a_clone_that_nobody_has_compiled_speaks_korean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "locale" / "ko" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    shutil.copy(PO, folder)
    monkeypatch.setattr(i18n, "LOCALE_DIR", tmp_path / "locale")
    i18n._catalogue.cache_clear()
    try:
        assert i18n.translated("{n} windows became searchable.", "en") == "{n} windows became searchable."
        assert i18n.translated("Update subtitle-rag.", "ko") == "subtitle-rag를 업데이트하세요."
        i18n.activate("ko")
        assert gettext.gettext("Options") == "옵션", "click asks the C library's domain"
    finally:
        i18n._catalogue.cache_clear()
        i18n.activate("en")
