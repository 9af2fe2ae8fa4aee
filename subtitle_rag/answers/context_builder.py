"""Text of scenes for the answering model; `answer_prompt` has the rules around it.

A scene's number is its rank from 1, wherever it is in the text, so that two builders' answers can be compared. Titles,
captions and contexts are outside text: each stays on its labelled line, and none can imitate a number, a label or a
delimiter. Rules on a question's words give its form, which is also the form of the answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, Protocol, TypeVar

from subtitle_rag.base.domain.answer_values import WordCount
from subtitle_rag.base.domain.values import Line, clock, dialogue
from subtitle_rag.captions.windows import OVERLAP_MS
from subtitle_rag.contexts.context_prompt import neutral_text, shortened
from subtitle_rag.search.scenes import Scene

SCENES = 7
"""Default number of scenes; from about ten on, more make answers worse (arXiv 2407.19794)."""
SHARE = 0.4
"""Share of the model's context for scenes; answers get worse from half on (arXiv 2407.19794)."""
TITLE = 100
"""Maximum characters of a title."""

Cost = Callable[[str], int]
"""Function that returns the tokens of a text."""

_T = TypeVar("_T")
_SPEAKER = re.compile(r"(?<!\S)>>+(?!\S)")
_NUMBER = re.compile(r"[\[［]([\s#]*\d[\d\s,~–-]*)[\]］]")


QuestionForm = Literal["plain", "facts", "comparison", "analysis"]
"""`facts` asks for several of them, `comparison` compares things, `analysis` asks for reasons or changes."""

_COMPARISON = re.compile(
    r"(?:어떻게|뭐가|무엇이|뭐|어디가|얼마나) ?(?:다른|다르|달라(?!졌|진|지))"
    r"|비교|차이|다른 ?점|공통점|장단점|(?<![a-z])vs(?![a-z])|어느 ?(?:쪽|것|게|거)(?![가-힣]{2})|둘 ?중|셋 ?중"
    r"|(?:(?:이랑|하고|와|과|랑|그리고|및) |[,·/] ?).{1,20} 중(?![가-힣]{2})|보다 .{0,20}(?:더|낫|나은|나아)"
    r"|(?:이랑|하고|와|과|랑|그리고|및|,) ?.{1,20} (?:뭐가|누가|어디가|어떤 게|어느 \S+) ?(?:더|제일|가장)(?![가-힣])"
    r"|(?<=[가-힣A-Za-z])에 비(?:해|하면|하여)|^\S.{0,19}[이가] (\S+?),? \S.{0,19}[이가] \1[?.!~]*$"
    r"|(?<!생각)(?<!무엇)(?<!예상)(?<!평소)(?<!예전)(?<=[가-힣A-Za-z])보다 \S+[이가] \S|^\S+ 대 \S+$"
    r"|\b(?:compar(?:e|ed|ison)|differ(?:s|ent|ence|ences)?|versus|pros and cons)\b"
    r"|\bwhich of (?:the )?(?:two|three|these)\b"
    r"|\bbetter than\b|\bbetter\b.*\bor\b|\bor\b.*\bbetter\b|\bbest\b.*\bor\b",
    re.IGNORECASE,
)
_ANALYSIS = re.compile(
    r"(?<![가-힣])왜(?![가-힣]*(?:인|놈))|이유|분석|평가|의견|어떻게 (?:생각|바뀌|달라|변)"
    r"|바뀌었|달라졌|변화|변했|흐름|추세|영향"
    r"|\b(?:why|reasons?|analy[sz]e|analysis|opinions?)\b"
    r"|\b(?:how (?:did|has|have) .* (?:change|develop)|trends?|evolve[ds]?)\b",
    re.IGNORECASE,
)
_FACTS = re.compile(
    r"뭐 ?뭐|뭘 ?뭘|무엇 ?무엇|어디 ?어디|누구 ?누구|언제 ?언제|어떤 ?어떤|목록|리스트|나열|종류"
    r"|재료|준비물|순서|방법|단계"
    r"|(?<![가-힣])(?:전부|모두|모든|다) |것들|곳들|(?:음식|메뉴|사람|가게|제품|장소)들"
    r"|\b(?:list|name|tell me) (?:all|every|the)\b|\bwhat (?:are|were) the\b"
    r"|\bwhich (?:places|foods|people|products|things)\b"
    r"|\b(?:steps?|ingredients?|kinds?|types?) of\b|\bhow (?:do|does|did|to)\b",
    re.IGNORECASE,
)
_RULES: tuple[tuple[QuestionForm, re.Pattern[str]], ...] = (
    ("comparison", _COMPARISON),
    ("analysis", _ANALYSIS),
    ("facts", _FACTS),
)


