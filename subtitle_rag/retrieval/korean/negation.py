"""Negated words: 안 매운, 쓰지 않는, 설탕 없이.

A negated word is a form of its own, the same in every wording: `¬맵` for 안 매운, 맵지 않은 and 매운 거 말고. Captions
have it beside the word, a query in its place.
"""

import re
from collections.abc import Iterator, Sequence

from subtitle_rag.domain.values import NEGATED, Morphemes
from subtitle_rag.retrieval.korean.readings import Token

_NOUNS = frozenset(("NNG", "NNP", "SL"))
_HEADS = _NOUNS | {"XR", "VV", "VA"}
_BETWEEN = frozenset(("JKS", "JKC", "JKO", "JX", "MAG", "NR"))
"""What may stand between a noun and its negation: particles, and adverbs (돈이 별로 없는)."""
_ADVERBS = frozenset((("안", "MAG"), ("못", "MAG")))
_LACKING = frozenset((("없", "VA"), ("없이", "MAG"), ("아니", "VCN"), ("말", "VV"), ("금지", "NNG"), ("불가", "NNG")))
"""Words behind what they negate."""
_FEELING = re.compile("(?<=.)[아어]하$")
"""Behind 좋 in 좋아하다, which Kiwi divides after 안 alone."""
_NOTHING_BUT = "밖에"
"""쓸 수밖에 없는 negates nothing."""


def negations(tokens: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    """Yield the form of each negated word, and the first and the last token of its phrase."""
    for at, token in enumerate(tokens):
        head, last = -1, at
        if _negates(token):
            is_of_adverb = at > 0 and tokens[at - 1].tag == "MAG" and tokens[at - 1].end == token.start  # 잘못
            head, last = (-1, at) if is_of_adverb else _behind(tokens, at)
        elif token.tag == "VX" and token.form in ("않", "못하", "말"):
            ending = _skip_back(tokens, at - 1)
            if ending > 0 and (tokens[ending].form, tokens[ending].tag) == ("지", "EC"):
                head = _verb(tokens, ending - 1)
            elif token.form == "못하":  # 세탁 못하는
                head = _noun(tokens, at - 1)
        elif (token.form, token.tag) in _LACKING:
            head = _lacked(tokens, at - 1) if _lacks(tokens, at) else -1
        elif token.tag == "VA" and token.form.endswith("없"):  # 재미없
            yield f"{NEGATED}{token.form[:-1]}", at, at
        if head >= 0:
            yield f"{NEGATED}{_FEELING.sub('', tokens[head].form)}", min(at, head), last


def joined_negations(text: str, analysis: Morphemes) -> tuple[str, Morphemes]:
    """Return a query in which each negated word is one word (안매운), and has no form but its own."""
    spans = [span for form, *span in _rows(analysis) if form.startswith(NEGATED)]
    if not spans:
        return text, analysis
    dropped = {at for start, end in spans for at in range(start, end) if text[at].isspace()}
    kept = [
        (form, *(at - sum(each < at for each in dropped) for at in span))
        for form, *span in _rows(analysis)
        if form.startswith(NEGATED) or not any(start <= span[0] and span[1] <= end for start, end in spans)
    ]
    joined = "".join(letter for at, letter in enumerate(text) if at not in dropped)
    forms, starts, ends = zip(*kept, strict=True)
    return joined, Morphemes(forms, starts, ends)


def _rows(analysis: Morphemes) -> Iterator[tuple[str, int, int]]:
    return zip(analysis.forms, analysis.starts, analysis.ends, strict=True)


def _behind(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """Return what 안 or 못 negates, and the last token of it; -1 for nothing."""
    verb = at + 1
    if verb == len(tokens):
        return -1, at
    form, tag = tokens[verb].form, tokens[verb].tag[:2]
    if form == "하" and (noun := _noun(tokens, at - 1)) >= 0:  # 사용을 안 하는
        return noun, verb
    if at > 1 and tokens[at - 1].tag == "EC" and (form, tokens[at - 1].form[-1]) in (("되", "면"), ("하", "지")):
        return _verb(tokens, at - 2), verb  # 쓰면 안 되는, 쓰지 못해요
    if tag not in {each[:2] for each in _HEADS}:
        return -1, at
    is_derived = verb + 1 < len(tokens) and tokens[verb + 1].tag in ("XSV", "XSA")
    return verb, verb + is_derived


def _lacks(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a word is a negation here: 말고, but not 말다, and 없는, but not 없어지는."""
    behind = [(token.form, token.tag) for token in tokens[at + 1 : at + 3]]
    if tokens[at].tag == "VV":
        return behind[:1] == [("고", "EC")]
    return ("지", "VX") not in behind


def _lacked(tokens: Sequence[Token], at: int) -> int:
    """Return the noun that there is none of, or the verb of 매운 거 말고 and 쓸 수 없는; -1 for nothing."""
    at = _skip_back(tokens, at)
    if at > 1 and tokens[at].tag == "NNB" and tokens[at - 1].tag == "ETM":
        return _verb(tokens, at - 2)
    return _noun(tokens, at)


def _noun(tokens: Sequence[Token], at: int) -> int:
    """Return the noun that ends here, before particles; -1 for none."""
    at = _skip_back(tokens, at)
    if at > 0 and tokens[at].tag == "XSN":
        at -= 1
    return at if at >= 0 and tokens[at].tag in _NOUNS else -1


def _verb(tokens: Sequence[Token], at: int) -> int:
    """Return the verb or adjective whose stem ends here, or the noun that one is made of: 사용하, 공부를 하."""
    while at > 0 and (tokens[at].tag == "EP" or (tokens[at].tag == "VX" and tokens[at - 1].tag == "EC")):
        at -= 1 if tokens[at].tag == "EP" else 2  # 하시, 먹어 보
    if at > 0 and tokens[at].tag in ("XSV", "XSA"):
        at -= 1
    elif at > 0 and tokens[at].form == "하" and (noun := _noun(tokens, at - 1)) >= 0:
        return noun
    return at if at >= 0 and tokens[at].tag.split("-")[0] in _HEADS else -1


def _skip_back(tokens: Sequence[Token], at: int) -> int:
    """Return the first token from here back that is no particle or adverb."""
    while at > 0 and tokens[at].tag in _BETWEEN and tokens[at].form != _NOTHING_BUT and not _negates(tokens[at]):
        at -= 1
    return at


def _negates(token: Token) -> bool:
    return (token.form, token.tag) in _ADVERBS
