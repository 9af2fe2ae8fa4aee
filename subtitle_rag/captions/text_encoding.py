"""The encoding of a caption file, by evidence: marks of order, NULs, valid UTF-8, then how much reads like a language.

charset-normalizer and chardet were tried on the same files: both take a short Korean line for Chinese, Korean in a
mostly English file for Latin, and curly quotes for other letters. Few encodings are in use here, so they are weighed
directly; where the evidence is weak the reader is told, and where nothing reads like a language the file is refused.
A text that somebody has saved in the wrong encoding is weighed as well: it is put right, or refused where letters are
lost.
"""

import codecs
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from subtitle_rag.captions.language_tags import is_language
from subtitle_rag.domain.errors import CaptionError
from subtitle_rag.domain.values import nfc
from subtitle_rag.i18n import _

SAMPLE = 64_000
"""Bytes of the lines beyond ASCII that are weighed."""

HEAD = 2_000
"""Bytes that may declare a language or an encoding."""

LEAST, SURE, AHEAD = 0.25, 0.5, 0.15
"""How well a text must read (1 at best) not to be refused; how well, and how far before the next, to be certain."""

FEW = 0.02
"""Share of bytes beyond ASCII up to which a file is never refused: it is English with a stray sign."""

_HANGUL = frozenset(
    "가각간감강같개거건걸것게겠격결경계고공과관교구국군권그근금기김까나남내너네년노느는능니다단달당대더던데도동되된두"
    "드든들등디때떤또라람래러런렇레려력령로록루르른를름리린마만많말매메며면명몇모무문물뭐미민바박반받발방배버번법변보"
    "본부분불브블비사산상생서선설성세션소속수스습시식신실심쓰아안않알았야약양어언업없엇었에여역연였영예오올와요용우운"
    "워원월위유으은을음의이인일임입있자작잘장재저적전점정제조좀종좋죠주중즈지직진집째차처천청체초최추출치카코크키타태"
    "터테토통트티파판포표품프플피하학한할함합해했행현형호화황회후희히"
)
"""The 256 commonest syllables, nine of ten in spoken Korean; of syllables by chance one of ten is among them."""
_LAUGHTER = frozenset("ㅋㅎㅠㅜㅇㄷ")
"""Letters that people write alone."""
_SIMPLIFIED = frozenset(
    "的一是不了我你他在有人这们那个说么好来到大会没去就要什子也出得可以吧想看知道对还能都过时下家里天后多小样着自当心让她啊吗为和上中很生事"
)
_TRADITIONAL = frozenset(
    "的一是不了我你他在有人這們那個說麼好來到大會沒去就要什子也出得可以吧想看知道對還能都過時下家裡天後多小樣著自當心讓她啊嗎為和上中很生事"
)
"""Characters that make about half of spoken Chinese."""

_EAST_ASIAN = ("cp949", "johab", "cp932", "euc_jp", "gb18030", "big5")
_OF_LANGUAGE = {
    "ko": ("cp949", "johab"),
    "ja": ("cp932", "euc_jp"),
    "zh": ("gb18030", "big5"),
    "ru": ("cp1251",),
    "uk": ("cp1251",),
    "bg": ("cp1251",),
    "pl": ("cp1250",),
    "cs": ("cp1250",),
    "hu": ("cp1250",),
    "el": ("cp1253",),
    "tr": ("cp1254",),
    "he": ("cp1255",),
    "ar": ("cp1256",),
    "vi": ("cp1258",),
    "th": ("cp874",),
}
"""Encodings by the language that a file's name or head declares; of any other language Windows-1252."""
_DECLARED = 0.3
"""Head start of the encodings of the declared language."""
_HEAD_START = {"cp949": 0.1, "euc_kr": 0.6}
"""Head start of the usual encoding in Korea, and of the one with rare syllables made up of letters, which other
encodings form hardly ever."""