def form_of(question: str) -> QuestionForm:
    """Return the first form whose rule matches a question."""
    return next((form for form, rule in _RULES if rule.search(question)), "plain")


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of lines, in the prompt's language."""

    context: str
    speech: str
    missing: str
    """Line for a side of a comparison without scenes."""
    said: str
    """Label of the counts of the question's words."""
    times: str
    """Count of one word."""
    videos: tuple[str, str]
    """Singular and plural; the same for `places`."""
    places: tuple[str, str]

    def figures(self, counts: Sequence[WordCount]) -> str:
        """Return the line with the counts of the words that occur in captions; "" if none do."""
        words = [
            self.times.format(
                word=short_title(word),
                videos=self.videos[videos != 1].format(n=videos),
                places=self.places[places != 1].format(n=places),
            )
            for word, videos, places in counts
            if places
        ]
        return f"{self.said}: {', '.join(words)}" if words else ""


LABELS = {
    "ko": Labels(
        "문맥",
        "자막",
        "{name}: 찾은 장면이 없습니다.",
        "질문의 말이 자막에 나오는 곳",
        "“{word}” {videos} {places}",
        ("영상 {n}편", "영상 {n}편"),
        ("{n}곳", "{n}곳"),
    ),
    "en": Labels(
        "Context",
        "Captions",
        "{name}: no scene was found.",
        "Places in the captions that say a word of the question",
        "“{word}” {places} in {videos}",
        ("{n} video", "{n} videos"),
        ("{n} place", "{n} places"),
    ),
}


class ContextBuilder(Protocol):
    """Writer of the scenes' text, best first; `[n]` marks the nth scene."""

    def build(self, scenes: Sequence[Scene]) -> str: ...


class SimpleContextBuilder:
    """Only the scenes' own speech, in order: the baseline of comparisons."""

    def build(self, scenes: Sequence[Scene]) -> str:
        return "\n\n".join(f"[{number}]\n{quoted(scene.text)}" for number, scene in enumerate(scenes, start=1))


@dataclass(frozen=True, slots=True)
class RankedContextBuilder:
    """Scenes with title, time, context and surrounding speech, grouped by video in order.

    `reorder` puts the best at both ends and the weakest in the middle, which models read least (Liu et al., "Lost in
    the Middle", arXiv 2307.03172). A video takes the place of its best scene.
    """

    reorder: bool = True
    labels: Labels = LABELS["ko"]
    include_source: bool = False
    """Whether each scene has its channel and day."""

    def build(self, scenes: Sequence[Scene]) -> str:
        of_videos: dict[str, list[tuple[Scene, str]]] = {}
        for number, (scene, text) in enumerate(zip(scenes, speech(scenes), strict=True), start=1):
            of_videos.setdefault(scene.video.id, []).append((scene, self._entry(number, scene, text)))
        blocks = [self._block(entries) for entries in of_videos.values()]
        return "\n\n".join(ends_first(blocks) if self.reorder else blocks)

    def _block(self, entries: Sequence[tuple[Scene, str]]) -> str:
        return "\n".join(text for _scene, text in sorted(entries, key=lambda pair: pair[0].start_ms))

    def _entry(self, number: int, scene: Scene, text: str) -> str:
        context = [f"{self.labels.context}: {quoted(scene.context)}"] if scene.context else []
        title = short_title(scene.video.title)
        source = (quoted(scene.video.channel)[:TITLE], str(scene.video.published or "")) if self.include_source else ()
        head = f"[{number}] ({', '.join(filter(None, (title, *source, clock(scene.start_ms))))})"
        return "\n".join([head, *context, f"{self.labels.speech}: {quoted(text)}"])


def ends_first(ranked: Sequence[_T]) -> list[_T]:
    """Put the best at both ends and the weakest in the middle: 1…7 becomes 1 3 5 7 6 4 2."""
    return [*ranked[::2], *reversed(ranked[1::2])]


