"""Questions and answers without an app or a model: which question is asked when, and about which scenes."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.search.query import Query
from subtitle_rag.tui.screens.answer import dialogue as module
from subtitle_rag.tui.screens.answer.dialogue import Dialogue
from subtitle_rag.tui.shared.conversation import QuestionTurn
from subtitle_rag.tui.shared.messages import AnswerEnded

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.controllers.background import ContextPause


class FakeTalk:
    """The thread that answers, which a test plays itself."""

    talks: "list[FakeTalk]" = []  # noqa: RUF012

    def __init__(self, *_arguments: Any, whole: bool | None) -> None:
        self.whole = whole
        self.queries: list[Query] = []
        self.stopping = self.ended = False
        self.talks.append(self)

    def start(self) -> None:
        pass

    def ask(self, turn: QuestionTurn, query: Query) -> None:
        self.queries.append(query)
        self.stopping = False

    def stop(self) -> None:
        self.stopping = True

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def dialogue(monkeypatch: pytest.MonkeyPatch) -> Dialogue:
    monkeypatch.setattr(module, "AnswerThread", FakeTalk)
    monkeypatch.setattr(FakeTalk, "talks", [])
    pause = SimpleNamespace(pause_contexts_for_answer=lambda: None, resume_contexts_later=lambda: None)
    return Dialogue(cast("Runtime", None), cast("ContextPause", pause), lambda _message: None)


def end(dialogue: Dialogue, text: str) -> str | None:
    """Let the current answer fail after this text, and return the next question."""
    dialogue.turns[-1].text = text
    return dialogue.answer_ended(AnswerEnded(dialogue.turns[-1], error=UsageError("empty_query")))


def test_a_further_question_is_about_the_same_scenes(dialogue: Dialogue) -> None:
    dialogue.ask("김장 배추")
    assert dialogue.running
    end(dialogue, "마흔 포기입니다")
    assert dialogue.follows
    dialogue.ask("소금은 channel:x")
    assert [turn.question for turn in dialogue.turns] == ["김장 배추", "소금은 channel:x"]
    (talk,) = FakeTalk.talks
    assert [query.channels for query in talk.queries] == [(), ()]  # no filter narrows scenes that stand


def test_a_question_instead_of_one_without_a_word_takes_its_place(dialogue: Dialogue) -> None:
    dialogue.ask("김장")
    assert not dialogue.ask_next("김장 배추")
    assert dialogue.stopping
    assert end(dialogue, "") == "김장 배추"
    dialogue.ask("김장 배추")
    assert [turn.question for turn in dialogue.turns] == ["김장 배추"]


def test_a_question_during_an_answer_waits_for_its_end(dialogue: Dialogue) -> None:
    dialogue.ask("김장")
    dialogue.turns[-1].text = "마흔"
    assert dialogue.ask_next("소금")
    assert not dialogue.stopping
    assert end(dialogue, "마흔 포기") == "소금"
    assert dialogue.next_question is None


def test_a_wrong_filter_leaves_everything_as_it_was(dialogue: Dialogue) -> None:
    with pytest.raises(UsageError):
        dialogue.ask("after:x 김장")
    assert dialogue.turns == []
    assert FakeTalk.talks == []


def test_a_conversation_over_all_captions_begins_anew(dialogue: Dialogue) -> None:
    dialogue.ask("김장")
    dialogue.restart(whole=True)
    dialogue.ask("김장")
    dialogue.restart()
    dialogue.ask("김장")
    assert [talk.whole for talk in FakeTalk.talks] == [None, True, None]


def test_a_new_conversation_ends_the_thread(dialogue: Dialogue) -> None:
    dialogue.ask("김장")
    end(dialogue, "마흔 포기")
    dialogue.restart()
    assert FakeTalk.talks[0].ended
    assert not dialogue.follows
    assert dialogue.turns == []
