"""What a window's `bm25` vector is made of: its own words, and what stands in front of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from subtitle_rag.base.domain.values import Chapter, Line, Video, Window
from subtitle_rag.base.vectors.points import SparseVector
from subtitle_rag.index.index_document import IndexDocument, keywords, to_payload
from subtitle_rag.korean.morphemes import Analyzer, document_vector, term_id
from tests.support import invented
from tests.support.invented import analysis
from tests.support.searchable import filled, video

TEXTS = ["꽃게를 샀어요", "간장을 부었어요", "마늘을 썰었어요"]


def windows(texts: Sequence[str]) -> list[Window]:
    return [
        Window(f"w{n}", "v", n, n * 60_000, (n + 1) * 60_000, text, (Line(0, n * 60_000),))
        for n, text in enumerate(texts)
    ]


def material(
    texts: Sequence[str], *, chapters: Sequence[Chapter] = (), contexts: dict[str, tuple[str, str]] | None = None
) -> IndexDocument:
    own = Video("v", "시장 구경", "c", "채널", chapters=tuple(chapters))
    return IndexDocument(own, windows(texts), contexts or {})


def vectors(material: IndexDocument, analyzer: Analyzer) -> list[SparseVector]:
    made = material.vectors(list(analyzer.morphemes(material.texts())))
    return [made[window.id] for window in material.windows]


def holds(vector: SparseVector, *forms: str) -> list[bool]:
    return [term_id("m", form) in vector.indices for form in forms]


def test_keywords_are_the_most_telling_words_of_each_window() -> None:
    own = analysis("꽃게", "꽃게", "소스", "우리", "찜")
    others = [analysis("우리", "소스"), analysis("우리", "치킨")]
    assert keywords([own, *others]) == [["꽃게", "소스", "우리"], ["소스", "우리"], ["치킨", "우리"]]


def test_keywords_are_at_most_five_and_equal_ones_come_in_order() -> None:
    assert keywords([analysis("바다", "나무", "가위", "라면", "마늘", "사과")]) == [
        ["가위", "나무", "라면", "마늘", "바다"]
    ]
    assert keywords([]) == []
    assert keywords([analysis()]) == [[]]


def test_a_windows_vector_holds_the_title_and_the_neighbours_keywords(analyzer: Analyzer) -> None:
    held = [holds(v, "시장", "구경", "꽃게", "간장", "마늘") for v in vectors(material(TEXTS), analyzer)]
    assert held == [[True, True, True, True, False], [True] * 5, [True, True, False, True, True]]


def test_a_title_that_tells_nothing_is_in_front_of_no_window(analyzer: Analyzer) -> None:
    told = material(TEXTS)
    untold = replace(told, video=replace(told.video, title="영상 2034 (3)"))

    assert not any(any(holds(vector, "영상", "2034", "3")) for vector in vectors(untold, analyzer))
    assert [untold.passage(window.id) for window in untold.windows] == list(TEXTS)


def test_words_across_a_silence_of_more_than_twelve_seconds_are_not_near(analyzer: Analyzer) -> None:
    first, second, third = windows(TEXTS)
    sparse = [replace(first, end_ms=3_000), replace(second, end_ms=108_001), third]
    own = Video("v", "시장 구경", "c", "채널")

    held = [holds(v, "꽃게", "간장", "마늘") for v in vectors(IndexDocument(own, sparse, {}), analyzer)]

    assert held == [[True, False, False], [False, True, True], [False, True, True]]


def test_a_neighbours_words_are_not_in_the_bigrams_of_speech_across_windows(analyzer: Analyzer) -> None:
    first, _second = vectors(material(["꽃게", "간장"]), analyzer)
    assert first == document_vector(["시장", "구경", "간장", "꽃게"], "시장 구경 간장 꽃게")


def test_a_windows_vector_holds_the_title_of_its_chapter_alone(analyzer: Analyzer) -> None:
    chapters = [Chapter(0, "장보기"), Chapter(62_000, "양념"), Chapter(120_000, "양념")]
    made = vectors(material(TEXTS, chapters=chapters), analyzer)
    assert [holds(vector, "장보기", "양념") for vector in made] == [[True, False], [False, True], [False, True]]


def test_a_written_context_goes_in_front_of_its_window_alone(analyzer: Analyzer) -> None:
    plain = vectors(material(TEXTS), analyzer)
    context = ("key", "바다 마을에서 새우를 고르는 장면이다.")
    made = vectors(material(TEXTS, contexts={"w1": context}), analyzer)
    assert (made[0], made[2]) == (plain[0], plain[2])
    assert holds(made[1], "바다", "새우", "간장", "꽃게", "시장") == [True] * 5


def test_terms_of_titles_and_contexts_are_those_that_no_window_says(analyzer: Analyzer) -> None:
    chapters = [Chapter(0, "장보기"), Chapter(62_000, "양념")]
    made = material(TEXTS, chapters=chapters, contexts={"w1": ("key", f"바다 마을에서 {TEXTS[0]}")})
    terms = made.context_terms(list(analyzer.morphemes(made.texts())))
    assert terms["w1"] == {"바다", "마을"}
    assert "구경" in terms["w0"]
    assert set(terms) == {"w0", "w1"}
    assert material([]).context_terms(list(analyzer.morphemes(material([]).texts()))) == {}


def test_a_source_tells_what_a_vector_is_made_of() -> None:
    plain = material(TEXTS)
    with_context = material(TEXTS, contexts={"w1": ("key1", "바다")})
    assert plain.source("w0") == plain.source("w1") == with_context.source("w0")
    assert with_context.source("w1").endswith("/key1")
    assert material(TEXTS, chapters=[Chapter(0, "장보기")]).source("w0") != plain.source("w0")
    assert material([*TEXTS[:2], "파를 썰었어요"]).source("w0") != plain.source("w0")


def test_a_windows_vector_depends_on_its_own_video_alone(analyzer: Analyzer, tmp_path: Path) -> None:
    minutes = [["꽃게를 샀어요"], ["간장을 부었어요"]]
    alone = filled(tmp_path / "a.db", analyzer, {video("invented001"): minutes})
    among = filled(
        tmp_path / "b.db", analyzer, {video("invented000"): [["꽃게 꽃게"]] * 3, video("invented001"): minutes}
    )
    made = []
    for library in (alone, among):
        known = library.video("invented001")
        assert known
        made.append(vectors(IndexDocument(known, library.windows_of(known.id), {}), analyzer))
        library.close()
    assert len(made[0]) == 2
    assert made[0] == made[1]


def test_a_payload_is_plain_json_with_all_that_a_scene_needs() -> None:
    owner = invented.video(
        "theirs00001", url="https://www.youtube.com/watch?v=theirs00001", published=date(2026, 5, 31)
    )
    payload = to_payload(owner, invented.window(owner.id, 3), "국수를 삶는 장면")
    assert json.loads(json.dumps(payload)) == payload
    assert (payload["video"], payload["channel_id"], payload["published"]) == (owner.id, "channel", "2026-05-31")
    assert (payload["text"], payload["context"]) == ("국수를 먹었어요", "국수를 삶는 장면")
    assert "speakers" not in payload
