"""Negated words: 안 매운, 쓰지 않는, 설탕 없이.

A negated word has one form for every wording: `¬맵` for 안 매운, 맵지 않은 and 매운 거 말고. Captions have it in
addition to the word, a query instead of it.
"""

import re
from collections.abc import Iterator, Sequence

from subtitle_rag.base.domain.values import NEGATED, Morphemes
from subtitle_rag.korean.readings import Token

_NOUNS = frozenset(("NNG", "NNP", "SL"))
_HEADS = _NOUNS | {"XR", "VV", "VA"}
_BETWEEN = frozenset(("JKS", "JKC", "JKO", "JX", "MAG", "NR"))
"""Parts of speech allowed between a noun and its negation: particles, and adverbs (돈이 별로 없는)."""
_ADVERBS = frozenset((("안", "MAG"), ("못", "MAG")))
_LACKING = frozenset((("없", "VA"), ("없이", "MAG"), ("아니", "VCN"), ("말", "VV"), ("금지", "NNG"), ("불가", "NNG")))
"""Negations that follow their word."""
_FORMS = frozenset(form for form, _tag in _ADVERBS | _LACKING) | {"않", "못하"}
"""Forms of negations; adjectives with 없 at their end are others."""
_FEELING = re.compile("(?<=.)[아어]하$")
"""The end of 좋아하다 after 좋, which Kiwi splits off after 안 only."""
_NOTHING_BUT = "밖에"
"""쓸 수밖에 없는 negates nothing."""


def negations(tokens: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    """Yield the form of each negated word, and the first and last token of its phrase."""
    for at, token in enumerate(tokens):
        form = token.form
        if form not in _FORMS and form[-1:] != "없":
            continue
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
    """Return a query with each negated word joined into one (안매운) that has only its negated form."""
    spans = [span for form, *span in _rows(analysis) if form.startswith(NEGATED)]
    if not spans:
        return text, analysis
    dropped = {at for start, end in spans for at in range(start, end) if text[at].isspace()}
    rows = [
        (form, *(at - sum(each < at for each in dropped) for at in span))
        for form, *span in _rows(analysis)
        if form.startswith(NEGATED) or not any(start <= span[0] and span[1] <= end for start, end in spans)
    ]
    joined = "".join(letter for at, letter in enumerate(text) if at not in dropped)
    forms, starts, ends = zip(*rows, strict=True)
    return joined, Morphemes(forms, starts, ends)


def _rows(analysis: Morphemes) -> Iterator[tuple[str, int, int]]:
    return zip(analysis.forms, analysis.starts, analysis.ends, strict=True)


def _behind(tokens: Sequence[Token], at: int) -> tuple[int, int]:
    """Return the token negated by 안 or 못, and the last token of the phrase; -1 for none."""
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
    """Return whether a word is a negation here: 말고, but not 말다; 없는, but not 없어지는."""
    behind = [(token.form, token.tag) for token in tokens[at + 1 : at + 3]]
    if tokens[at].tag == "VV":
        return behind[:1] == [("고", "EC")]
    return ("지", "VX") not in behind


def _lacked(tokens: Sequence[Token], at: int) -> int:
    """Return the missing noun, or the verb of 매운 거 말고 and 쓸 수 없는; -1 for none."""
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
    """Return the verb or adjective stem that ends here, or the noun of a verb (사용하, 공부를 하); -1 for none."""
    while at > 0 and (tokens[at].tag == "EP" or (tokens[at].tag == "VX" and tokens[at - 1].tag == "EC")):
        at -= 1 if tokens[at].tag == "EP" else 2  # 하시, 먹어 보
    if at > 0 and tokens[at].tag in ("XSV", "XSA"):
        at -= 1
    elif at > 0 and tokens[at].form == "하" and (noun := _noun(tokens, at - 1)) >= 0:
        return noun
    return at if at >= 0 and tokens[at].tag.split("-")[0] in _HEADS else -1


def _skip_back(tokens: Sequence[Token], at: int) -> int:
    """Return the first token before this one that is no particle or adverb."""
    while at > 0 and tokens[at].tag in _BETWEEN and tokens[at].form != _NOTHING_BUT and not _negates(tokens[at]):
        at -= 1
    return at


def _negates(token: Token) -> bool:
    return (token.form, token.tag) in _ADVERBS
