"""KorQuAD's articles as videos for `scripts/bench fusion`."""

import json
from pathlib import Path

from hypothesis import given, strategies as st

from scripts.benchmarks import _korquad
from scripts.benchmarks._korquad import read_korquad
from subtitle_rag.evaluation.questions import answers


def korquad_file(folder: Path, contexts: list[str], answer: str) -> Path:
    entries = [
        {
            "context": context,
            "qas": [
                {
                    "id": f"{number}",
                    "question": "어디?",
                    "answers": [{"text": answer, "answer_start": context.index(answer)}],
                }
            ]
            if answer in context
            else [],
        }
        for number, context in enumerate(contexts)
    ]
    path = folder / "korquad.json"
    path.write_text(json.dumps({"version": "1", "data": [{"title": "글", "paragraphs": entries}]}), encoding="utf-8")
    return path


def test_articles_become_videos_with_windows(tmp_path: Path) -> None:
    long = "가나다 라마바사. " * 60 + "정답은 여기 있다. " + "아자차 카타파하. " * 30
    dataset, ((video, windows),) = read_korquad(korquad_file(tmp_path, ["짧은 글이다.", long], "여기"))

    assert video.title == "글"
    assert [w.ordinal for w in windows] == list(range(len(windows)))
    assert "".join("".join(w.text for w in windows).split()) == "".join(("짧은 글이다." + long).split())
    (question,) = dataset.questions
    (answering,) = answers(question, {video.id: windows})
    assert "여기" in next(w.text for w in windows if w.id == answering)


def test_an_answer_across_a_cut_is_in_both_windows(tmp_path: Path) -> None:
    context = "가" * 590
    _dataset, ((video, windows),) = read_korquad(korquad_file(tmp_path, [context], context[280:310]))
    dataset, ((_video, articles),) = read_korquad(
        korquad_file(tmp_path, ["가" * 290 + "정답이여기" + "나" * 290], "정답이여기")
    )

    loaded = answers(dataset.questions[0], {video.id: articles})

    assert len(windows) == 2
    assert len(loaded) == 2
    assert set(loaded.values()) == {frozenset({0})}


@given(st.text(alphabet="가나다. \n?", max_size=2_000))
def test_pieces_lose_nothing_but_spaces(text: str) -> None:
    parts = list(_korquad.pieces(text))

    assert "".join("".join(part for _at, part in parts).split()) == "".join(text.split())
    assert all(text[at : at + len(part)] == part for at, part in parts)
    assert all(len(part) <= 1.5 * _korquad.WINDOW_CHARS + 2 * _korquad.REACH for _at, part in parts)
