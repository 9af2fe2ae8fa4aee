"""Two halves of questions: the same every time, even by kind, and no video in both."""

from collections import Counter

from hypothesis import given, strategies as st

from scripts.benchmarks._halves import halves
from subtitle_rag.evaluation.questions import Gold, Question

KINDS = ["keyword", "paraphrase", "context"]


def question(at: int, kind: str, *videos: int) -> Question:
    return Question(f"q{at}", "x", kind, tuple(Gold(f"v{video}", 0, 9_000) for video in videos))


ASKED = st.lists(
    st.tuples(st.sampled_from(KINDS), st.lists(st.integers(0, 12), min_size=1, max_size=2)), min_size=1, max_size=40
).map(lambda pairs: [question(at, kind, *videos) for at, (kind, videos) in enumerate(pairs)])


@given(ASKED, st.integers(0, 5))
def test_every_question_is_in_one_half_and_no_video_in_both(questions: list[Question], seed: int) -> None:
    train, test = halves(questions, seed)

    assert sorted([*train, *test]) == list(range(len(questions)))
    videos = [{gold.video for at in half for gold in questions[at].gold} for half in (train, test)]
    assert not videos[0] & videos[1]
    assert (train, test) == halves(questions, seed)


def test_the_halves_have_as_many_of_each_kind() -> None:
    questions = [question(at, KINDS[at % 3], at // 6) for at in range(120)]  # six to a video, two of each kind

    train, test = halves(questions, 7)

    assert [Counter(questions[at].kind for at in half) for half in (train, test)] == [
        Counter(dict.fromkeys(KINDS, 20))
    ] * 2