_MAKE_UP = b"\xa4\xd4"
"""Begins a syllable of KS X 1001's make-up sequences, which CP949 would read as single letters."""
_BINARY_BYTES = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))
_CHARSET = re.compile(r"(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_-]{2,20})", re.IGNORECASE)
_LANGUAGE = re.compile(r"\blang(?:uage)?\s*[:=]\s*[\"']?([a-z]{2})\b", re.IGNORECASE)
_MISTAKEN_FOR = ("cp1252", "mac_roman", "gbk", "cp932", "big5")
"""Encodings as which Korean files were read by mistake, and saved as UTF-8 thereafter."""
LOST, LEAST_LOST = 0.1, 3
"""Share of U+FFFD among the characters beyond ASCII, and how many at least, that make a text useless."""
LOST_TWICE = 0.05
"""The same for what U+FFFD becomes where it is read as Korean: 占쏙옙."""
LEAST_KOREAN = 30
"""Syllables and Chinese characters of a text that can be weighed as Korean."""
STRANGERS = 0.05
"""Least Chinese characters, and question marks before syllables, of each syllable in UTF-8 that was read as CP949."""
LEAST_MARKS = 20
"""Question marks that may be all that is left of a text."""
_MARK_IN_WORD = re.compile(r"\?[가-힣]")
_UNSAID = re.compile(r"<[^<>]*>|^.*-->.*$", re.MULTILINE)
"""Markup, and lines of times with their settings."""

_UTF7 = re.compile(rb"\+[A-Za-z0-9+/]{3,}")
_TWICE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]")
_HANGUL_LINE = re.compile("[가-힣]")
_OTHER_NAMES = {"gbk": "gb18030", "mac_roman": "cp1252"}
"""Encodings that are weighed as others are."""
_EASTERN = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u4e00-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A file's text in NFC, with `\\n` line ends, and the Python name of its encoding.

    `is_sure` is whether the evidence was clear; `is_repaired` whether it had been saved in the wrong encoding.
    """

    text: str
    encoding: str
    is_sure: bool = True
    is_repaired: bool = False


def decode(raw: bytes, *, path: str = "", language: str = "") -> DecodedText:
    """Return the text of a caption file. `language` is what its name declares, if anything.

    Invalid bytes are left out, so a file cut in the middle of a character keeps its encoding.

    Raises:
        CaptionError: `not_captions` for a binary file, `unknown_encoding` for one that reads like no language,
            `garbled` for one whose letters are lost.
    """
    decoded = decode_part(raw, path=path, language=language)
    if reason := _loss(decoded.text):
        raise CaptionError("garbled", path=path, reason=reason)
    return decoded


def decode_part(raw: bytes, *, path: str = "", language: str = "") -> DecodedText:
    """Return the text of a file's beginning, whatever has become of its letters.

    Raises:
        CaptionError: `not_captions` and `unknown_encoding`, as `decode` does.
    """
    decoded = _decode(raw, path, language)
    text = decoded.text.removeprefix("\ufeff").replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    repaired = None if text.isascii() else _repaired(text)
    is_sure = decoded.is_sure and "\ufffd" not in (repaired or text)
    text = repaired.replace("\ufffd", "") if repaired else text
    return DecodedText(nfc(text), decoded.encoding, is_sure, decoded.is_repaired or repaired is not None)


def _decode(raw: bytes, path: str, language: str) -> DecodedText:
    if wide := _wide(raw):
        return DecodedText(raw.decode(wide, errors="ignore"), wide)
    sample = raw[:4096].rstrip(b"\0")  # a crash leaves files that end in NULs
    if (raw and not sample) or len(sample) - len(sample.translate(None, _BINARY_BYTES)) > len(sample) // 20:
        raise CaptionError("not_captions", path=path, reason=_("it is a binary file"))
    if raw.isascii():
        return DecodedText(_utf7(raw) or raw.decode("ascii"), "ascii")
    try:
        text, _length = codecs.utf_8_decode(raw, "strict", False)  # False: the last character may be cut off
    except UnicodeDecodeError:
        return _by_lines(raw, path, language)
    if not _TWICE.search(text):
        return DecodedText(text, "utf-8")
    again = "\n".join(map(_decode_again, text.split("\n")))
    if again == text:
        return DecodedText(text, "utf-8")
    return DecodedText(again.replace("\ufffd", ""), "utf-8", "\ufffd" not in again, is_repaired=True)


def _wide(raw: bytes) -> str | None:
    """Return UTF-16 or UTF-32 in its byte order, told by its mark or by NULs; None for another encoding."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if raw.startswith(mark):
            return name
    sample = raw[:4096]
    nulls = [sample[at::4].count(0) * 4 for at in range(4)]  # of each byte of four
    if nulls[3] > 0.9 * len(sample) and nulls[2] > 0.9 * len(sample) and max(nulls[:2]) < nulls[2]:
        return "utf-32-le"
    if nulls[0] > 0.9 * len(sample) and nulls[1] > 0.9 * len(sample) and max(nulls[2:]) < nulls[1]:
        return "utf-32-be"
    even, odd = nulls[0] + nulls[2], nulls[1] + nulls[3]
    if max(even, odd) * 10 < len(sample) * 2 or min(even, odd) * 3 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _utf7(raw: bytes) -> str | None:
    """Return UTF-7 that holds Korean, Japanese or Chinese; None for plain ASCII."""
    if not _UTF7.search(raw):
        return None
    try:
        text = raw.decode("utf-7")
    except UnicodeDecodeError:
        return None
    beyond = [char for char in text if not char.isascii()]
    return text if beyond and len(_EASTERN.findall(text)) >= 0.8 * len(beyond) else None


