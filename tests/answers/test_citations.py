"""The citation checker's cases: what it takes for a citation, for a claim, and for borne out."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from subtitle_rag import evaluation
from subtitle_rag.answers.answer_prompt import NOT_FOUND
from subtitle_rag.answers.citations import CitationCheck, check_citations, makes_claims, unsaid_words
from subtitle_rag.base.domain.answer_values import EvidenceSource
from subtitle_rag.base.domain.values import Window
from subtitle_rag.evaluation import dataset
from subtitle_rag.korean.morphemes import Analyzer
from tests.answers.desk import source
from tests.support.cases import cases
from tests.support.place import Place

QUERIES = Path(evaluation.__file__).with_name("sample_questions.jsonl")
KIMCHI = source(
    1, "오늘은 김장입니다. 배추가 40포기고 소금은 여덟 바가지를 넣었어요. 할머니가 간을 보셨어요", title="김장 날"
)
SAUCE = source(2, "청귤 간장 소스가 제일 맛있어요. 사장님이 청귤 청을 담그다가 항아리를 깨셨대요", title="치킨 먹방")
TENT = source(
    3, "텐트에 물이 새고 가스가 떨어졌어요", context="현우가 비 오는 캠핑장에서 라면을 끓이지 못하는 장면입니다."
)
GIVEN = (KIMCHI, SAUCE, TENT)


@pytest.fixture
def check(analyzer: Analyzer) -> "Check":
    return Check(analyzer)


class Check:
    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def __call__(self, answer: str, sources: Sequence[EvidenceSource] = GIVEN) -> CitationCheck:
        return check_citations(answer, sources, self._analyzer)

    def statuses(self, answer: str) -> list[tuple[int, str]]:
        return [(citation.number, citation.status) for citation in self(answer).citations]


def grounded(checked: CitationCheck) -> bool:
    return any(citation.status == "supported" for citation in checked.citations)


# --- what is a citation ---


@cases(
    ("mark", "numbers"),
    [
        ("[1]", [1]),
        ("[1][2]", [1, 2]),
        ("[1] [3]", [1, 3]),
        ("[1, 2]", [1, 2]),
        ("[1·3]", [1, 3]),
        ("[1-3]", [1, 2, 3]),
        ("[1~2]", [1, 2]),
        ("[장면 2]", [2]),
        ("[장면 1, 장면 3]", [1, 3]),
        ("[scene 2]", [2]),
        ("[#2]", [2]),
        ("[2번]", [2]),
        ("［1］", [1]),
        ("【2】", [2]),
        ("[1-999]", [1, 999]),
        ("[음악]", []),
        ("[2026-05-31 방송]", []),
        ("(1)", []),
        ("[1", []),
    ],
)
def test_numbers_in_square_brackets_are_citations(check: Check, mark: str, numbers: list[int]) -> None:
    found = check(f"배추는 40포기입니다 {mark}.")
    assert [citation.number for citation in found.citations] == numbers


def test_a_citation_knows_where_it_stands_and_what_it_is_for(check: Check) -> None:
    answer = "배추는 40포기입니다 [1]. 청귤 간장 소스가 제일 맛있다고 합니다. [2]\n- 텐트에 물이 샜습니다 [3]"
    found = check(answer).citations
    assert [answer[slice(*each.span)] for each in found] == ["[1]", "[2]", "[3]"]
    assert [answer[slice(*each.claim)] for each in found] == [
        "배추는 40포기입니다 [1].",
        "청귤 간장 소스가 제일 맛있다고 합니다. [2]",
        "- 텐트에 물이 샜습니다 [3]",
    ]
    assert {each.status for each in found} == {"supported"}


@cases(
    "answer",
    [
        "배추는 40포기입니다.[1] 청귤 소스가 맛있습니다.[2]",
        "배추는 40포기입니다. [1] 청귤 소스가 맛있습니다. [2]",
        "배추는 40포기입니다 [1] 청귤 소스가 맛있습니다 [2]",
        "[1] 배추는 40포기입니다. [2] 청귤 소스가 맛있습니다.",
        "1. 배추는 40포기입니다 [1]\n2. 청귤 소스가 맛있습니다 [2]",
        "배추는 40포기입니다\n[1]\n청귤 소스가 맛있습니다 [2]",
    ],
)
def test_each_claim_has_its_own_citation_wherever_that_is_put(check: Check, answer: str) -> None:
    assert check.statuses(answer) == [(1, "supported"), (2, "supported")]
    assert check(answer).uncited == ()


def test_a_claim_without_a_citation_is_told(check: Check) -> None:
    answer = "배추는 40포기입니다 [1]. 날씨가 맑았습니다. 텐트에 물이 샜어요 [3]."
    assert [answer[slice(*span)] for span in check(answer).uncited] == ["날씨가 맑았습니다."]


# --- what is borne out ---


@cases(
    "claim",
    [
        "배추는 40포기였습니다 [1].",
        "배추가 마흔 포기라고 합니다 [1].",
        "김장에 소금을 8바가지 넣었습니다 [1].",
        "할머니가 김치의 간을 보셨다고 합니다 [1].",
        "청귤 간장 소스가 가장 맛있다고 합니다 [2].",
        "사장님이 청귤 청을 담그다 항아리를 깼습니다 [2].",
        "현우가 캠핑장에서 라면을 끓이지 못했습니다 [3].",
        "김장은 배추 40포기로 했고 [1], 캠핑에서는 가스가 떨어졌습니다 [3].",
        "배추 40포기를 절였고 텐트에는 물이 샜습니다 [1][3].",
    ],
)
def test_what_a_scene_says_is_supported(check: Check, claim: str) -> None:
    assert {status for _number, status in check.statuses(claim)} == {"supported"}


@cases(
    ("claim", "missing"),
    [
        ("배추는 50포기였습니다 [1].", ["50"]),
        ("소금을 세 컵 넣었습니다 [1].", ["세"]),
        ("배추를 'BBQ마트'라는 가게에서 40포기 샀습니다 [1].", ["BBQ마트"]),
        ("청귤 소스는 '두레반'에서 판다고 합니다 [2].", ["두레반"]),
        ("청귤 간장 소스가 제일 맛있다고 합니다 [3].", ["청귤"]),
        ("기차를 타고 바다에 가서 사진을 찍었습니다 [1].", []),
        ("They salted 50 heads of cabbage [1].", ["50"]),
    ],
)
def test_what_a_scene_does_not_say_is_unsupported(check: Check, claim: str, missing: list[str]) -> None:
    (citation,) = check(claim).citations
    assert citation.status == "unsupported"
    assert list(citation.missing)[:1] == missing
    assert not grounded(check(claim))


def test_one_of_several_scenes_that_carries_nothing_is_unsupported(check: Check) -> None:
    assert check.statuses("배추 40포기에 소금을 여덟 바가지 넣었습니다 [1][2].") == [
        (1, "supported"),
        (2, "unsupported"),
    ]


def test_the_number_of_no_scene_is_unknown_and_spoils_no_other(check: Check) -> None:
    found = check("배추는 40포기입니다 [1][7].")
    assert [(each.number, each.status, each.at_ms) for each in found.citations] == [
        (1, "supported", 6_000),
        (7, "unsupported", None),
    ]
    assert grounded(found)


def test_a_citation_jumps_to_the_line_that_says_it(check: Check) -> None:
    (citation,) = check("할머니가 간을 보셨다고 합니다 [1].").citations
    assert citation.at_ms in (6_000, 12_000)
    (citation,) = check("It is about autumn [1].").citations
    assert citation.at_ms == KIMCHI.at_ms


@pytest.mark.campaign(part="flows")
def test_words_of_a_scene_support_it_and_those_of_other_videos_seldom_do(check: Check, sample: Place) -> None:
    """The sample's questions as claims about the scenes that answer them, and about every eighth of other videos."""
    questions = [question for question in dataset.load_questions(QUERIES).questions if question.kind == "keyword"]
    windows = [window for state in sample.library.videos() for window in sample.library.windows_of(state.video.id)]

    def holds(claim: str, window: Window) -> bool:
        return grounded(check(f"{claim} [1].", [source(1, window.text)]))

    own = [
        any(
            gold.answered_by(w.start_ms, w.end_ms) and holds(question.query, w)
            for w in windows
            if w.video_id == gold.video
        )
        for question in questions
        for gold in question.gold
    ]
    others = [
        holds(question.query, window)
        for question in questions
        for window in windows[::8]
        if window.video_id not in {gold.video for gold in question.gold}
    ]
    assert sum(own) >= 0.85 * len(own)
    assert sum(others) <= 0.02 * len(others)


