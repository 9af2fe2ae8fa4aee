"""What an encoder reads of a window."""

from dataclasses import replace

from subtitle_rag.base.domain.values import Chapter, Line
from subtitle_rag.index.index_document import IndexDocument
from tests.support.invented import video, windows

OWN = windows("a", 3)
CHAPTERS = (Chapter(60_000, "국수 삶기"),)


def test_a_passage_is_title_chapter_context_and_text_without_empty_lines() -> None:
    told = video("a", title="느린 국수", chapters=CHAPTERS)
    material = IndexDocument(told, OWN, {OWN[1].id: ("key", "면을 삶는 장면입니다.")})
    assert material.passage(OWN[0].id) == f"느린 국수\n{OWN[0].text}"
    assert material.passage(OWN[1].id) == f"느린 국수\n국수 삶기\n면을 삶는 장면입니다.\n{OWN[1].text}"
    assert IndexDocument(replace(told, title=""), OWN, {}).passage(OWN[2].id) == f"국수 삶기\n{OWN[2].text}"


def test_a_title_is_read_without_what_says_nothing_of_the_content() -> None:
    raw = video("a", title="느린 국수 [ZjtMzMBQoXY].ko.vtt #shorts")
    clean = IndexDocument(replace(raw, title="느린 국수"), OWN, {})
    assert IndexDocument(raw, OWN, {}).passage(OWN[0].id) == f"느린 국수\n{OWN[0].text}"
    assert IndexDocument(raw, OWN, {}).passage_source(OWN[0].id) == clean.passage_source(OWN[0].id)
    bare = replace(raw, title="[ZjtMzMBQoXY].ko.vtt")
    assert IndexDocument(bare, OWN, {}).passage(OWN[0].id) == OWN[0].text


def test_a_passage_is_the_same_whichever_windows_stand_beside_it() -> None:
    told = video("a", chapters=CHAPTERS)
    for window in OWN:
        alone, among = IndexDocument(told, [window], {}), IndexDocument(told, OWN, {})
        assert alone.passage(window.id) == among.passage(window.id)
        assert alone.passage_source(window.id) == among.passage_source(window.id)


def test_its_source_changes_with_it_and_ends_in_the_context_s_key() -> None:
    told, id = video("a"), OWN[0].id
    made = [
        IndexDocument(told, OWN, {}),
        IndexDocument(replace(told, title="다른 제목"), OWN, {}),
        IndexDocument(replace(told, chapters=(Chapter(0, "국수"),)), OWN, {}),
        IndexDocument(told, OWN, {id: ("key", "면을 삶는 장면입니다.")}),
        IndexDocument(told, OWN, {id: ("key", "면을 써는 장면입니다.")}),
        IndexDocument(told, [replace(OWN[0], text="다른 말")], {}),
    ]
    sources = [one.passage_source(id) for one in made]
    assert len(set(sources)) == len(sources)
    assert [source.rpartition("/")[2] for source in sources] == ["", "", "", "key", "key", ""]
    assert IndexDocument(told, OWN, {OWN[1].id: ("key", "문맥")}).passage_source(id) == sources[0]


def test_pieces_are_read_alone_or_behind_title_chapter_and_context() -> None:
    told = video("a", title="느린 국수", chapters=CHAPTERS)
    text = "면을 아주 오래오래 푹 삶습니다 불을 조금 줄이고 한참 기다려요 "
    text += "이제 찬물에 여러 번 헹구면 쫄깃해집니다 그릇에 천천히 담아요"
    lines = tuple(Line(text.index(word), 60_000 + at * 15_000) for at, word in enumerate(("면을", "이제")))
    window = replace(OWN[1], text=text, lines=lines, end_ms=90_000)
    first, second = text[: lines[1].offset - 1], text[lines[1].offset :]
    bare = IndexDocument(told, [window], {})
    assert bare.pieces(window.id) == [first, second]
    given = IndexDocument(told, [window], {window.id: ("key", "면을 삶는 장면입니다.")})
    before = "느린 국수\n국수 삶기\n면을 삶는 장면입니다.\n"
    assert given.pieces(window.id) == [before + first, before + second]
    sources = [each.passage_source(window.id, pieces=True) for each in (bare, given)]
    assert [source.rpartition("/")[2] for source in sources] == ["", "key"]
    assert len({*sources, bare.passage_source(window.id)}) == 3
