"""Language tags: in file names, and as variants of one another."""

import re
from collections.abc import Mapping

_CODES = """
    aa ab af ak am ar as ay az be bg bh bho bn bo br bs ca ceb co crs cs cy da de dv dz ee el en eo es et eu fa ff fi
    fil fo fr fy ga gaa gd gl gn gu gv ha haw he hi hmn hr ht hu hy id ig is it iu iw ja jv ka kha kk kl km kn ko kri
    ku ky la lb lg ln lo lt lu luo lv mfe mg mi mk ml mn mr ms mt my ne nl no nso ny oc om or os pa pam pl ps
    pt qu rm rn ro ru rw sa sd sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tn to tr ts tt tum uk und
    ur ug uz ve vi vo wo xh yi yo yue zh zu
"""
LANGUAGES = frozenset(_CODES.split())
"""Language codes of YouTube captions except words (`new`, `war`); other endings belong to the title."""

_LONG_CODES = """
    kor:ko eng:en jpn:ja zho:zh chi:zh spa:es fra:fr fre:fr deu:de ger:de ita:it por:pt rus:ru vie:vi tha:th ind:id
    kr:ko jp:ja cn:zh
"""
LONG_CODES = dict(pair.split(":") for pair in _LONG_CODES.split())
"""Three-letter codes, and country codes used in their place, with the tags used here."""

_NAMES = {
    **dict.fromkeys(("korean", "한국어", "한글", "한국어자막", "한글자막"), "ko"),
    **dict.fromkeys(("english", "영어"), "en"),
    **dict.fromkeys(("japanese", "일본어"), "ja"),
    **dict.fromkeys(("chinese", "중국어"), "zh"),
    "spanish": "es",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "portuguese": "pt",
    "russian": "ru",
    "vietnamese": "vi",
    "thai": "th",
    "chs": "zh-Hans",
    "cht": "zh-Hant",
    "pob": "pt-BR",
}
"""Language names in file names."""

UNDERSCORED = {
    **{code: tag for code, tag in LONG_CODES.items() if tag in ("ko", "en", "ja", "zh")},
    **{name: tag for name, tag in _NAMES.items() if tag in ("ko", "en", "ja", "zh")},
    "ko": "ko",
    "en": "en",
    "ja": "ja",
    "ko_kr": "ko-KR",
    "ko-kr": "ko-KR",
    "en_us": "en-US",
}
"""Tags also recognized after an underscore or a space, where words of a title may follow too."""

_TAG = re.compile(r"([A-Za-z]{2,3})((?:-[A-Za-z0-9_]+|_[A-Z]{2})*)")


def language_name(tag: str) -> str | None:
    """Return the tag for a language name such as `Korean` or `한국어`; None for anything else."""
    return _NAMES.get(tag.lower())


def title_language(title: str) -> str | None:
    """Return the tag of the only language in a track's title, as in `한국어 (SDH)`; None for none or several."""
    names = {UNDERSCORED.get(word) or language_name(word) for word in re.findall(r"\w+", title.lower())} - {None}
    return names.pop() if len(names) == 1 else None


def language_tag(tag: str) -> str | None:
    """Return `tag` as a language tag, with a two-letter code if there is one; None if it is part of a title."""
    match = _TAG.fullmatch(tag)
    if not match:
        return None
    code = match[1].lower()
    code = LONG_CODES.get(code, code)
    return code + match[2].replace("_", "-") if code in LANGUAGES else None


def is_language(language: str, prefix: str) -> bool:
    """Whether a language tag is the preferred one or its variant, such as `zh-Hans` for `zh`."""
    return f"{language}-".lower().startswith(f"{prefix}-".lower())


def best_language(sizes: Mapping[str, int], language: str, tags: Mapping[str, str] | None = None) -> str:
    """Return the part of a file to read: in `language`, else in Korean, else the one with most text.

    `sizes` has the characters of each part; `tags` has the parts' languages if their names are not tags.
    """

    def rank(part: str) -> tuple[bool, bool, int]:
        tag = tags.get(part, "") if tags is not None else part
        return bool(language) and is_language(tag, language), is_language(tag, "ko"), sizes[part]

    return max(sizes, key=rank, default="")
