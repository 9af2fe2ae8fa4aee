"""Sets of passages in BEIR's and in TREC's form: how they are told apart, read, refused and measured."""

import json
from pathlib import Path

import pytest

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation.dataset import load_set as load
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.runtime import Runtime

PASSAGES = {
    "d1": ("메밀국수", "메밀국수는 메밀가루로 만든 면이다. 강원도에서 즐겨 먹는다."),
    "d2": ("왜가리", "왜가리는 물가에 사는 새이다. 논과 강에서 물고기를 잡는다."),
    "d3": ("막국수", "막국수도 메밀가루로 만든 면이고 김칫국물에 만다."),
    "d4": ("", "귤은 제주도에서 많이 나는 과일이다."),
}
QUERIES = {"1": "메밀가루로 만든 면", "2": "물고기를 잡는 새", "3": "아무도 판정하지 않은 질문"}
JUDGED = [("1", "d1", "2"), ("1", "d3", "1"), ("1", "d2", "0"), ("2", "d2", "1"), ("2", "gone", "1")]


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "작은 모음"
    corpus = ({"_id": id, "title": title, "text": text} for id, (title, text) in PASSAGES.items())
    write(folder / "corpus.jsonl", *map(json.dumps, corpus))
    write(folder / "queries.jsonl", *(json.dumps({"_id": id, "text": text}) for id, text in QUERIES.items()))
    write(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore", *map("\t".join, JUDGED))
    write(folder / "qrels" / "train.tsv", "query-id\tcorpus-id\tscore", "3\td4\t1")
    return folder


@pytest.fixture
def trec(tmp_path: Path) -> Path:
    folder = tmp_path / "trec"
    write(folder / "collection.tsv", *(f"{id}\t{text}" for id, (_title, text) in PASSAGES.items()))
    write(folder / "queries.dev.tsv", *map("\t".join, QUERIES.items()))
    write(folder / "qrels.dev.txt", *(f"{query} 0 {passage} {grade}" for query, passage, grade in JUDGED))
    return folder


@pytest.mark.parametrize("form", ["beir", "trec"])
def test_a_folder_is_read_in_its_form(form: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(form)

    loaded = load(folder)

    first, second = loaded.questions
    assert (first.id, first.query, first.kind) == ("1", QUERIES["1"], "test" if form == "beir" else "trec")
    assert [(gold.video, gold.grade) for gold in first.gold] == [("d1", 2), ("d3", 1)]
    assert [gold.video for gold in second.gold] == ["d2", "gone"]
    assert [(video.id, windows[0].text) for video, windows in loaded.documents] == [
        (id, text) for id, (_title, text) in PASSAGES.items()
    ]
    titles = [video.title for video, _windows in loaded.documents]
    assert titles == ([title for title, _text in PASSAGES.values()] if form == "beir" else [""] * 4)


def test_a_collection_of_json_lines_is_read(trec: Path) -> None:
    (trec / "collection.tsv").unlink()
    lines = [json.dumps({"id": id, "contents": text, "title": title}) for id, (title, text) in PASSAGES.items()]
    write(trec / "collection.jsonl", *lines)

    video, (window,) = load(trec).documents[0]

    assert (video.id, video.title, window.text) == ("d1", *PASSAGES["d1"])


def test_one_table_of_judgements_may_be_named(beir: Path) -> None:
    loaded = load(beir / "qrels" / "train.tsv")

    assert [(question.id, question.kind) for question in loaded.questions] == [("3", "train")]


def test_passages_are_found_and_grades_weigh(runtime: Runtime, beir: Path) -> None:
    report = run_arms(runtime, beir, with_baselines=False)

    assert (report.queries, report.missing) == (2, ("gone",))
    ours = report.rows[0].figures.means
    assert (ours["hit@1"], ours["failure@20"], ours["ndcg@10"]) == (1.0, 0.0, 1.0)
    assert runtime.library.counts().videos == 0


def test_a_lesser_grade_first_is_less_gain_but_a_hit(runtime: Runtime, trec: Path) -> None:
    write(trec / "qrels.dev.txt", "2 0 d2 1", "2 0 d1 3")  # d2 is what the words of the query find

    means = run_arms(runtime, trec, with_baselines=False).rows[0].figures.means

    assert means["hit@1"] == 1.0
    assert means["ndcg@10"] < 0.5


def test_passages_may_have_contexts_of_a_file(runtime: Runtime, beir: Path, tmp_path: Path) -> None:
    write(beir / "queries.jsonl", json.dumps({"_id": "1", "text": "두레반"}))
    write(beir / "qrels" / "test.tsv", "1\td1\t1")
    entry = {"video": "d1", "start": 0, "end": 60, "context": "두레반의 국수를 말한다."}
    contexts = write(tmp_path / "contexts.jsonl", json.dumps(entry))

    rows = {row.name: row for row in run_arms(runtime, beir, contexts=contexts, with_baselines=False).rows}

    assert list(rows) == ["bm25", "bm25 + contexts", "bm25 bare"]
    assert rows["bm25 + contexts"].figures.means["hit@1"] == 1.0
    assert rows["bm25"].figures.means["hit@20"] == 0.0


@pytest.mark.parametrize(
    ("file", "lines", "line", "reason"),
    [
        ("queries.jsonl", ['{"_id": "1", "text": "a"}', '{"_id": "1", "text": "b"}'], 2, "twice"),
        ("queries.jsonl", ['{"_id": "1"}'], 1, "text must"),
        ("corpus.jsonl", ['{"_id": "d1", "text": "a"}', "{"], 2, "no JSON"),
        ("corpus.jsonl", ['{"_id": "d1", "text": 7}'], 1, "must be texts"),
        ("corpus.jsonl", ['{"_id": "d1", "text": "a"}'] * 2, 2, "twice"),
        ("corpus.jsonl", [], 1, "no passages"),
        ("qrels/test.tsv", ["query-id\tcorpus-id\tscore", "1\td1"], 2, "3 columns"),
        ("qrels/test.tsv", ["query-id\tcorpus-id\tscore", "1\td1\tgood"], 2, "good"),
        ("qrels/test.tsv", ["query-id\tcorpus-id\tscore", "9\td1\t1"], 2, "9"),
        ("qrels/test.tsv", ["1\td1\t1", "1\td1\t2"], 2, "twice"),
        ("qrels/test.tsv", ["1\td1\t0"], 1, "above 0"),
    ],
)
def test_a_wrong_line_is_named(beir: Path, file: str, lines: list[str], line: int, reason: str) -> None:
    write(beir / file, *lines)

    with pytest.raises(UsageError) as caught:
        load(beir)

    assert (caught.value.code, caught.value.details["line"]) == ("bad_queries", line)
    assert reason in caught.value.details["reason"]


@pytest.mark.parametrize(
    ("file", "lines", "line"),
    [
        ("queries.dev.tsv", ["1\ta", "2"], 2),
        ("queries.dev.tsv", ["1\ta", "1\tb"], 2),
        ("collection.tsv", ["d1\ta", "d1\tb"], 2),
        ("collection.tsv", ["d1\ta\tb\tc"], 1),
        ("qrels.dev.txt", ["1 0 d1"], 1),
    ],
)
def test_a_wrong_line_of_trec_is_named(trec: Path, file: str, lines: list[str], line: int) -> None:
    write(trec / file, *lines)

    with pytest.raises(UsageError) as caught:
        load(trec)

    assert (caught.value.code, caught.value.details["line"]) == ("bad_queries", line)


def test_what_is_ambiguous_is_refused(trec: Path) -> None:
    write(trec / "topics.tsv", "1\ta")

    with pytest.raises(UsageError) as caught:
        load(trec)

    assert "topics.tsv" in str(caught.value)


def test_a_folder_of_anything_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path)

    assert caught.value.code == "unreadable"
    assert "BEIR" in str(caught.value)
