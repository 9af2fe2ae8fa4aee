"""The interface's language: English message ids, Korean from the gettext catalogue in `locale/`."""

import gettext
import locale
import os
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

from subtitle_rag.base.message_catalog import compile_changed
from subtitle_rag.base.particles import KoreanSentence
from subtitle_rag.base.platforms import user_language

DOMAIN = "subtitle_rag"
LOCALE_DIR = Path(__file__).parents[1] / "locale"
LANGUAGES = ("ko", "en")

_translations: gettext.NullTranslations = gettext.NullTranslations()


def system_language() -> str:
    """Return `ko` if the locale, or without one the system's language, is Korean, else `en`."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "ko" if value.lower().startswith("ko") else "en"
    return "ko" if (user_language() or locale.getlocale()[0] or "").lower().startswith("ko") else "en"


def activate(language: str) -> None:
    """Set the language (`ko` or `en`) of this process and its children.

    Also sets the text domain of the C library's gettext, through which click translates its own sentences.
    """
    global _translations
    os.environ["LANGUAGE"] = language
    gettext.bindtextdomain(DOMAIN, LOCALE_DIR)
    gettext.textdomain(DOMAIN)
    _translations = _catalogue(language)


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """Return the sentences of a language; English needs no catalogue."""
    compiled = compile_changed(LOCALE_DIR / language / "LC_MESSAGES" / f"{DOMAIN}.po")
    if compiled:  # the file cannot be written
        return gettext.GNUTranslations(BytesIO(compiled))
    return gettext.translation(DOMAIN, LOCALE_DIR, languages=[language], fallback=True)


def _(message: str) -> str:
    return _with_particles(_translations.gettext(message), message)


def n_(singular: str, plural: str, count: int, /, **fields: object) -> str:
    """Return the sentence for `count` things with its fields filled in; `{n}` is `count` unless in `fields`."""
    sentence = _translations.ngettext(singular, plural, count)
    return _with_particles(sentence, singular if count == 1 else plural).format(**{"n": count, **fields})


def _with_particles(sentence: str, message: str) -> str:
    """Return a translation whose `format` chooses Korean particles."""
    return sentence if sentence is message else KoreanSentence(sentence)


def N_(message: str) -> str:  # noqa: N802 - the name that gettext tools look for
    """Mark `message` for the catalogue, and return it untranslated."""
    return message


def in_language(texts: Mapping[str, str]) -> str:
    """Return the text for the current language, from a data file's texts by language."""
    return texts.get(system_language(), texts["en"])


def translated(message: str, language: str) -> str:
    """Return `message` in this language, whatever the current one."""
    return _catalogue(language).gettext(message)