def _decode_again(line: str) -> str:
    """Return a line that was encoded as UTF-8 twice, decoded again; any other as it is.

    U+FFFD stands for what the first decoding has lost, as Windows-1252 has no character for some bytes.
    """
    if not _TWICE.search(line):
        return line
    try:
        raw = b"".join(map(_byte, line))
    except UnicodeEncodeError:
        return line
    again = raw.decode("utf-8", errors="replace")
    if (deeper := _decode_again(again)) != again:
        return deeper
    return again if len(_EASTERN.findall(again)) > again.count("\ufffd") else line


def _repaired(text: str) -> str | None:
    """Return a text with the lines put right that were Korean in CP949, and were read in another encoding; None
    without such lines."""
    lines = text.split("\n")
    for mistaken in _MISTAKEN_FOR:
        raws = [None if line.isascii() or _HANGUL_LINE.search(line) else _bytes_as(line, mistaken) for line in lines]
        sample = b"\n".join(filter(None, raws))[:SAMPLE]
        if not sample:
            continue
        as_korean = sample.decode("cp949", errors="replace")
        as_it_is = sample.decode(mistaken, errors="replace")
        reading = _reading(as_korean, "cp949")
        other = _reading(as_it_is, _OTHER_NAMES.get(mistaken, mistaken))
        is_whole = "\ufffd" not in as_korean and other < 0
        is_korean = reading >= (LEAST if is_whole else SURE) and reading >= other + AHEAD
        if is_korean and len(_HANGUL_LINE.findall(as_korean)) >= 2:
            return "\n".join(_in_korean(raw, line) for raw, line in zip(raws, lines, strict=True))
    return None


def _bytes_as(line: str, encoding: str) -> bytes | None:
    """Return the bytes that were read as a line in an encoding; None if it has other characters."""
    try:
        return b"".join(map(_byte, line)) if encoding == "cp1252" else line.encode(encoding)
    except UnicodeEncodeError:
        return None


def _in_korean(raw: bytes | None, line: str) -> str:
    """Return a line's bytes as Korean if they are; U+FFFD stands for what was lost."""
    text = raw.decode("cp949", errors="replace") if raw else ""
    return text if len(_HANGUL_LINE.findall(text)) > 3 * text.count("\ufffd") else line


