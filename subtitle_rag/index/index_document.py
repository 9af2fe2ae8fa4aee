"""Text and terms that a video's windows are indexed with.

A window's text is preceded by the video's title, the chapter's title, the strongest keywords of the neighbouring
windows at most `OVERLAP_MS` away and, if a model has written one, a context.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from subtitle_rag.base.domain.values import NEGATED, Morphemes, Video, Window
from subtitle_rag.base.vectors.pieces import cut_pieces
from subtitle_rag.base.vectors.points import SparseVector
from subtitle_rag.captions.file_names import MEDIA_SUFFIXES
from subtitle_rag.captions.formats import caption_suffixes
from subtitle_rag.captions.windows import OVERLAP_MS
from subtitle_rag.korean.expansion import inverse_document_frequency
from subtitle_rag.korean.morphemes import DEFAULT_PARAMS, Bm25Params, document_vector

EARLY_MS = 5_000
"""Longest time by which a chapter's mark may follow the start of its first window."""

_BRACKETED_ID = re.compile(r"[\[(](?=[\w-]*[0-9A-Z_-])[A-Za-z0-9_-]{11}[\])]")
_SUFFIXES = "|".join(re.escape(suffix) for suffix in (*caption_suffixes(), *sorted(MEDIA_SUFFIXES)))
_ENDING = re.compile(rf"(?:\.[a-z]{{2,3}}(?:-[a-z]{{2,8}})?)?(?:{_SUFFIXES})$", re.IGNORECASE)
_BRACKETED = re.compile(r"[\[(【［（<〈《]([^\[\](){}【】［］（）<>〈〉《》]{1,40})[\])】］）>〉》]")
_MARK = re.compile(
    r"(?:(?:eng?|kor?|jpn?|english|korean|영어|한글|한국어|자동)?\s*(?:sub(?:s|title[sd]?|bed)?|cc|자막)(?:\s*(?:있음|포함|o))?"
    r"|[48]k|u?f?hd|\d{3,4}p(?:\d{2})?|official(?:\s+(?:video|mv|m/v|audio))?|full(?:\s*(?:ver\.?|version|hd))?|풀버전|vlog|asmr)+",
    re.IGNORECASE,
)
"""Bracketed text about the form of a video."""
LONGEST_MARK = 40
_SHORTS = re.compile(r"#(?:youtube)?(?:shorts?|쇼츠|vlog|브이로그)(?!\w)", re.IGNORECASE)
_HASH = re.compile(r"(?<!\w)#(?=\w)")
_SEPARATOR = re.compile(r"\s*[|｜¦│]\s*|\s+[-–—·•/:]\s+")
_EDGES = " \t-–—_|｜·•/:,~"
_TITLE_WORD = re.compile(r"[^\W_]+")
_UNTELLING = re.compile(
    r"제?\d+[화회편부강탄차]?|[a-z]?\d+[a-z]?|[0-9a-f]{8,}|(?-i:(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z0-9]{9,})"
    r"|(?:img|dscn?|dscf|vid|video|mov|mvi|pxl|gopr|dji|rec|record|recording|screen|capture|clip|file|untitled|audio|voice"
    r"|track|output|final|copy|part|ep|episode|subtitles?|captions?|kakaotalk|(?:동|새)?영상|비디오|화면|녹화|녹음|자막"
    r"|음성|무제|제목|없음|파일|클립|사본)\d*",
    re.IGNORECASE,
)
"""A word in a title that comes from a camera, a recorder or a counter."""


def keywords(analyses: Sequence[Morphemes], limit: int = DEFAULT_PARAMS.keywords) -> list[list[str]]:
    """Return the forms with the highest tf·idf for each of a video's windows.

    Frequencies are of this video only, so that new videos change no vector.
    """
    counts = [Counter(analysis.forms) for analysis in analyses]
    spread = Counter(form for count in counts for form in count if len(form) > 1 and not form.startswith(NEGATED))
    rarity = {form: inverse_document_frequency(windows, len(counts)) for form, windows in spread.items()}

    def weight(item: tuple[str, int]) -> tuple[float, str]:
        form, tf = item
        return -tf * rarity[form], form

    telling = ([item for item in count.items() if item[0] in rarity] for count in counts)
    return [[form for form, _tf in sorted(items, key=weight)[:limit]] for items in telling]


