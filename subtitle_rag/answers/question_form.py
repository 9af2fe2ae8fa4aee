"""The form of a question, by rules on its words; the evidence and the answer follow it."""

import re
from typing import Literal

QuestionForm = Literal["plain", "facts", "comparison", "analysis"]
"""`facts` asks for several of them, `comparison` sets things side by side, `analysis` asks for reasons or changes."""

_COMPARISON = re.compile(
    r"비교|차이|다른 ?점|공통점|장단점|(?<![a-z])vs(?![a-z])|어느 ?(?:쪽|것|게|거)(?![가-힣]{2})|둘 ?중|셋 ?중"
    r"|(?:이랑|하고|와|과|랑) .{1,20} 중(?![가-힣]{2})|보다 .{0,20}(?:더|낫|나은|나아)"
    r"|\b(?:compar(?:e|ed|ison)|differ(?:s|ent|ence|ences)?|versus|pros and cons)\b"
    r"|\bwhich of (?:the )?(?:two|three|these)\b"
    r"|\bbetter than\b|\bbetter\b.*\bor\b|\bor\b.*\bbetter\b",
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
    """Return the first form whose rule a question meets."""
    return next((form for form, rule in _RULES if rule.search(question)), "plain")
