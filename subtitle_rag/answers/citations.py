"""Check of an answer's citations: each must name a scene in the evidence that supports its claim.

The check is lexical; a citation that fails it is marked and stays visible. A claim (a sentence with its citations) is
supported if the cited scenes do not contradict it (`contexts.claims`) and have at least `LEAST` of its content
morphemes. This is K-Precision, the share of an answer's words in its passages, the lexical measure that agrees best
with human judgements of faithfulness (Adlakha et al. 2023, arXiv 2307.16877). If a claim has several citations, each
must support part of it, as in ALCE's citation precision (Gao et al. 2023, arXiv 2305.14627). Words of two languages
cannot be compared: in a claim without Hangul only the numbers are checked.

A claim without a citation is compared with the scenes most like it, as if it cited them. If they do not support it, it
is unfounded; words to the reader and short headings claim nothing. A sentence too short for a share is unfounded if no
scene has anything like one of its nouns.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

from subtitle_rag.answers.answer_prompt import NOT_FOUND
from subtitle_rag.base.domain.answer_values import Citation, EvidenceSource, UnfoundedClaim, WordCount
from subtitle_rag.base.domain.values import squeeze
from subtitle_rag.contexts.claims import Said, Verdict, claim_text, spelling
from subtitle_rag.contexts.glossary import ORDINARY
from subtitle_rag.contexts.grounding import all_values, numbers
from subtitle_rag.contexts.sentence_filters import is_closer, is_preamble, is_refusal
from subtitle_rag.korean.morphemes import (
    QueryMorphemes,
    SentenceAnalyzer,
    TaggedWord,
    document_bigrams,
)

LEAST = 0.34
"""Minimum share of a claim's content morphemes in its scenes; the rest may be the model's own words."""
LEAST_EACH = 0.25
"""Minimum share for each of a claim's citations, if there are several."""
NEAREST = 5
"""Scenes to compare with a claim that has no citation."""
HEADING = 2
"""Maximum content morphemes of a heading, or of a sentence too short for a share."""
MOST = 20
"""Maximum scenes in a range such as [1-9]."""

Status = Literal["supported", "unsupported", "unchecked"]

