"""Whether a context is about its window: one of another window, and one that fits all of them."""

import pytest

from subtitle_rag.contexts.answer_check import (
    ELSEWHERE_REMINDER,
    GENERAL_REMINDER,
    OPPOSITE_REMINDER,
    UNGROUNDED_REMINDER,
)
from subtitle_rag.contexts.window_fit import WindowFit
from subtitle_rag.korean.morphemes import Analyzer
from tests.contexts.desk import Desk
from tests.support.cases import cases

WINDOWS = (
    "오늘은 텃밭에 감자를 심었어요 밭에 물도 줬고요",
    "호미로 이랑을 만들고 비닐을 덮습니다 밭이 넓어요",
    "고추 모종은 화원에서 샀는데 밭 옆에 심을 거예요",
    "상추에 벌레가 없어서 밭일이 편하네요",
    "깻잎은 벌레가 생겨서 다 뽑고 밭을 갈았어요",
    "점심으로 밭에서 국수를 삶아 먹었습니다",
)


@pytest.fixture
def fit(analyzer: Analyzer) -> "Fit":
    return Fit(analyzer)


class Fit:
    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer, self._windows = analyzer, WindowFit(WINDOWS)

    def fault(self, at: int, text: str) -> str:
        (tags,) = self._analyzer.tagged([text])
        if self._windows.is_of_another(at, text, tags):
            return "another"
        return "nothing" if self._windows.says_nothing(at, text, tags) else ""


@cases(
    ("at", "text", "fault"),
    [
        (0, "텃밭에 감자를 심고 물을 주는 장면이다.", ""),
        (2, "화원에서 산 고추 모종을 심을 자리를 설명한다.", ""),
        (5, "밭에서 국수를 삶아 점심을 먹는다.", ""),
        (0, "화원에서 산 고추 모종을 보여 준다.", "another"),
        (5, "상추에 벌레가 없다고 말한다.", "nothing"),
        (3, "밭에서 일하는 이야기를 편안하게 들려주는 장면이다.", "nothing"),
        (1, "비닐에 대해 밭에서 이야기한다.", ""),
        (0, "밭에서 밭에 물을 주는 것을 이야기한다.", "nothing"),
        (3, "여러 가지 이야기를 나누는 장면이다.", "nothing"),
        (3, "", "nothing"),
    ],
)
def test_a_context_has_words_of_its_own_window(fit: Fit, at: int, text: str, fault: str) -> None:
    assert fit.fault(at, text) == fault


def test_few_windows_tell_no_words_apart(analyzer: Analyzer) -> None:
    (tags,) = analyzer.tagged(["이야기를 나눈다."])
    assert not WindowFit(WINDOWS[:2]).says_nothing(0, "이야기를 나눈다.", tags)


@pytest.mark.parametrize(
    ("answer", "reminder"),
    [
        ("화원에서 고추 모종을 산 이야기를 하는 장면이다.", ELSEWHERE_REMINDER),
        ("밭에서 여러 가지를 이야기하는 장면이다.", GENERAL_REMINDER),
        ("텃밭에 나이키 신발을 신고 감자를 심는다.", UNGROUNDED_REMINDER.format(words="나이키")),
        ("텃밭에 감자를 심지 않고 물만 주는 장면이다.", OPPOSITE_REMINDER.format(words="심지 않고")),
    ],
)
def test_a_refused_context_is_asked_for_again_with_what_was_wrong(desk: Desk, answer: str, reminder: str) -> None:
    desk.put("a", [[line] for line in WINDOWS])
    good = "텃밭에 감자를 심고 물을 주는 장면이다."
    desk.ollama.answer(answer, good)
    desk.write()
    assert reminder in desk.chats()[1].messages[-1]["content"]
    assert next(context.text for context in desk.contexts() if context.text) == good
