#!/usr/bin/env python3
"""Update the Korean catalogue: extract the sentences of the program and of click, and merge them.

New sentences enter the .po untranslated; tests/base/test_i18n.py fails until they are translated and this runs
again. If
nothing is new, the file does not change by a byte. With a version of click other than the one in requirements.lock
nothing is written, since sentences missing from it would be dropped with their translations.
"""

import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
PO = ROOT / "subtitle_rag" / "locale" / "ko" / "LC_MESSAGES" / "subtitle_rag.po"
LOCK = ROOT / "requirements.lock"
KEYWORDS: dict[str, tuple[int, ...] | None] = {"_": None, "N_": None, "n_": (1, 2), "gettext": None, "ngettext": (1, 2)}
COMMENT = "# The Korean catalogue of subtitle_rag. scripts/translations.py keeps its ids up to date."


class KoreanCatalog(Catalog):
    """A catalogue without changing headers: no dates, names or versions."""

    def __init__(self) -> None:
        super().__init__(locale="ko", project="subtitle_rag", charset="utf-8", header_comment=COMMENT, fuzzy=False)

    def _get_mime_headers(self) -> list[tuple[str, str]]:
        return [
            ("Project-Id-Version", "subtitle_rag"),
            ("Language", "ko"),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit"),
            ("Plural-Forms", f"{self.plural_forms}\n"),  # a header ends with a line end
        ]

    mime_headers = property(_get_mime_headers)


def extracted() -> KoreanCatalog:
    """Return every sentence of the program, including click's."""
    catalog = KoreanCatalog()
    click = find_spec("click")
    assert click is not None
    assert click.submodule_search_locations
    for folder in (ROOT / "subtitle_rag", Path(click.submodule_search_locations[0])):
        for _file, _line, message, comments, context in extract_from_dir(
            str(folder), method_map=[("**.py", "python")], keywords=KEYWORDS
        ):
            catalog.add(message, auto_comments=comments, context=context)
    return catalog


def merged(translated: Catalog) -> KoreanCatalog:
    """Return the current sentences with the translations of `translated`; unused ones are left out."""
    catalog = extracted()
    for message in catalog:
        old = translated.get(message.id, message.context) if message.id else None
        if old is not None and old.pluralizable == message.pluralizable:
            message.string = old.string
            message.user_comments = old.user_comments
    return catalog


def missing(catalog: Catalog) -> list[str]:
    """Return the untranslated sentences."""
    return [forms(message.id)[0] for message in catalog if message.id and not all(forms(message.string))]


def forms(string: str | tuple[str, ...] | list[str] | None) -> tuple[str, ...]:
    """Return the plural forms of an id or a translation; most have one."""
    return (string or "",) if string is None or isinstance(string, str) else tuple(string)


def read() -> Catalog:
    """Return the existing translations."""
    with PO.open("rb") as file:
        return read_po(file, locale="ko")


def locked_version(package: str) -> str:
    """Return a package's version in requirements.lock."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    return next(line.split()[0].partition("==")[2] for line in lines if line.startswith(f"{package}=="))


def main() -> int:
    locked, installed = locked_version("click"), version("click")
    if locked != installed:
        print(
            f"! nothing was written: click {installed} is not the {locked} of {LOCK.name}; scripts/setup",
            file=sys.stderr,
        )
        return 1
    catalog = merged(read())
    with PO.open("wb") as file:
        write_po(file, catalog, width=120, no_location=True, sort_output=True)
    untranslated = missing(catalog)
    print(f"{len(catalog)} sentences, {len(untranslated)} without translation", file=sys.stderr)
    for sentence in untranslated:
        print(sentence)
    return 0


if __name__ == "__main__":
    sys.exit(main())
