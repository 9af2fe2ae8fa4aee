"""The check of an answer's citations: each must name a scene of the evidence that supports its claim.

The check is lexical, so a paraphrase counts as unsupported; the citation is marked and stays visible. A claim (a
sentence with its citations) is supported if the cited scenes hold its numbers and names, and at least `LEAST` of its
content morphemes. That is K-Precision, the share of an answer's words in its passages. Of the lexical measures it
agrees best with human judgements of faithfulness (Adlakha et al. 2023, arXiv 2307.16877). Of several citations behind
one claim each must carry a part of it, as in ALCE's citation precision (Gao et al. 2023, arXiv 2305.14627). Words of
two languages cannot be compared: of a claim without Hangul only the numbers are checked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from subtitle_rag.answers.answer_prompt import NOT_FOUND
from subtitle_rag.contexts import all_values, doubts, numbers
from subtitle_rag.domain import Citation, EvidenceSource, squeeze
from subtitle_rag.retrieval.korean.morphemes import QueryMorphemes, document_bigrams

LEAST = 0.5
"""The share of a claim's content morphemes; the other half may be the answerer's own words."""
LEAST_EACH = 0.25
"""The share for each of several citations of a claim."""
MOST = 20
"""Scenes in a range such as [1-9]."""

Status = Literal["supported", "unsupported", "unknown"]

_NUMBERS = r"(?:장면|scenes?|no\.?|#)?\s*\d{1,3}\s*번?"
_MARK = re.compile(rf"[\[［【]\s*({_NUMBERS}(?:\s*[,;·~–-]\s*{_NUMBERS})*)\s*[\]］】]", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\D*[~–-]\D*(\d+)|(\d+)")
_MARKS = rf"{_MARK.pattern}(?:\s*+{_MARK.pattern})*+"
_END = re.compile(rf"(?:[.!?…。！？]++[\"'”’)]*+(?:\s*+{_MARKS})?+|{_MARKS})(?=\s|$)", re.IGNORECASE)
_HEADING = re.compile(r"^[ \t]*\|[^\n]*(?=\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$)", re.MULTILINE)
"""The first line of a table: the names of its columns claim nothing."""
_LETTERS = re.compile(r"[^\W\d_]")
_HANGUL = re.compile("[가-힣]")
_TALK_WORDS = "장면 영상 자막 문맥 내용 부분 설명 언급 소개 이야기 얘기 말 말하 하 있 없 되 나오 보이 것 수 등"
_TALK = frozenset(_TALK_WORDS.split())
"""Words about scenes rather than in them."""


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """An answer's citations in order; `uncited` are the spans of claims without any."""

    citations: tuple[Citation, ...]
    uncited: tuple[tuple[int, int], ...]
    declined: bool
    """It says that the scenes do not hold the answer."""


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence's span, and the marks behind it."""

    start: int
    end: int
    text: str
    marks: tuple[_Mark, ...]


def check_citations(answer: str, sources: Sequence[EvidenceSource], analyzer: QueryMorphemes) -> CitationCheck:
    """Look up every citation of an answer in the scenes of its evidence."""
    claims = _claims(answer)
    scenes = {source.number: source for source in sources}
    cited = sorted({n for claim in claims for mark in claim.marks for n in mark.numbers if n in scenes})
    texts = [claim.text for claim in claims] + [_all_of(scenes[n]) for n in cited]
    forms = [frozenset(each.forms) - _TALK for each in analyzer.morphemes(texts)] if cited else []
    of_sources = dict(zip(cited, forms[len(claims) :], strict=True))
    citations: list[Citation] = []
    for claim, claim_forms in zip(claims, forms or [frozenset()] * len(claims), strict=False):
        claim_scenes = {n: scenes[n] for mark in claim.marks for n in mark.numbers if n in scenes}
        supporting, missing = _support(claim.text, claim_forms, claim_scenes, of_sources)
        for mark in claim.marks:
            for n in mark.numbers:
                status: Status = "unknown" if n not in scenes else "supported" if n in supporting else "unsupported"
                lacks = missing if status == "unsupported" else ()
                at = _nearest(claim.text, scenes[n]) if n in scenes else None
                citations.append(Citation(n, status, (mark.start, mark.end), (claim.start, claim.end), lacks, at))
    flat = squeeze(answer)
    declined = not citations and any(squeeze(text).rstrip(".") in flat for text in NOT_FOUND.values())
    uncited = tuple((claim.start, claim.end) for claim in claims if not claim.marks)
    return CitationCheck(tuple(citations), () if declined else uncited, declined)


