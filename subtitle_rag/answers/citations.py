"""Whether an answer's citations hold: each names a scene that was given, and what it stands behind is borne out there.

The check is lexical, so what is told in other words counts as unsupported; that marks a citation and hides nothing.
A claim (a sentence with its citations) is borne out where its numbers and names stand in the cited scenes, and at least
`LEAST` of its content morphemes do: K-Precision, the share of an answer's words that its passages hold, which goes with
what people call faithful better than other lexical measures do (Adlakha et al. 2023, arXiv 2307.16877). Of several
citations behind one claim each must carry a part of it, as in ALCE's citation precision (Gao et al. 2023, arXiv
2305.14627). Between two languages words cannot be compared: of a claim without Hangul only the numbers are looked at.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from subtitle_rag.answers.prompt import NOT_FOUND
from subtitle_rag.contexts.grounding import all_values, doubts, numbers
from subtitle_rag.events import Citation, EvidenceSource
from subtitle_rag.retrieval.morphemes import QueryMorphemes, document_bigrams

LEAST = 0.5
"""Of a claim's content morphemes; half of them may be the answerer's own words."""
LEAST_EACH = 0.25
"""That each of several citations of a claim carries alone."""
MOST = 20
"""Scenes that a range such as [1-9] may name."""

Status = Literal["supported", "unsupported", "unknown"]

_NUMBERS = r"(?:장면|scenes?|no\.?|#)?\s*\d{1,3}\s*번?"
_MARK = re.compile(rf"[\[［【]\s*({_NUMBERS}(?:\s*[,;·~–-]\s*{_NUMBERS})*)\s*[\]］】]", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\D*[~–-]\D*(\d+)|(\d+)")
_MARKS = rf"{_MARK.pattern}(?:\s*+{_MARK.pattern})*+"
_END = re.compile(rf"(?:[.!?…。！？]++[\"'”’)]*+(?:\s*+{_MARKS})?+|{_MARKS})(?=\s|$)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]")
_HANGUL = re.compile("[가-힣]")
_TALK_WORDS = "장면 영상 자막 문맥 내용 부분 설명 언급 소개 이야기 얘기 말 말하 하 있 없 되 나오 보이 것 수 등"
_TALK = frozenset(_TALK_WORDS.split())
"""Words about scenes rather than in them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer with its citations, in order; `uncited` are the spans of claims that cite nothing."""

    citations: tuple[Citation, ...]
    uncited: tuple[tuple[int, int], ...]
    declined: bool
    """It says that the scenes do not hold the answer."""

    @property
    def grounded(self) -> bool:
        """Whether any citation holds."""
        return any(citation.status == "supported" for citation in self.citations)


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence's span, and the marks that stand behind it."""

    start: int
    end: int
    text: str
    marks: tuple[_Mark, ...]


def checked(answer: str, sources: Sequence[EvidenceSource], analyzer: QueryMorphemes) -> Checked:
    """Look every citation of an answer up in the scenes that were given for it."""
    found = _claims(answer)
    known = {source.number: source for source in sources}
    cited = sorted({n for claim in found for mark in claim.marks for n in mark.numbers if n in known})
    texts = [claim.text for claim in found] + [_all_of(known[n]) for n in cited]
    forms = [frozenset(each.forms) - _TALK for each in analyzer.morphemes(texts)] if cited else []
    of_sources = dict(zip(cited, forms[len(found) :], strict=True))
    citations: list[Citation] = []
    for claim, own_forms in zip(found, forms or [frozenset()] * len(found), strict=False):
        own = {n: known[n] for mark in claim.marks for n in mark.numbers if n in known}
        held, missing = _held(claim.text, own_forms, own, of_sources) if own else (frozenset(), ())
        for mark in claim.marks:
            for n in mark.numbers:
                status: Status = "unknown" if n not in known else "supported" if n in held else "unsupported"
                lacks = missing if status == "unsupported" else ()
                at = _nearest(claim.text, known[n]) if n in known else None
                citations.append(Citation(n, status, (mark.start, mark.end), (claim.start, claim.end), lacks, at))
    flat = _squeezed(answer)
    declined = not citations and any(_squeezed(text).rstrip(".") in flat for text in NOT_FOUND.values())
    uncited = tuple((claim.start, claim.end) for claim in found if not claim.marks)
    return Checked(tuple(citations), () if declined else uncited, declined)


