"""Sides of a comparison: the two or more things that a question compares, and scenes for each.

A single search would find the side with most mentions, and the answer would cover only part of the question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest

from subtitle_rag.answers.context_builder import form_of
from subtitle_rag.base.domain.values import Morphemes, squeeze
from subtitle_rag.korean.morphemes import QueryMorphemes
from subtitle_rag.search.query import Query
from subtitle_rag.search.scenes import Scene

_BETWEEN = re.compile(r"(?:이랑|랑|하고|와|과|보다)$")
"""Particles that join compared things."""
_AND = re.compile(r"(?:이랑|랑|하고|와|과)$")
"""Particles after the second side that announce a third."""
_THAN = re.compile("보다$")
_SUBJECT = re.compile("(?:은|는|이|가)$")
_AGAINST = re.compile(r"(?<=\S)에 비(?:해서?|하면|하여)(?= )")
"""Synonyms of 보다."""
_EITHER = re.compile(r"(?P<a>\S.{0,19}?)[이가] (?P<rest>\S+?),? (?P<b>\S.{0,19})[이가] (?P=rest)")
"""The same predicate after each side: 짜장면이 나아 짬뽕이 나아."""
_SIGN = re.compile(r"(?:,|vs\.?|versus|대|아니면|또는|혹은|그리고|및|하고|랑)", re.IGNORECASE)
"""Separators of sides; commas, dots and slashes between words count as a comma."""
_COMMAS = re.compile(r"\s*(?:[,、]\s+|(?<![\d\s])[,/·ㆍ](?!\d))\s*")
_BEHIND = re.compile(r"(?:이랑|에서|으로|은|는|이|가|을|를|의|도|랑|로|에|와|과)$")
"""Particles after the second side."""
_REQUEST = re.compile(
    r"비교\S*|차이\S*|공통\S*|장단점\S*|중(?:에서?)?|둘\S*|셋\S*|제일|가장|어디\S{0,2}|추천\S*|골라\S*|어느\S*|어떤\S*|어떻게|뭐가|뭘|무엇\S*|누가|더|서로|쪽\S*|것\S*"
    r"|다른\S*|다르\S*|달라\S*|나아\S*|나은\S*|낫\S*|좋\S*|말해\S*|알려\S*|설명\S*|정리\S*|해\S*|줘\S*|주세요|했\S*|점[이은을]?\S{0,2}|뭐야|뭐예요|뭔가요|뭔지"
)
"""Words that request a comparison."""
_ARTICLE = r"(?:(?:the|an?|is|are|was|were|do|does|did|which|what)\s+)*"
_ENGLISH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bbetween\s+{_ARTICLE}(?P<a>.+?)\s+and\s+{_ARTICLE}(?P<b>[^?.!]+)",
        rf"\bcompare[sd]?\s+{_ARTICLE}(?P<a>.+?)\s+(?:and|with|to|against)\s+{_ARTICLE}(?P<b>[^?.!]+)",
        rf"^{_ARTICLE}(?P<a>[^?.!,]+?)\s+compared\s+(?:to|with)\s+{_ARTICLE}(?P<b>[^?.!]+)",
        rf"\bhow\s+{_ARTICLE}(?P<a>.+?)\s+and\s+{_ARTICLE}(?P<b>.+?)\s+differ",
        rf"\bhow\s+{_ARTICLE}(?P<a>.+?)\s+differ(?:s|ent)?\s+from\s+{_ARTICLE}(?P<b>[^?.!]+)",
        rf"\b(?:better|best|\w+er|more \w+)\s*[,:]\s*{_ARTICLE}(?P<a>.+?)\s+or\s+{_ARTICLE}(?P<b>[^?.!]+)",
        rf"^{_ARTICLE}(?P<a>[^?.!,]+?)\s+\w+er\s+than\s+{_ARTICLE}(?P<b>[^?.!]+)",
        rf"^{_ARTICLE}(?P<a>[^?.!,]+?)\s+or\s+{_ARTICLE}(?P<b>[^?.!]+?)\s+(?:one\s+)?(?:is\s+)?(?:better|\w+er)\b",
        rf"^{_ARTICLE}(?P<a>[^?.!,]+?)\s+(?:vs\.?|versus)\s+{_ARTICLE}(?P<b>[^?.!]+)",
    )
)
_ENGLISH_COMMAS = re.compile(r"\s*,\s*(?:and|or)?\s*|\s+(?:vs\.?|versus|or|and)\s+", re.IGNORECASE)
_ASPECT = re.compile(r"\s+(?:in terms of|regarding|when it comes to|in|for|on|about)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One of the things that a question compares."""

    name: str
    query: Query
    """Query for it, together with the criterion of the comparison."""
    own_words: tuple[tuple[str, frozenset[str]], ...]
    """Its words that the other sides lack, each with its morphemes."""

    def is_named_in(self, scene: Scene, analysis: Morphemes) -> bool:
        """Whether captions, context or title have one of its own words; `analysis` is of `text_of(scene)`."""
        if scene.related and len(self.own_words) == len(self.name.split()):  # misspelled, or another word
            return True
        letters, forms = squeeze(text_of(scene)), frozenset(analysis.forms)
        return any(word in letters or (of_word and of_word <= forms) for word, of_word in self.own_words)