@cases("claim", ["They salted 40 heads of cabbage [1].", "他们腌了40棵白菜 [1]。", "네, 알겠습니다 [1]."])
def test_what_cannot_be_compared_is_neither_supported_nor_doubted(check: Check, claim: str) -> None:
    assert check.statuses(claim) == [(1, "unchecked")]


# --- answers without claims ---


@cases("language", NOT_FOUND)
def test_an_answer_that_says_it_is_not_there_is_no_fault(check: Check, language: str) -> None:
    found = check(NOT_FOUND[language])
    assert (found.declined, found.citations, found.uncited) == (True, (), ())
    assert check(f"  {NOT_FOUND[language].rstrip('.')}\n").declined


def test_an_answer_that_declines_and_cites_has_answered(check: Check) -> None:
    assert not check(f"{NOT_FOUND['ko']} 다만 배추는 40포기입니다 [1].").declined


@cases("answer", ["", "\n", "...", "[1]", "[1][2]\n[3]", "1. 2. 3."])
def test_what_says_nothing_has_no_claims(check: Check, answer: str) -> None:
    found = check(answer)
    assert (found.citations, found.uncited, found.declined) == ((), (), False)


@cases(
    "answer",
    [
        *NOT_FOUND.values(),
        "알 수 없습니다.",
        "모르겠습니다.",
        "제공된 장면만으로는 알 수 없습니다.",
        "I don't know.",
        "네.",
    ],
)
def test_an_answer_that_knows_nothing_makes_no_claims(answer: str) -> None:
    assert not makes_claims(answer)
    assert makes_claims(f"{answer} 배추는 40포기입니다.")