def _held(
    claim: str, forms: frozenset[str], cited: Mapping[int, EvidenceSource], of_sources: Mapping[int, frozenset[str]]
) -> tuple[frozenset[int], tuple[str, ...]]:
    """The cited scenes that bear a claim out, and the numbers and names of it that stand in none of them."""
    speech = "\n".join(_all_of(source) for source in cited.values())
    if not _HANGUL.search(claim):
        values = all_values(speech)
        missing = tuple(number.text for number in numbers(claim) if not number.values & values)
        return (frozenset() if missing else frozenset(cited)), missing
    missing = tuple(dict.fromkeys(doubt.text for doubt in doubts(claim, transcript=speech, title="")))
    together = frozenset().union(*(of_sources[n] for n in cited))
    if missing or (forms and len(forms & together) < LEAST * len(forms)):
        return frozenset(), missing
    if len(cited) == 1 or not forms:
        return frozenset(cited), ()
    return frozenset(n for n in cited if len(forms & of_sources[n]) >= LEAST_EACH * len(forms)), ()


def _all_of(source: EvidenceSource) -> str:
    """Everything that the model was told of a scene."""
    return "\n".join(filter(None, (source.video.title, source.context, source.text)))


def _nearest(claim: str, source: EvidenceSource) -> int:
    """Where the line begins that, with the next one, shares most letter pairs with a claim; else the question's."""
    wanted = document_bigrams(claim).keys()
    own = [len(wanted & document_bigrams(text).keys()) for _start, text in source.lines]
    shared = [(2 * line + after, line) for line, after in zip(own, [*own[1:], 0], strict=True)]
    best = max(shared, default=(0, 0))
    return source.lines[shared.index(best)][0] if best[0] else source.at_ms


def _claims(answer: str) -> list[_Claim]:
    """The sentences that say something. A line of nothing but marks belongs to the claim before it."""
    found: list[_Claim] = []
    for line in re.finditer(r"[^\n]+", answer):
        marks = [_Mark(m.start(), m.end(), _numbers(m[1])) for m in _MARK.finditer(answer, line.start(), line.end())]
        ends = _sentence_ends(answer, line.start(), line.end(), marks)
        own: list[_Claim] = []
        start = line.start()
        for end in ends:
            here = tuple(mark for mark in marks if start <= mark.start < end)
            claim = _claim(answer, start, end, here)
            if claim:
                own.append(claim)
            elif own:
                own[-1] = replace(own[-1], marks=(*own[-1].marks, *here))
            start = end
        if not own and found:
            found[-1] = replace(found[-1], marks=(*found[-1].marks, *marks))
        found += own
    return found


def _sentence_ends(answer: str, start: int, end: int, marks: Sequence[_Mark]) -> list[int]:
    """Where the claims of a line end: behind their marks, or before them in a line that begins with one."""
    if marks and not _LETTERS.search(answer, start, marks[0].start):
        gaps = [(before.end, mark.start) for before, mark in pairwise(marks)]
        ends = [after for before, after in gaps if _LETTERS.search(answer, before, after)]
        if ends and not _LETTERS.search(answer, marks[-1].end, end):
            ends.pop()
        return [*ends, end]
    return [*(match.end() for match in _END.finditer(answer, start, end)), end]


def _claim(answer: str, start: int, end: int, marks: tuple[_Mark, ...]) -> _Claim | None:
    """The claim that stands there, if anything does."""
    piece = answer[start:end]
    said = " ".join(_MARK.sub(" ", piece).split())
    if not _LETTERS.search(said):
        return None
    lead = start + len(piece) - len(piece.lstrip())
    return _Claim(lead, start + len(piece.rstrip()), said, marks)


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of one mark: 1, 3 and 4 of `1, 장면 3-4`."""
    found: list[int] = []
    for match in _RANGE.finditer(text):
        first, last = int(match[1] or match[3]), int(match[2] or match[3])
        found += range(first, last + 1) if 0 <= last - first < MOST else (first, last)
    return tuple(dict.fromkeys(found))


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()