def text_of(scene: Scene) -> str:
    return "\n".join(filter(None, (scene.video.title, scene.context, scene.text)))


def compared_sides(query: Query, analyzer: QueryMorphemes) -> tuple[ComparedSide, ...]:
    """Return the sides of a question that compares two or more things, else ()."""
    text = query.text.strip()
    if form_of(text) != "comparison":
        return ()
    text = text.rstrip("?!.~ ")
    words = _COMMAS.sub(" , ", _AGAINST.sub("보다 더", text)).split()
    (analysis,) = analyzer.morphemes([" ".join(words)])
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    inside = {at for start, end in zip(analysis.starts, analysis.ends, strict=True) for at in range(start + 1, end)}

    def stem(at: int, particles: re.Pattern[str], *, sure: bool = True) -> str:
        """Return a word without its particle, or ""; `sure` excludes parts of morphemes such as 과 in 사과."""
        match = particles.search(words[at])
        return words[at][: match.start()] if match and not (sure and starts[at] + match.start() in inside) else ""

    def korean(*, sure: bool) -> tuple[list[str], list[str]]:
        """Return the sides, and the words after them; with `sure`, a sure particle ends the first side."""
        names: list[str] = []
        side: list[str] = []
        for at, word in enumerate(words):
            joined, last = "", ""
            if names and _REQUEST.fullmatch(word):
                return [*names, *filter(None, [" ".join(side)])], words[at:]
            if names:
                joined = stem(at, _AND)
                last = joined or stem(at, _BEHIND) or (stem(at, _BEHIND, sure=False) if at + 1 == len(words) else "")
            else:
                joined = last = stem(at, _BETWEEN, sure=sure)
            if joined and not names and _THAN.search(word):
                subject = next((each for each in range(at) if stem(each, _SUBJECT)), None)
                if subject is not None:  # A가 B보다 더
                    first = " ".join([*words[:subject], stem(subject, _SUBJECT)])
                    return [first, " ".join([*words[subject + 1 : at], joined])], words[at + 1 :]
            is_sign = bool(side or names) and _SIGN.fullmatch(word) is not None
            side += [] if is_sign else [last or word]
            if side and (is_sign or last):
                names, side = [*names, " ".join(side)], []
                if last and not joined and words[at + 1 : at + 2] != [","]:
                    return names, words[at + 1 :]
        return ([*names, *filter(None, [" ".join(side)])] if names else []), []

    names: list[str] = []
    rest: list[str] = []
    if either := _EITHER.fullmatch(text):
        names, rest = [either["a"], either["b"]], [either["rest"]]
    elif not text.isascii():
        names, rest = korean(sure=True)
        if len(names) < 2:
            names, rest = korean(sure=False)
    elif match := next(filter(None, (pattern.search(text) for pattern in _ENGLISH)), None):
        last, *rest = _ASPECT.split(match["b"], maxsplit=1)
        names = [name.strip() for name in (*match["a"].split(", "), *_ENGLISH_COMMAS.split(last)) if name.strip()]
    if len(names) < 2:
        return ()
    aspect = " ".join(word for word in rest if word != "," and not _REQUEST.fullmatch(word))
    forms = [frozenset(each.forms) for each in analyzer.morphemes(names)]
    sides = []
    for at, name in enumerate(names):
        others = [squeeze(other) for other in names if other != name]
        theirs = frozenset[str]().union(*forms[:at], *forms[at + 1 :])
        own_words = []
        for word, each in zip(name.split(), analyzer.morphemes(name.split()), strict=True):
            of_word = frozenset(each.forms)
            if not any(squeeze(word) in other for other in others) and not (of_word and of_word <= theirs):
                own_words.append((squeeze(word), of_word))
        sought = f"{name} {aspect}".strip()
        phrases = tuple(phrase for phrase in query.phrases if squeeze(phrase) in squeeze(sought))
        sides.append(ComparedSide(name, replace(query, text=sought, phrases=phrases), tuple(own_words)))
    return tuple(sides) if all(side.own_words for side in sides) else ()


def interleaved(of_sides: Sequence[Sequence[Scene]], limit: int) -> list[Scene]:
    """Return the best scenes of the sides in turn, `limit` at most, without overlaps."""
    best: list[Scene] = []
    for scene in (each for turn in zip_longest(*of_sides) for each in turn if each is not None):
        if len(best) < limit and not shares_scene([scene], best):
            best.append(replace(scene, rank=len(best) + 1))
    return best


def shares_scene(scenes: Sequence[Scene], other_scenes: Sequence[Scene]) -> bool:
    """Whether a scene overlaps one of the others."""
    return any(_overlap(scene, other_scene) for scene in scenes for other_scene in other_scenes)


def _overlap(first: Scene, second: Scene) -> bool:
    return first.video.id == second.video.id and first.start_ms < second.end_ms and second.start_ms < first.end_ms