def quoted(text: str) -> str:
    """Put outside text on one line, without anything like a scene's number; speaker marks become dashes."""
    return _NUMBER.sub(r"(\1)", neutral_text(_SPEAKER.sub("-", text)))


def short_title(title: str) -> str:
    """Return a title, or similar text, on one line of at most `TITLE` characters."""
    return quoted(title)[:TITLE].rstrip()


def lines_of(scene: Scene) -> list[tuple[int, str]]:
    """Return the lines of a scene, each with its start."""
    return dialogue(scene.text, scene.lines or (Line(0, scene.start_ms),))


def surrounded(scenes: Sequence[Scene]) -> list[str]:
    """Return the speech of one video's scenes in order, each with the speech right before and after it.

    Nothing is repeated: if the surroundings of two scenes overlap, the earlier one keeps them.
    """
    befores = [scene.overlap_before.split() for scene in scenes]
    afters = [scene.overlap_after.split() for scene in scenes]
    for at, (scene, following) in enumerate(pairwise(scenes)):
        if following.start_ms - scene.end_ms >= 2 * OVERLAP_MS:
            continue
        before, after = befores[at + 1], afters[at]
        shared = _shared(scene.text.split() + after, before + following.text.split())
        reaching = max(0, shared - len(before))  # words of `after` inside the following scene
        afters[at] = after[: max(0, len(after) - reaching)]
        befores[at + 1] = before[shared:]
    return [
        " ".join([*before, scene.text, *after]) for before, scene, after in zip(befores, scenes, afters, strict=True)
    ]


def speech(scenes: Sequence[Scene]) -> list[str]:
    """Return `surrounded` speech for scenes of any videos in any order."""
    of_videos: dict[str, list[int]] = {}
    for at, scene in enumerate(scenes):
        of_videos.setdefault(scene.video.id, []).append(at)
    texts: dict[int, str] = {}
    for indexes in of_videos.values():
        in_time = sorted(indexes, key=lambda at: scenes[at].start_ms)
        texts.update(zip(in_time, surrounded([scenes[at] for at in in_time]), strict=True))
    return [texts[at] for at in range(len(scenes))]


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the largest number of words at the end of one text that begin the next one."""
    longest = min(len(first), len(second))
    return next((size for size in range(longest, 0, -1) if first[-size:] == second[:size]), 0)


def fitted(builder: ContextBuilder, scenes: Sequence[Scene], tokens: int, cost: Cost) -> list[Scene]:
    """Return the best scenes whose text fits into `tokens`, dropping whole scenes, the weakest first.

    A single scene is shortened to the lines around its best one.
    """
    best = list(scenes)
    while len(best) > 1 and cost(builder.build(best)) > tokens:
        best.pop()
    if best and cost(builder.build(best)) > tokens:
        return [_shortened(builder, best[0], tokens, cost)]
    return best


def _shortened(builder: ContextBuilder, scene: Scene, tokens: int, cost: Cost) -> Scene:
    """Shorten a scene to the lines around its best one, or to both ends of a line that is too long."""
    lines = scene.lines or (Line(0, scene.start_ms),)
    best = next((at for at, line in enumerate(lines) if line.start_ms == scene.at_ms), 0)
    fits: Scene | None = None
    for reach in range(len(lines)):
        tried = _cut(scene, lines, max(0, best - reach), min(len(lines), best + reach + 1))
        if cost(builder.build([tried])) > tokens:
            break
        fits = tried
    if fits is not None:
        return fits
    line = _cut(scene, lines, best, best + 1)
    rest = cost(builder.build([replace(line, text="", context=None)]))
    return replace(line, text=shortened(line.text, max(0, tokens - rest), per_character(cost)), context=None)


def _cut(scene: Scene, lines: Sequence[Line], first: int, stop: int) -> Scene:
    """Return these lines of a scene, without its surroundings."""
    begin = lines[first].offset
    text = scene.text[begin : lines[stop].offset - 1 if stop < len(lines) else None]
    moved = tuple(line._replace(offset=line.offset - begin) for line in lines[first:stop])
    return replace(scene, text=text, lines=moved, highlights=(), overlap_before="", overlap_after="")


def per_character(cost: Cost) -> float:
    """Return the cost of a Korean character."""
    return cost("가" * 1_000) / 1_000