def _support(
    claim: str, forms: frozenset[str], cited: Mapping[int, EvidenceSource], of_sources: Mapping[int, frozenset[str]]
) -> tuple[frozenset[int], tuple[str, ...]]:
    """Return the cited scenes that support a claim, and its numbers and names that none of them holds."""
    if not cited:
        return frozenset(), ()
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
    """Join all text that the model read of a scene."""
    return "\n".join(filter(None, (source.video.title, source.context, source.text)))


def _nearest(claim: str, source: EvidenceSource) -> int:
    """Return the start of the line that, with the next one, shares most bigrams with a claim; else the question's."""
    bigrams = document_bigrams(claim).keys()
    counts = [len(bigrams & document_bigrams(text).keys()) for _start, text in source.lines]
    shared = [(2 * line + after, line) for line, after in zip(counts, [*counts[1:], 0], strict=True)]
    best = max(shared, default=(0, 0))
    return source.lines[shared.index(best)][0] if best[0] else source.at_ms


def _claims(answer: str) -> list[_Claim]:
    """Return the sentences with words. A line of nothing but marks belongs to the claim before it."""
    claims: list[_Claim] = []
    answer = _HEADING.sub(lambda heading: " " * len(heading[0]), answer)
    for line in re.finditer(r"[^\n]+", answer):
        marks = [_Mark(m.start(), m.end(), _numbers(m[1])) for m in _MARK.finditer(answer, line.start(), line.end())]
        ends = _sentence_ends(answer, line.start(), line.end(), marks)
        of_line: list[_Claim] = []
        start = line.start()
        for end in ends:
            span_marks = tuple(mark for mark in marks if start <= mark.start < end)
            claim = _claim(answer, start, end, span_marks)
            if claim:
                of_line.append(claim)
            elif of_line:
                of_line[-1] = replace(of_line[-1], marks=(*of_line[-1].marks, *span_marks))
            start = end
        if not of_line and claims:
            claims[-1] = replace(claims[-1], marks=(*claims[-1].marks, *marks))
        claims += of_line
    return claims


def _sentence_ends(answer: str, start: int, end: int, marks: Sequence[_Mark]) -> list[int]:
    """Return the ends of a line's claims: behind their marks, or before them in a line that begins with one."""
    if marks and not _LETTERS.search(answer, start, marks[0].start):
        gaps = [(before.end, mark.start) for before, mark in pairwise(marks)]
        ends = [after for before, after in gaps if _LETTERS.search(answer, before, after)]
        if ends and not _LETTERS.search(answer, marks[-1].end, end):
            ends.pop()
        return [*ends, end]
    return [*(match.end() for match in _END.finditer(answer, start, end)), end]


def _claim(answer: str, start: int, end: int, marks: tuple[_Mark, ...]) -> _Claim | None:
    """Return the claim in a span, or None for a span without words."""
    piece = answer[start:end]
    text = " ".join(_MARK.sub(" ", piece).split())
    if not _LETTERS.search(text):
        return None
    lead = start + len(piece) - len(piece.lstrip())
    return _Claim(lead, start + len(piece.rstrip()), text, marks)


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of one mark: 1, 3 and 4 of `1, 장면 3-4`."""
    scenes: list[int] = []
    for match in _RANGE.finditer(text):
        first, last = int(match[1] or match[3]), int(match[2] or match[3])
        scenes += range(first, last + 1) if 0 <= last - first < MOST else (first, last)
    return tuple(dict.fromkeys(scenes))