def _loss(text: str) -> str | None:
    """Return why the letters of a text are lost for good; None if they are not."""
    beyond = len(text) - len(text.encode("ascii", errors="ignore"))
    lost, lost_twice = text.count("\ufffd"), text.count("占")
    if lost >= max(LEAST_LOST, LOST * beyond) or lost_twice >= max(LEAST_LOST, LOST_TWICE * beyond):
        return _("most of its letters were lost when it was saved in another encoding")
    if (boxes := text.count("□")) >= LEAST_MARKS and 2 * boxes > beyond:
        return _("most of its letters were lost when it was saved in another encoding")
    if not beyond:
        said = _UNSAID.sub("", text)
        marks = said.count("?")
        is_lost = marks >= LEAST_MARKS and marks > 3 * sum(map(str.isalpha, said))
        return _("only question marks are left of its letters") if is_lost else None
    korean = "".join(char for char in text if "가" <= char <= "힣" or "\u4e00" <= char <= "\u9fff")[:SAMPLE]
    syllables = len(_HANGUL_LINE.findall(korean))
    strangers = len(korean) - syllables + len(_MARK_IN_WORD.findall(text))
    is_misread = 2 * syllables >= len(korean) >= LEAST_KOREAN and strangers >= STRANGERS * syllables
    if is_misread and _reading(korean, "cp949") < LEAST:
        return _("its syllables are none that anybody says: it was read in the wrong encoding and saved so")
    return None


def _byte(char: str) -> bytes:
    try:
        return char.encode("cp1252")
    except UnicodeEncodeError:
        return char.encode("latin-1")


def _by_lines(raw: bytes, path: str, language: str) -> DecodedText:
    """Decode a file that is not all UTF-8: in one other encoding, damaged, or put together from two."""
    lines = raw.split(b"\n")
    is_utf8 = [_is_utf8_line(line) for line in lines]
    foreign_lines = b"\n".join(
        line for line, is_valid in zip(lines, is_utf8, strict=True) if not is_valid and not line.isascii()
    )
    if _is_damaged_utf8(raw if any(is_utf8) else foreign_lines) and _is_damaged_utf8(foreign_lines):
        return DecodedText(raw.decode("utf-8", errors="ignore"), "utf-8")
    encoding, reading, lead = _best(foreign_lines, _declared(raw[:HEAD], language))
    is_few = len(raw.translate(None, bytes(range(128)))) < FEW * len(raw)
    if reading < LEAST and not is_few:
        raise CaptionError("unknown_encoding", path=path)
    text = "\n".join(
        line.decode("utf-8" if is_valid else encoding, errors="ignore")
        for line, is_valid in zip(lines, is_utf8, strict=True)
    )
    return DecodedText(text, encoding, reading >= SURE and lead >= AHEAD)


def _is_utf8_line(line: bytes) -> bool:
    """Whether a line is UTF-8 with characters of three bytes: those of two are often other encodings by chance."""
    try:
        return bool(_EASTERN.search(line.decode("utf-8")))
    except UnicodeDecodeError:
        return False


def _is_damaged_utf8(raw: bytes) -> bool:
    """Whether more characters of UTF-8 are whole than broken: other encodings hardly ever form any."""
    valid = len(re.sub(r"[\x00-\x7f]", "", raw.decode("utf-8", errors="ignore")))
    return valid > raw.decode("utf-8", errors="replace").count("\ufffd")


def _declared(head: bytes, language: str) -> tuple[str, ...]:
    """Return the encodings that a file's head names, and those of its language, by its name or its head."""
    text = head.decode("ascii", errors="ignore")
    names = [codecs.lookup(match[1]).name for match in _CHARSET.finditer(text) if _is_known(match[1])]
    names = ["cp949" if name == "euc_kr" else "cp1252" if name == "iso8859-1" else name for name in names]
    if language in ("", "und"):
        language = match[1] if (match := _LANGUAGE.search(text)) else ""
    of_language = next((encodings for code, encodings in _OF_LANGUAGE.items() if is_language(language, code)), None)
    supported = {name for encodings in _OF_LANGUAGE.values() for name in encodings} | {"cp1252"}
    return tuple(name for name in names if name in supported) + (of_language or (("cp1252",) if language else ()))


