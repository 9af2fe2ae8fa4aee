"""The interface's language: English message ids, Korean from the gettext catalogue in `locale/`."""

import gettext
import locale
import os
from pathlib import Path

from subtitle_rag.platforms import user_language

DOMAIN = "subtitle_rag"
LOCALE_DIR = Path(__file__).parent / "locale"
LANGUAGES = ("ko", "en")

_translations: gettext.NullTranslations = gettext.NullTranslations()


def system_language() -> str:
    """`ko` where the locale's messages are Korean or, without one, the system's own are, else `en`."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "ko" if value.lower().startswith("ko") else "en"
    return "ko" if (user_language() or locale.getlocale()[0] or "").lower().startswith("ko") else "en"


def activate(language: str) -> None:
    """Speak `language` (`ko` or `en`) in this process and in the ones that it starts.

    The text domain of the C library's gettext is set too: click translates its own sentences through it.
    """
    global _translations
    os.environ["LANGUAGE"] = language
    gettext.bindtextdomain(DOMAIN, LOCALE_DIR)
    gettext.textdomain(DOMAIN)
    _translations = gettext.translation(DOMAIN, LOCALE_DIR, languages=[language], fallback=True)


def _(message: str) -> str:
    return _translations.gettext(message)


def n_(singular: str, plural: str, n: int) -> str:
    """The form of the sentence for `n` things."""
    return _translations.ngettext(singular, plural, n)


def N_(message: str) -> str:  # noqa: N802 - the name that gettext tools look for
    """Mark `message` for the catalogue; it is translated where it is shown."""
    return message


def translated(message: str, language: str) -> str:
    """`message` in a language that need not be the one in force."""
    return gettext.translation(DOMAIN, LOCALE_DIR, languages=[language], fallback=True).gettext(message)