def test_no_scenes_bear_nothing_out(check: Check) -> None:
    found = check("배추는 40포기입니다 [1].", ())
    assert [each.status for each in found.citations] == ["unsupported"]
    assert check("배추는 40포기입니다.", ()).unfounded == ()


def test_a_long_and_hostile_answer_is_looked_through_in_time(check: Check) -> None:
    for answer in ("[1" * 20_000, "[" * 40_000, "1," * 20_000, "[1, 2] " * 5_000, "." * 40_000, "가 [1]. " * 2_000):
        found = check(answer)
        assert all(answer[slice(*each.span)].startswith("[") for each in found.citations)


# --- claims without citations ---


@cases(
    ("claim", "missing"),
    [
        ("배추는 1억 2천만 원어치를 샀습니다.", ("1억 2천만",)),
        ("배추를 '두레반'에서 샀습니다.", ("두레반",)),
        ("우주선이 화성에 착륙하여 흙을 파헤쳤습니다.", ()),
        ("우주선입니다.", ("우주선",)),
        ("답은 감자예요", ("감자",)),
        ("고등어를 구웠습니다.", ("고등어",)),
    ],
)
def test_what_no_scene_says_is_unfounded_without_a_citation(check: Check, claim: str, missing: tuple[str, ...]) -> None:
    found = check(f"배추는 40포기입니다 [1]. {claim}")
    (unfounded,) = found.unfounded
    assert unfounded.missing == missing
    assert f"배추는 40포기입니다 [1]. {claim}"[slice(*unfounded.claim)] == claim
    assert found.uncited == (unfounded.claim,)


@cases(
    "claim",
    [
        "배추가 마흔 포기고 소금은 여덟 바가지를 넣었습니다.",
        "사장님이 청귤 청을 담그다가 항아리를 깼다고 합니다.",
        "네, 알겠습니다.",
        "다음은 질문에 대한 답변입니다.",
        "도움이 되길 바랍니다.",
        "재료",
        "우주선 이야기",
        "배추입니다.",
        "할머님이에요.",
        "소금을 뿌렸습니다.",
        "그렇습니다.",
        "우주선이 궁금하신가요?",
        "가격에 대한 정보는 장면에 없습니다.",
        "The cabbage was delicious.",
    ],
)
def test_what_a_scene_says_and_what_claims_nothing_is_not(check: Check, claim: str) -> None:
    assert check(f"배추는 40포기입니다 [1]. {claim}").unfounded == ()


def test_a_number_of_another_scene_than_the_words_does_not_bear_it_out(check: Check) -> None:
    (unfounded,) = check("청귤 간장 소스를 40병 담갔다고 사장님이 말했습니다.").unfounded
    assert unfounded.missing == ("40",)


@cases(
    "answer",
    [
        "주어진 자막에는 가격에 대한 정보가 없습니다.",
        "죄송합니다. 장면에서 가격은 언급되지 않습니다.",
        "The scenes do not mention a price.",
    ],
)
def test_an_answer_in_its_own_words_declines_too(check: Check, answer: str) -> None:
    found = check(answer)
    assert (found.declined, found.uncited, found.unfounded) == (True, (), ())


def test_words_of_a_question_that_no_scene_has_are_told_where_they_are_most_of_it(analyzer: Analyzer) -> None:
    given = [
        source(1, "오늘은 김장을 합니다. 배추가 40포기예요"),
        source(2, "소금은 여덟 바가지 넣습니다", title="할머니 댁"),
    ]
    assert unsaid_words("제주도에서 렌터카를 몰다가 누가 다쳤어?", given, analyzer)[:2] == ("제주도", "렌터카")
    assert unsaid_words("김장 배추 몇 포기 했어?", given, analyzer) == ()
    assert unsaid_words("할머니 댁에서 배추를 절였어?", given, analyzer) == ()
    assert unsaid_words("제주도?", given, analyzer) == ()