_NUMBERS = r"(?:장면|scenes?|no\.?|#)?\s*\d{1,3}\s*번?"
MARK = re.compile(rf"[\[［【]\s*({_NUMBERS}(?:\s*[,;·~–-]\s*{_NUMBERS})*)\s*[\]］】]", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\D*[~–-]\D*(\d+)|(\d+)")
"""A citation; the group has its numbers."""
MARKS = rf"{MARK.pattern}(?:\s*+{MARK.pattern})*+"
"""Pattern of consecutive citations."""
_END = re.compile(rf"(?:[.!?…。！？]++[\"'”’)]*+(?:\s*+{MARKS})?+|{MARKS})(?=\s|$)", re.IGNORECASE)
_HEADING = re.compile(r"^[ \t]*\|[^\n]*(?=\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$)", re.MULTILINE)
"""First line of a table: the names of its columns claim nothing."""
_NO_ANSWER = re.compile(
    r"(?:장면|자막|영상|답|정보|내용).{0,40}(?:없습니다|없어요|않습니다|않아요|못했습니다|못합니다|어렵습니다)\W*$"
    r"|^(?:잘 )?알 수(?:가)? 없(?:습니다|어요|다)\W*$|\bI (?:do not|don't) know\b"
    r"|\bscenes? (?:do(?:es)? not|don't|doesn't) (?:hold|say|mention|contain|give)",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]")
_HANGUL = re.compile("[가-힣]")
_NOUN = re.compile("[가-힣]{2,}")
_TALK_WORDS = "장면 영상 자막 문맥 내용 부분 설명 언급 소개 이야기 얘기 말 말하 하 있 없 되 나오 보이 것 수 등"
_TALK = frozenset(_TALK_WORDS.split())
"""Words about scenes rather than in them."""
_ANSWER_WORDS = "질문 답 답변 대답 정보 결론 요약 결과 참고 도움 궁금 추가 확인 정리"
_OF_ANSWERS = ORDINARY.union(_TALK, _ANSWER_WORDS.split())
"""Nouns that an answer may add by itself."""
_COUNTED = re.compile(r"\d ?(?:곳|군데|편|번|회|places?|videos?|times)", re.IGNORECASE)
_CONTENT = ("NNG", "NNP", "XR", "VV", "VA", "SL")
"""Parts of speech that a scene may have."""
_SENTENCE = re.compile(r"[다요죠][.!。]*$")
"""The end of a Korean statement."""


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """An answer's citations in order; `uncited` are the spans of claims without any."""

    citations: tuple[Citation, ...]
    uncited: tuple[tuple[int, int], ...]
    unfounded: tuple[UnfoundedClaim, ...]
    """The uncited claims that no scene supports."""
    declined: bool
    """Whether the answer says that the scenes do not have it."""


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence's span, and the citation marks after it."""

    start: int
    end: int
    text: str
    marks: tuple[_Mark, ...]


_Scene = tuple[EvidenceSource, str, Sequence[TaggedWord]]
"""A scene, the text to compare, and its analysis."""


def check_citations(
    answer: str,
    sources: Sequence[EvidenceSource],
    analyzer: SentenceAnalyzer,
    counts: Sequence[WordCount] = (),
    known: Sequence[str] = (),
) -> CitationCheck:
    """Look up every citation of an answer in the scenes of its evidence.

    Args:
        answer: the text.
        sources: the scenes.
        analyzer: for the morphemes.
        counts: word counts given to the model with the scenes.
        known: texts with names that captions may misspell: glossary, description.
    """
    claims = [claim for claim in _claims(answer) if claim.marks or not _is_count(claim, counts)]
    scenes = {source.number: source for source in sources}
    declined = not any(claim.marks for claim in claims) and _is_refusal(answer, claims)
    cited = [_cited_scenes(claim, scenes) if claim.marks else _nearest_scenes(claim, sources) for claim in claims]
    looked_up = {n: scenes[n] for n in sorted(set().union(*cited))}
    texts = [claim_text(claim.text) for claim in claims]
    spoken = {n: claim_text("\n".join(filter(None, (source.context, source.text)))) for n, source in looked_up.items()}
    heads = {n: claim_text(source.video.title) for n, source in looked_up.items()}
    tagged = analyzer.tagged([*texts, *spoken.values(), *heads.values()]) if looked_up else [[]] * len(texts)
    of_texts, of_scenes, of_heads = (
        tagged[: len(texts)],
        dict(zip(spoken, tagged[len(texts) :], strict=False)),
        dict(zip(heads, tagged[len(texts) + len(spoken) :], strict=False)),
    )
    of_sources = {n: _scene_words(_all_of(looked_up[n]), [*of_scenes[n], *of_heads[n]]) for n in looked_up}
    analyses = [_claim_words(text, tags) for text, tags in zip(texts, of_texts, strict=True)]
    cited = [
        numbers if claim.marks else _related(numbers, words, of_sources)
        for claim, numbers, words in zip(claims, cited, analyses, strict=True)
    ]
    verdicts = _verdicts(
        texts, of_texts, cited, {n: (source, spoken[n], of_scenes[n]) for n, source in looked_up.items()}, known
    )
    unfounded = [
        UnfoundedClaim((claim.start, claim.end), fault.missing, fault.otherwise)
        for claim, words, numbers, verdict in zip(claims, analyses, cited, verdicts, strict=True)
        if not (claim.marks or declined) and _claims_something(claim)
        for fault in _faults(claim.text, words, {n: scenes[n] for n in numbers}, of_sources, verdict)
    ]
    citations = [
        citation
        for claim, words, verdict in zip(claims, analyses, verdicts, strict=True)
        for citation in _citations(
            claim,
            words,
            scenes,
            of_sources,
            Verdict() if _is_count(claim, counts) else verdict,
            is_count=_is_count(claim, counts),
        )
    ]
    uncited = tuple((claim.start, claim.end) for claim in claims if not claim.marks)
    return CitationCheck(tuple(citations), () if declined else uncited, tuple(unfounded), declined)


def _verdicts(
    texts: Sequence[str],
    tagged: Sequence[Sequence[TaggedWord]],
    cited: Sequence[set[int]],
    scenes: Mapping[int, _Scene],
    known: Sequence[str],
) -> list[Verdict]:
    """Return what all of a claim's scenes together do not say, for each claim.

    Args:
        texts: the claims.
        tagged: their analyses.
        cited: the numbers of each claim's scenes.
        scenes: the scenes by number.
        known: texts with known names.
    """
    prepared: dict[frozenset[int], Said] = {}
    verdicts = []
    for text, tags, group in zip(texts, tagged, map(frozenset, cited), strict=True):
        of_claim = [scenes[n] for n in sorted(group)]
        if not (of_claim and _HANGUL.search(text)):
            verdicts.append(Verdict(_missing_numbers(text, [source for source, _text, _tags in of_claim])))
            continue
        if group not in prepared:
            prepared[group] = _said(of_claim, known)
        verdicts.append(prepared[group].verdict(text, tags))
    return verdicts


def _said(scenes: Sequence[_Scene], known: Sequence[str]) -> Said:
    """Prepare several scenes as one text."""
    text, tags = "", list[TaggedWord]()
    for _source, spoken, tagged in scenes:
        tags += (word._replace(start=word.start + len(text), end=word.end + len(text)) for word in tagged)
        text += f"{spoken}\n"
    heads = (head for source, _text, _tags in scenes for head in (source.video.title, source.video.channel))
    return Said(text, tags, (*heads, *known))


def _missing_numbers(claim: str, scenes: Sequence[EvidenceSource]) -> tuple[str, ...]:
    values = all_values("\n".join(map(_all_of, scenes)))
    return tuple(number.text for number in numbers(claim) if scenes and not number.values & values)


def _is_count(claim: _Claim, counts: Sequence[WordCount]) -> bool:
    """Whether a claim gives a word's number of uses, and that number is right."""
    told = numbers(claim.text) if counts and _COUNTED.search(claim.text) else []
    return bool(told) and any(
        squeeze(word) in squeeze(claim.text) and all(number.values & {videos, places} for number in told)
        for word, videos, places in counts
    )


def _is_refusal(answer: str, claims: Sequence[_Claim]) -> bool:
    """Whether an answer without citations says only that the scenes do not have it, apart from politeness."""
    flat = squeeze(answer)
    if any(squeeze(text).rstrip(".") in flat for text in NOT_FOUND.values()):
        return True
    statements = [claim for claim in claims if not (is_preamble(claim.text) or is_closer(claim.text))]
    return bool(statements) and all(is_refusal(claim.text) or _says_no_answer(claim) for claim in statements)


def unsaid_words(question: str, sources: Sequence[EvidenceSource], analyzer: QueryMorphemes) -> tuple[str, ...]:
    """Return the question's words that no scene has; none if at least half are there, since others may be synonyms."""
    question_analysis, *scene_analyses = analyzer.morphemes([question, *map(_all_of, sources)])
    speech = squeeze(" ".join(map(_all_of, sources)))
    forms = frozenset(_TALK).union(*(each.forms for each in scene_analyses))
    words = {
        form: question[start:end]
        for form, start, end in zip(
            question_analysis.forms, question_analysis.starts, question_analysis.ends, strict=True
        )
        if len(form) > 1 and form not in _TALK
    }
    unsaid = [word for form, word in words.items() if form not in forms and squeeze(word) not in speech]
    return tuple(unsaid) if len(unsaid) > 1 and 2 * len(unsaid) > len(words) else ()


class _ClaimWords(NamedTuple):
    """The words of a claim that a scene may have."""

    words: Mapping[str, str] = MappingProxyType({})
    """Each content morpheme with its word's letters up to it."""
    nouns: Mapping[str, str] = MappingProxyType({})
    """Nouns of several syllables, as written."""
    checked: int = 0
    """Number of numbers and Latin names, which are checked separately."""


class _SceneWords(NamedTuple):
    """The words of a scene, and its letters, since the analyzer may divide the same word differently."""

    forms: frozenset[str]
    letters: str

    def has(self, claim: _ClaimWords) -> int:
        """Return how many of a claim's words are here; a verb may lack its second part."""
        return sum(
            form in self.forms or form[:-1] in self.forms or (len(word) > 1 and word in self.letters)
            for form, word in claim.words.items()
        )


def _is_content(word: TaggedWord) -> bool:
    return word.tag.startswith(_CONTENT)


def _scene_words(text: str, tags: Sequence[TaggedWord]) -> _SceneWords:
    return _SceneWords(frozenset(spelling(word.form) for word in tags if _is_content(word)), squeeze(text))


def _claim_words(text: str, tags: Sequence[TaggedWord]) -> _ClaimWords:
    """Return the words of a claim."""
    words: dict[str, str] = {}
    nouns: dict[str, str] = {}
    for word in tags:
        if not _is_content(word) or word.tag == "SL" or word.form in _TALK:
            continue
        words[spelling(word.form)] = squeeze(text[text.rfind(" ", 0, word.start) + 1 : word.end])
        if word.tag.startswith("NN") and word.form not in _OF_ANSWERS and _NOUN.fullmatch(word.form):
            nouns[word.form] = text[word.start : word.end]
    return _ClaimWords(words, nouns, sum(word.tag in ("SN", "NR", "SL") for word in tags))


def _cited_scenes(claim: _Claim, scenes: Mapping[int, EvidenceSource]) -> set[int]:
    """Return the numbers of the existing scenes that a claim cites."""
    return {n for mark in claim.marks for n in mark.numbers if n in scenes}


def _citations(
    claim: _Claim,
    words: _ClaimWords,
    scenes: Mapping[int, EvidenceSource],
    of_sources: Mapping[int, _SceneWords],
    verdict: Verdict,
    *,
    is_count: bool,
) -> Iterator[Citation]:
    """Yield the citations of a claim, each with its fault and the matching moment.

    Args:
        claim: the claim.
        words: its words.
        scenes: the scenes by number.
        of_sources: their words.
        verdict: what the scenes do not say.
        is_count: whether the claim is a right count, which needs no scene.
    """
    cited = {n: scenes[n] for n in _cited_scenes(claim, scenes)}
    supporting = frozenset(cited) if is_count else _supporting(claim.text, words, cited, of_sources, verdict)
    for mark in claim.marks:
        for n in mark.numbers:
            status: Status = "supported" if n in supporting else "unsupported"
            if n in scenes and not (verdict or is_count or _is_comparable(claim, scenes[n])):
                status = "unchecked"
            fault = verdict if status == "unsupported" else Verdict()
            at = _nearest(claim.text, scenes[n]) if n in scenes else None
            spans = (mark.start, mark.end), (claim.start, claim.end)
            yield Citation(n, status, *spans, fault.missing, fault.otherwise, at)


def _is_comparable(claim: _Claim, scene: EvidenceSource) -> bool:
    """Whether a sentence claims something in the language of the captions."""
    is_korean = bool(_HANGUL.search(claim.text))
    return is_korean == bool(_HANGUL.search(scene.text)) and _claims_something(claim)


def _nearest_scenes(claim: _Claim, sources: Sequence[EvidenceSource]) -> set[int]:
    """Return the numbers of the scenes that share most bigrams with a claim."""
    bigrams = document_bigrams(claim.text).keys()
    shared = {source.number: len(bigrams & document_bigrams(_all_of(source)).keys()) for source in sources}
    return set(sorted(shared, key=lambda number: (-shared[number], number))[:NEAREST])


def _related(numbers: set[int], words: _ClaimWords, of_sources: Mapping[int, _SceneWords]) -> set[int]:
    """Return the scenes with some of a claim's words; all if none has any."""
    return {n for n in numbers if of_sources[n].has(words) >= LEAST_EACH * len(words.words)} or numbers


def _faults(
    claim: str,
    words: _ClaimWords,
    scenes: Mapping[int, EvidenceSource],
    of_sources: Mapping[int, _SceneWords],
    verdict: Verdict,
) -> list[Verdict]:
    """Return an unfounded claim's missing words as one item; empty if the claim is supported.

    Args:
        claim: the text.
        words: its words.
        scenes: the scenes by number.
        of_sources: their words.
        verdict: what the scenes do not say.
    """
    if not scenes or _supporting(claim, words, scenes, of_sources, verdict):
        return []
    if len(words.words) <= HEADING and not verdict:
        missing = _unsaid_nouns(claim, words.nouns, scenes)
        return [Verdict(missing)] if missing else []
    return [verdict]


def _unsaid_nouns(claim: str, nouns: Mapping[str, str], scenes: Mapping[int, EvidenceSource]) -> tuple[str, ...]:
    """Return the nouns of a short sentence if no scene has any two letters of one, even misspelled.

    Of 484 true answers of KorQuAD as such sentences none is found; of answers to other paragraphs .83. Of 694 nouns in
    scene_bench's answers, mostly in other words than the scenes', .06; of those to other questions .82.
    """
    speech = squeeze("\n".join(map(_all_of, scenes.values())))
    is_said = any(noun[at : at + 2] in speech for noun in nouns for at in range(len(noun) - 1))
    return () if is_said or not _SENTENCE.search(claim) else tuple(nouns.values())


def makes_claims(answer: str) -> bool:
    """Whether a sentence of an answer is about the videos, rather than about the answer or its absence."""
    return any(map(_claims_something, _claims(answer)))


def _claims_something(claim: _Claim) -> bool:
    """Whether a sentence is about the videos, rather than about the answer."""
    return not (is_preamble(claim.text) or is_closer(claim.text) or is_refusal(claim.text) or _says_no_answer(claim))


def _says_no_answer(claim: _Claim) -> bool:
    return bool(_NO_ANSWER.search(claim.text))


def _supporting(
    claim: str,
    words: _ClaimWords,
    cited: Mapping[int, EvidenceSource],
    of_sources: Mapping[int, _SceneWords],
    verdict: Verdict,
) -> frozenset[int]:
    """Return the cited scenes that support a claim.

    Args:
        claim: the text.
        words: its words.
        cited: the cited scenes by number.
        of_sources: their words.
        verdict: what the scenes do not say.
    """
    if not cited or verdict:
        return frozenset()
    if not _HANGUL.search(claim):
        return frozenset(cited)
    together = _SceneWords(
        frozenset().union(*(of_sources[n].forms for n in cited)), "\n".join(of_sources[n].letters for n in cited)
    )
    if together.has(words) + words.checked < LEAST * (len(words.words) + words.checked):
        return frozenset()
    if len(cited) == 1 or not words.words:
        return frozenset(cited)
    return frozenset(n for n in cited if of_sources[n].has(words) >= LEAST_EACH * len(words.words))


def _all_of(source: EvidenceSource) -> str:
    """Join all text of a scene that the model has read."""
    return "\n".join(filter(None, (source.video.title, source.context, source.text)))


def _nearest(claim: str, source: EvidenceSource) -> int:
    """Return the start of the line that, with the next one, shares most bigrams with a claim; else the scene's own."""
    bigrams = document_bigrams(claim).keys()
    counts = [len(bigrams & document_bigrams(text).keys()) for _start, text in source.lines]
    shared = [(2 * line + after, line) for line, after in zip(counts, [*counts[1:], 0], strict=True)]
    best = max(shared, default=(0, 0))
    return source.lines[shared.index(best)][0] if best[0] else source.at_ms


def _claims(answer: str) -> list[_Claim]:
    """Return the sentences with words. A line of only marks belongs to the claim before it."""
    claims: list[_Claim] = []
    answer = _HEADING.sub(lambda heading: " " * len(heading[0]), answer)
    for line in re.finditer(r"[^\n]+", answer):
        marks = [_Mark(m.start(), m.end(), mark_numbers(m[1])) for m in MARK.finditer(answer, line.start(), line.end())]
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
    """Return the ends of a line's claims: after their marks, or before the marks if the line begins with one."""
    if marks and not _LETTERS.search(answer, start, marks[0].start):
        gaps = [(before.end, mark.start) for before, mark in pairwise(marks)]
        ends = [after for before, after in gaps if _LETTERS.search(answer, before, after)]
        if ends and not _LETTERS.search(answer, marks[-1].end, end):
            ends.pop()
        return [*ends, end]
    return [*(match.end() for match in _END.finditer(answer, start, end)), end]


def _claim(answer: str, start: int, end: int, marks: tuple[_Mark, ...]) -> _Claim | None:
    """Return the claim in a span, or None if it has no words."""
    piece = answer[start:end]
    text = " ".join(MARK.sub(" ", piece).split())
    if not _LETTERS.search(text):
        return None
    lead = start + len(piece) - len(piece.lstrip())
    return _Claim(lead, start + len(piece.rstrip()), text, marks)


def mark_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of one mark: 1, 3 and 4 of `1, 장면 3-4`."""
    scenes: list[int] = []
    for match in _RANGE.finditer(text):
        first, last = int(match[1] or match[3]), int(match[2] or match[3])
        scenes += range(first, last + 1) if 0 <= last - first < MOST else (first, last)
    return tuple(dict.fromkeys(scenes))
