"""Vectors of the windows' pieces: after those of all windows, noted apart, made anew where a piece has changed."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.vectors import pieces as rule
from subtitle_rag.base.vectors.named_vectors import piece_id, pieces_name, vector_names
from subtitle_rag.base.vectors.pieces import cut_pieces
from subtitle_rag.base.vectors.points import MultiVector
from subtitle_rag.index.encoding import EncodingPass, piece_cost
from subtitle_rag.index.index_document import IndexDocument
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.models.neural.protocols import Encoded, makes_pieces
from tests.index.encoding.desk import Counting, Desk

pytestmark = pytest.mark.models


@pytest.fixture
def detailed(encoder: Counting) -> Iterator[Counting]:
    """The loaded encoder, which also makes vectors of pieces."""
    encoder.has_pieces = True
    yield encoder
    encoder.has_pieces = False


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "PIECE_LETTERS", 5)


def held(desk: Desk, encoder: Counting) -> dict[str, MultiVector]:
    name = pieces_name(encoder.id)
    points = {point.id: point.vectors.get(name) for point in desk.index.get(desk.windows())}
    return {id: vector for id, vector in points.items() if isinstance(vector, MultiVector)}


def test_each_window_gets_a_vector_for_each_piece_behind_all_windows(desk: Desk, detailed: Counting) -> None:
    events, report = desk.run(detailed)
    ids = desk.windows()
    assert (report.made, report.pieces, report.left, report.pieces_left) == (len(ids), len(ids), 0, 0)
    steps = [(event.stage, event.done) for event in events if isinstance(event, Progress)]
    assert steps == sorted(steps, key=lambda step: (step[0] == "pieces", step[1]))
    assert {step for step in steps if step[1] in (0, len(ids))} == {
        ("vectors", 0),
        ("vectors", len(ids)),
        ("pieces", 0),
        ("pieces", len(ids)),
    }
    made = held(desk, detailed)
    assert made.keys() == set(ids)
    for state in desk.library.videos():
        windows = desk.library.windows_of(state.video.id)
        document = IndexDocument(state.video, windows, {})
        for window in windows:
            texts = document.pieces(window.id)
            assert len(texts) == len(cut_pieces(window)) > 1
            rows = np.array(made[window.id].rows())
            expected = np.array([each.dense.values for each in detailed.passages(texts)])
            assert (rows * expected).sum(axis=1) == pytest.approx(np.ones(len(texts)), abs=5e-3)
    assert set(desk.library.vectors.encoders()) == {detailed.id}


def test_a_second_run_encodes_nothing_and_a_first_one_with_pieces_only_these(desk: Desk, detailed: Counting) -> None:
    detailed.has_pieces = False
    desk.run(detailed)
    detailed.fresh().has_pieces = True
    _events, report = desk.run(detailed)
    assert (report.made, report.pieces) == (0, len(desk.windows()))
    assert len(detailed.read) == sum(len(each.rows()) for each in held(desk, detailed).values())
    detailed.fresh()
    events, report = desk.run(detailed)
    assert (events, report.pieces, detailed.read) == ([Progress("vectors", text=detailed.id.partition("@")[0])], 0, [])


def test_a_run_goes_on_where_one_was_stopped(desk: Desk, detailed: Counting) -> None:
    count = len(desk.windows())
    _events, report = desk.run(detailed, chosen=WindowSelection(limit=count + 5))
    assert (report.made, report.pieces, report.pieces_left) == (count, 5, count - 5)
    first = held(desk, detailed)
    assert len(first) == 5
    # killed between the claim and the note
    desk.library.vectors.claim(piece_id(detailed.id), pieces_name(detailed.id), [*first][:2])
    detailed.fresh()
    _events, report = desk.run(detailed)
    assert (report.made, report.pieces, report.pieces_left) == (0, count - 3, 0)
    assert held(desk, detailed).keys() == set(desk.windows())


def test_pieces_are_made_anew_where_the_context_has_changed(desk: Desk, detailed: Counting) -> None:
    desk.run(detailed)
    changed = desk.windows()[3]
    desk.write_context(changed)
    detailed.fresh()
    desk.clock.now += 1_000
    _events, report = desk.run(detailed)
    assert (report.made, report.pieces) == (1, 1)
    (window,) = desk.library.windows([changed]).values()
    whole, *pieces = detailed.read
    assert len(pieces) == len(cut_pieces(window))
    assert all("국수를 삶는 장면입니다." in text for text in detailed.read)
    assert whole.endswith(window.text)


def test_pieces_that_are_not_wanted_any_more_give_their_room_back(desk: Desk, detailed: Counting) -> None:
    desk.run(detailed)
    name = pieces_name(detailed.id)
    assert name in desk.index.vectors()
    assert desk.library.vectors.counts(piece_id(detailed.id)).due == 0
    detailed.has_pieces = False
    desk.run(detailed.fresh())
    assert name not in desk.index.vectors()
    assert desk.library.vectors.counts(piece_id(detailed.id)).made == 0
    assert desk.library.vectors.counts(detailed.id).due == 0
    assert detailed.read == []


def test_another_encoder_is_searched_before_its_pieces_are_made(
    desk: Desk, detailed: Counting, other: Counting
) -> None:
    desk.run(other)
    searched: dict[str, set[str | None]] = {"vectors": set(), "pieces": set()}
    for event in desk.job(detailed, other).run():
        if isinstance(event, Progress):
            searched[event.stage].add(desk.library.vectors.active())
    assert searched == {"vectors": {other.id}, "pieces": {detailed.id}}
    assert set(desk.index.vectors()) == {"bm25", *vector_names(detailed.id), pieces_name(detailed.id)}
    desk.run(other, detailed)
    assert set(desk.index.vectors()) == {"bm25", *vector_names(other.id)}
    assert desk.library.vectors.counts(piece_id(detailed.id)).made == 0


def test_redo_makes_pieces_anew_too(desk: Desk, detailed: Counting) -> None:
    desk.run(detailed)
    (video,) = {state.video.id for state in desk.library.videos()} & {"invented001"}
    _events, report = desk.run(detailed, chosen=WindowSelection(videos=(video,), redo=True))
    assert report.made == report.pieces == desk.library.window_count(video)


def test_a_window_whose_pieces_cannot_be_read_stays_without(
    desk: Desk, detailed: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(texts: Sequence[str]) -> list[Encoded | None]:
        return [None if hard in text else each for text, each in zip(texts, read(texts), strict=True)]

    ids, read = desk.windows(), detailed.passages
    hard = desk.library.windows([ids[4]])[ids[4]].text[-40:]
    desk.run(detailed, chosen=WindowSelection(limit=len(ids)))
    monkeypatch.setattr(detailed, "passages", unreadable)
    _events, report = desk.run(detailed)
    assert (report.pieces, report.pieces_left, report.failed) == (len(ids) - 1, 1, 0)
    assert held(desk, detailed).keys() == set(ids) - {ids[4]}


def test_an_encoder_that_fails_over_pieces_keeps_the_windows(desk: Desk, detailed: Counting) -> None:
    count = len(desk.windows())
    desk.run(detailed, chosen=WindowSelection(limit=count))
    detailed.failure = AppError("model_memory", name="tiny")
    _events, report = desk.run(detailed)
    assert (report.blocked, report.left, report.pieces_left) == (detailed.failure, 0, count)


def test_a_rebuilt_index_holds_the_pieces_that_are_still_right(desk: Desk, detailed: Counting) -> None:
    desk.run(detailed)
    before = held(desk, detailed)
    stale = desk.windows()[0]
    desk.write_context(stale)
    for _event in desk.place.indexer.rebuild():
        pass
    after = held(desk, detailed)
    assert after.keys() == before.keys() - {stale}
    for id, vector in after.items():
        old, new = (np.array(each.rows()) for each in (before[id], vector))
        assert (old * new).sum(axis=1) == pytest.approx(np.ones(len(old)), abs=5e-3)
    detailed.fresh()
    desk.clock.now += 1_000
    assert desk.run(detailed)[1].pieces == 1


def test_what_they_cost_is_counted_in_the_library(desk: Desk, detailed: Counting) -> None:
    desk.run(detailed)
    cost = piece_cost(desk.library, detailed)
    assert cost is not None
    windows = desk.library.windows(desk.windows())
    mean = sum(len(cut_pieces(window)) for window in windows.values()) / len(windows)
    assert cost.pieces == pytest.approx(mean)
    assert cost.bytes == pytest.approx(1_000 * mean * detailed.dimensions * 9 / 8, rel=0.01)
    assert 0.5 < cost.letters < 1  # without the titles
    desk.write_context(desk.windows()[0])
    with_context = piece_cost(desk.library, detailed)
    assert with_context is not None
    assert with_context.letters > cost.letters
    detailed.has_pieces = False
    assert piece_cost(desk.library, detailed) is None


def test_light_encoders_make_them(encoder: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not makes_pieces(encoder)
    monkeypatch.setattr(encoder, "is_light", True, raising=False)
    assert makes_pieces(encoder)


def test_the_id_of_pieces_names_their_rule_and_no_encoder(encoder: Counting) -> None:
    assert piece_id("tiny@0") == f"tiny@0/pieces-{rule.PIECE_RULE}"
    assert pieces_name("tiny@0").startswith("pieces-")
    assert pieces_name("tiny@0")[7:] == vector_names("tiny@0")[0][6:]
    assert EncodingPass(encoder, pieces=True).name == pieces_name(encoder.id)
