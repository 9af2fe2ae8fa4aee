"""Marks: by video and time, whatever becomes of windows, videos and the file."""

from contextlib import closing
from dataclasses import replace

import pytest

from subtitle_rag.library.backup import back_up
from subtitle_rag.library.mark_store import Mark
from subtitle_rag.library.recovery import repair
from subtitle_rag.library.store import Library
from tests.library.damage import overwrite_page
from tests.support.invented import RULE, track, video, window, windows

VIDEO = video(url="https://youtu.be/video-00001")


@pytest.fixture
def library(library: Library) -> Library:
    library.put_video(VIDEO, track(), windows(VIDEO.id, 3), RULE)
    return library


def add(library: Library, start_ms: int = 60_000, **values: str) -> Mark:
    return library.marks.add(VIDEO, start_ms, start_ms + 60_000, start_ms + 1_000, "국수를 먹었어요", **values)


def test_a_scene_is_marked_once_and_keeps_its_note(library: Library) -> None:
    first = add(library, note="소스", tag="요리")
    again = add(library)
    assert (again.id, again.note, again.tag) == (first.id, "소스", "요리")
    assert add(library, note="다른 메모").note == "소스 · 다른 메모"
    assert add(library, note="소스").note == "소스 · 다른 메모"
    assert len(library.marks.all()) == 1


def test_marks_are_listed_in_their_order_and_by_tag(library: Library) -> None:
    marks = [add(library, start, tag=tag) for start, tag in ((60_000, "요리"), (0, ""), (120_000, "요리"))]
    assert [mark.id for mark in library.marks.all()] == [mark.id for mark in marks]
    assert [mark.start_ms for mark in library.marks.all("요리")] == [60_000, 120_000]
    assert [mark.start_ms for mark in library.marks.of_videos([VIDEO.id])] == [60_000, 0, 120_000]
    assert library.marks.of_videos(["other"]) == []


def test_note_and_tag_are_replaced_and_a_mark_is_removed(library: Library) -> None:
    mark = add(library)
    assert library.marks.put_note(mark.id, "메모")
    assert library.marks.put_tag(mark.id, "태그")
    (changed,) = library.marks.all()
    assert (changed.note, changed.tag) == ("메모", "태그")
    assert library.marks.remove(mark.id)
    assert library.marks.all() == []
    assert not library.marks.remove(mark.id)
    assert not library.marks.put_note(mark.id, "")
    assert not library.marks.put_tag(mark.id, "")


def test_marks_outlive_windows_and_leave_with_their_video(library: Library) -> None:
    mark = add(library, note="소스")
    library.put_windows(VIDEO.id, [window(VIDEO.id, 7, "만두")], "rule-2")
    assert library.marks.all() == [mark]
    library.remove_videos([VIDEO.id])
    assert library.marks.all() == []


def test_a_mark_has_the_names_of_its_video(library: Library) -> None:
    def names() -> tuple[str, str]:
        (mark,) = library.marks.all()
        assert library.marks.of_videos([VIDEO.id]) == [mark]
        return mark.title, mark.channel

    add(library, note="소스")
    assert names() == (VIDEO.title, VIDEO.channel)
    renamed = replace(VIDEO, title="새 제목", channel="새 이름")
    library.put_video(renamed, track(), windows(VIDEO.id, 3), RULE)
    assert names() == ("새 제목", "새 이름")


def test_marks_come_back_from_a_backup(library: Library) -> None:
    mark = add(library, note="소스", tag="요리")
    back_up(library.database)
    path = library.path
    library.close()
    overwrite_page(path, "mark")
    assert repair(path).problem
    with closing(Library(path)) as repaired:
        assert repaired.marks.all() == [mark]