@dataclass(slots=True)
class IndexDocument:
    """One video's windows with their prefixes; `contexts`: window id → (key, text)."""

    video: Video
    windows: Sequence[Window]
    contexts: Mapping[str, tuple[str, str]]
    _title: str = field(init=False)
    _chapters: dict[str, str] = field(init=False)
    _digest: str = field(init=False)

    def __post_init__(self) -> None:
        self._title = self.video.title if content_title(self.video.title, self.video.channel) else ""
        self._chapters = {window.id: title for window in self.windows if (title := self._chapter(window))}
        digest = hashlib.sha256(self._title.encode())
        for window in self.windows:  # a vector also depends on the neighbours' words
            chapter = self._chapters.get(window.id, "")
            digest.update(f"\x1f{window.id}\x1f{window.end_ms}\x1f{chapter}\x1f{window.text}".encode())
        self._digest = digest.hexdigest()

    def with_contexts(self, contexts: Mapping[str, tuple[str, str]]) -> "IndexDocument":
        """Return the same windows with these contexts, without hashing the windows again."""
        document = copy(self)
        document.contexts = contexts
        return document

    def prefix_texts(self) -> list[str]:
        """Return the texts in front of windows, in the order in which `vectors` takes their analyses."""
        return [self._title, *self._titles(), *(self.contexts[w.id][1] for w in self._with_context())]

    def texts(self) -> list[str]:
        """Return all texts, the windows' last."""
        return [*self.prefix_texts(), *(window.text for window in self.windows)]

    def source(self, window_id: str) -> str:
        """Return a hash of everything that affects a window's `bm25` vector; it ends in the context's key."""
        return f"{self._digest}/{self._key(window_id)}"

    def passage(self, window_id: str) -> str:
        """Return the encoder's input for a window: title, chapter, context and text on separate lines.

        Neighbours' words are left out, because they make windows alike. If the passage has changed, the old vector
        stays until a rebuild; `passage_source` tells the two apart.
        """
        return self._passage(window_id, self._window(window_id).text)

    def pieces(self, window_id: str) -> list[str]:
        """Return the encoder's inputs for a window's pieces, each after the same context.

        Without a context, pieces go alone: a title would be half of a piece, and make all pieces of a video alike.
        """
        texts = [text for _start_ms, text in cut_pieces(self._window(window_id))]
        return [self._passage(window_id, text) for text in texts] if window_id in self.contexts else texts

    def passage_source(self, window_id: str, *, pieces: bool = False) -> str:
        """Return a hash of the passage, or of the pieces; like `source`, it ends in the context's key."""
        texts = self.pieces(window_id) if pieces else [self.passage(window_id)]
        digest = hashlib.sha256("\x1f".join(texts).encode()).hexdigest()[:32]
        return f"{digest}/{self._key(window_id)}"

    def _window(self, window_id: str) -> Window:
        return next(window for window in self.windows if window.id == window_id)

    def _passage(self, window_id: str, text: str) -> str:
        context = self.contexts.get(window_id, ("", ""))[1]
        title = content_title(self.video.title, self.video.channel)
        return "\n".join(filter(None, (title, self._chapters.get(window_id, ""), context, text)))

    def vectors(
        self, analyses: Sequence[Morphemes], only: Collection[str] | None = None, params: Bm25Params = DEFAULT_PARAMS
    ) -> dict[str, SparseVector]:
        """Return the `bm25` vectors by window id, from the analyses of `texts`, for all windows or those in `only`."""
        prefixes = iter(analyses)
        title = next(prefixes)
        chapters = dict(zip(self._titles(), prefixes, strict=False)) if self._chapters else {}
        contexts = dict(zip((w.id for w in self._with_context()), prefixes, strict=False)) if self.contexts else {}
        window_analyses = list(analyses[len(analyses) - len(self.windows) :])
        telling = keywords(window_analyses, params.keywords)
        vectors = {}
        for at, (window, analysis) in enumerate(zip(self.windows, window_analyses, strict=True)):
            if only is not None and window.id not in only:
                continue
            near = [form for index in _near(self.windows, at) for form in telling[index]]
            before = [(self._title, title)]
            if chapter := self._chapters.get(window.id):
                before.append((chapter, chapters[chapter]))
            context, context_forms = "", tuple[str, ...]()
            if window.id in contexts:
                context, context_forms = self.contexts[window.id][1], contexts[window.id].forms
            forms = [form for _text, morphemes in before for form in morphemes.forms]
            text = " ".join([*(text for text, _morphemes in before), *near, window.text])
            vectors[window.id] = document_vector(
                [*forms, *near, *analysis.forms], text, params, context_forms=context_forms, context=context
            )
        return vectors

    def context_terms(self, analyses: Sequence[Morphemes]) -> dict[str, frozenset[str]]:
        """Return the forms in titles and contexts that no window of the video has, from the analyses of `texts`.

        Those in titles are under the first window.
        """
        before = len(analyses) - len(self.windows)
        spoken_forms = {form for analysis in analyses[before:] for form in analysis.forms}
        ids = [w.id for w in self._with_context()]
        contexts = zip(ids, analyses[before - len(ids) : before], strict=True)
        terms = {id: frozenset(analysis.forms) - spoken_forms for id, analysis in contexts}
        titles = {form for analysis in analyses[: before - len(ids)] for form in analysis.forms} - spoken_forms
        if titles and self.windows:
            terms[self.windows[0].id] = terms.get(self.windows[0].id, frozenset()) | titles
        return terms

    def _key(self, window_id: str) -> str:
        return self.contexts.get(window_id, ("", ""))[0]

    def _titles(self) -> list[str]:
        return list(dict.fromkeys(self._chapters.values()))

    def _with_context(self) -> list[Window]:
        return [window for window in self.windows if window.id in self.contexts]

    def _chapter(self, window: Window) -> str:
        titles = [c.title for c in self.video.chapters if c.start_ms <= window.start_ms + EARLY_MS]
        return titles[-1] if titles else ""