def _is_known(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def _best(raw: bytes, declared: tuple[str, ...]) -> tuple[str, float, float]:
    """Return the encoding that reads best, how well (1 at best), and how far it is before the next."""
    sample = raw[:SAMPLE]
    candidates = dict.fromkeys((*declared, *_EAST_ASIAN, "cp1252"))
    if _MAKE_UP in sample:
        with suppress(UnicodeDecodeError):
            sample.decode("euc_kr")
            candidates["euc_kr"] = None
    readings = []
    for name in candidates:
        reading = _reading(sample.decode(name, errors="replace"), name)
        start = (_DECLARED if name in declared else 0.0) + _HEAD_START.get(name, 0.0)
        readings.append((reading + start, reading, name))
    (best, reading, name), (second, *_rest) = sorted(readings, reverse=True)[:2]
    return name, reading, best - second


def _reading(text: str, encoding: str) -> float:
    """Return how well the characters beyond ASCII read in the language of an encoding, 1 at best."""
    weigh = _WEIGHTS.get(encoding, _weigh_alphabet)
    weights = [weigh(text, at) for at, char in enumerate(text) if not char.isascii()]
    return sum(weights) / len(weights) if weights else 0.0


def _weigh_korean(text: str, at: int) -> float:
    char = text[at]
    if "가" <= char <= "힣":
        return 1.0 if char in _HANGUL else 0.0
    if "ㄱ" <= char <= "ㅣ":  # hiragana of EUC-JP are letters in EUC-KR
        return 1.0 if char in _LAUGHTER or char in (text[at - 1 : at], text[at + 1 : at + 2]) else -0.3
    return -0.5 if "\u4e00" <= char <= "\u9fff" else _weigh_sign(char)


def _weigh_japanese(text: str, at: int) -> float:
    char = text[at]
    if "ぁ" <= char <= "ヿ":
        return 1.0
    if "\uff61" <= char <= "\uff9f":
        return -0.5
    return 0.3 if "\u4e00" <= char <= "\u9fff" else _weigh_sign(char)


def _weigh_chinese(text: str, at: int, common: frozenset[str]) -> float:
    if "\u4e00" <= text[at] <= "\u9fff":
        return 1.0 if text[at] in common else 0.1
    return _weigh_sign(text[at])


def _weigh_sign(char: str) -> float:
    """Weigh what belongs to every East Asian encoding: marks of sentences, notes; what nobody types speaks against."""
    if unicodedata.category(char) in ("Cn", "Co", "Cc", "Cs") or char == "\ufffd":
        return -2.0
    return 0.2 if unicodedata.category(char)[0] in "PS" else -0.5


def _weigh_alphabet(text: str, at: int) -> float:
    """Weigh a letter or sign of an alphabet: no capital follows a small letter."""
    char, before = text[at], text[at - 1 : at]
    category = unicodedata.category(char)
    if category in ("Cn", "Co", "Cc", "Cs") or char == "\ufffd":
        return -2.0
    if category[0] in "LM":
        return -1.0 if category == "Lu" and before.islower() else 1.0
    return 0.7 if category[0] in "PZ" or char in "€£°" else -0.5


def _weigh_western(text: str, at: int) -> float:
    """Weigh a letter or sign beyond ASCII, which is among letters of ASCII: é in café, ’ in don’t."""
    weight = _weigh_alphabet(text, at)
    around = (text[at - 1 : at], text[at + 1 : at + 2])
    strangers = sum(not each.isascii() and each.isalpha() for each in around)
    if weight < 0 or strangers == 2:
        return min(weight, -1.0)
    if not text[at].isalpha():
        return weight
    return (1.0 if any(each.isascii() and each.isalpha() for each in around) else 0.3) - 0.5 * strangers


_WEIGHTS: dict[str, Callable[[str, int], float]] = {
    "cp1252": _weigh_western,
    "cp949": _weigh_korean,
    "euc_kr": _weigh_korean,
    "johab": _weigh_korean,
    "cp932": _weigh_japanese,
    "euc_jp": _weigh_japanese,
    "gb18030": partial(_weigh_chinese, common=_SIMPLIFIED),
    "big5": partial(_weigh_chinese, common=_TRADITIONAL),
}