def _near(windows: Sequence[Window], at: int) -> list[int]:
    """Return the neighbours that continue a window's speech without a break."""
    beside = ((min(at, each), max(at, each), each) for each in (at - 1, at + 1) if 0 <= each < len(windows))
    return [each for one, next_, each in beside if windows[next_].start_ms - windows[one].end_ms <= OVERLAP_MS]


def content_title(title: str, channel: str = "") -> str:
    """Return the informative part of a title, without ids, file suffixes and the channel's additions.

    The encoder reads a title before every window, so uninformative words would shift all vectors of a video. Empty for
    a mere number or a recording's name, which would make all windows of a video alike by words, too.
    """
    text = _HASH.sub("", _SHORTS.sub(" ", title))
    while (cut := _ENDING.sub("", text.rstrip())) != text:
        text = cut
    text = _BRACKETED_ID.sub(" ", text)
    text = _BRACKETED.sub(lambda match: " " if _is_debris(match[1], channel) else match[0], text)
    if " " not in text.strip() and text.count("-") > 1:  # a file name
        text = text.replace("-", " ")
    text = text.replace("_", " ")
    text = "".join(" " if unicodedata.category(letter) in ("So", "Cs", "Co", "Cn") else letter for letter in text)
    parts = [part for part in _SEPARATOR.split(text) if part]
    telling = [part for part in parts if not _is_debris(part, channel)]
    if 0 < len(telling) < len(parts):
        text = " - ".join(telling)
    if all(_UNTELLING.fullmatch(word) for word in _TITLE_WORD.findall(text)):
        return ""
    return " ".join(text.split()).strip(_EDGES)


def _is_debris(part: str, channel: str) -> bool:
    part = part.strip()
    is_mark = len(part) <= LONGEST_MARK and _MARK.fullmatch(part) is not None
    return not part or is_mark or (bool(_key(channel)) and _key(part) == _key(channel))


def _key(name: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", name).casefold() if letter.isalnum())


def to_payload(video: Video, window: Window, context: str | None = None) -> dict[str, Any]:
    """Return the payload of a point: everything needed to filter by, and to show its scene."""
    return {
        "video": video.id,
        "title": video.title,
        "channel_id": video.channel_id,
        "channel": video.channel,
        "url": video.url,
        "published": video.published.isoformat() if video.published else None,
        "ordinal": window.ordinal,
        "start_ms": window.start_ms,
        "end_ms": window.end_ms,
        "text": window.text,
        "lines": [list(line[:2]) for line in window.lines],
        **({"speakers": speakers} if any(speakers := [line.speaker for line in window.lines]) else {}),
        "overlap_before": window.overlap_before,
        "overlap_after": window.overlap_after,
        "context": context,
    }
