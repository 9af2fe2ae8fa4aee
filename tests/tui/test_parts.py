"""The pure parts: outside text as content, typed paths, the sums of a job."""

from pathlib import Path

import pytest

from subtitle_rag.domain import Line
from subtitle_rag.events import Found, IndexEvent, IndexReport, VideoDone, VideoFailed, WindowsIndexed
from subtitle_rag.tui import jobs, paths, text
from subtitle_rag.tui.jobs import Job
from tests.tui.conftest import SAMPLE, scene


class TestText:
    def test_marks_keep_their_words_when_characters_before_them_are_dropped(self) -> None:
        said = "\u200b소스 \x1b치킨 [b]"
        content = text.marked(said, [(1, 3), (5, 7)], 0, len(said))
        assert content.plain == "소스 치킨 [b]"
        assert [content.plain[span.start : span.end] for span in content.spans] == ["소스", "치킨"]

    def test_marks_are_cut_at_the_ends_of_a_line(self) -> None:
        content = text.marked("가나다라마바", [(0, 2), (3, 9)], 1, 5)
        assert content.plain == "나다라마"
        assert [content.plain[span.start : span.end] for span in content.spans] == ["나", "라마"]

    def test_a_row_begins_near_its_first_mark(self) -> None:
        long = "아" * 300 + "치킨" + "어" * 300
        first, second = text.row(scene(text=long, highlights=((300, 302),))).plain.split("\n")
        assert first.index("치킨") < 50
        assert second.strip() == "채널 · 제목"

    def test_the_transcript_hangs_under_its_times_and_knows_the_matched_row(self) -> None:
        own = scene(text="앞 줄 둘째 줄", lines=(Line(0, 3_661_000), Line(4, 61_000)), overlap_before="전에 한 말")
        rows, matched = text.transcript(own, 24)
        assert [row.plain.rstrip() for row in rows] == [
            "          전에 한 말",
            " 1:01:01  앞 줄",
            "▶   1:01  둘째 줄",
        ]
        assert matched == 2
        narrow, matched = text.transcript(scene(text="가 나 다 라 마 바 사 아 자 차 카 타 파 하"), 20)
        assert len(narrow) > 3
        assert all(row.cell_length <= 20 for row in narrow)


class TestPaths:
    def test_what_drag_and_drop_adds_is_taken_off(self, tmp_path: Path) -> None:
        folder = tmp_path / "내 자막"
        folder.mkdir()
        for typed in (f"'{folder}'", f'"{folder}"', f"  {folder} ", folder.as_uri(), str(folder).replace(" ", "\\ ")):
            assert paths.typed_paths(typed) == [folder]
        assert paths.typed_paths(f"'{folder}' {tmp_path}") == [folder, tmp_path]
        assert paths.typed_paths("~") == [Path.home()]
        assert paths.typed_paths("  ") == []
        assert paths.typed_paths("it's open") == [Path("it's open")]

    @pytest.mark.parametrize("typed", ["https://youtu.be/x", "www.youtube.com/@a", "@channel", "youtube.com/watch?v=x"])
    def test_addresses_are_told_from_paths(self, typed: str) -> None:
        assert paths.look(typed).kind == "address"

    def test_a_look_counts_and_stops(self) -> None:
        assert paths.look(str(SAMPLE)) == paths.Check("files", 9)
        assert paths.look(str(next(SAMPLE.glob("*.vtt")))) == paths.Check("files", 1)
        assert paths.look(str(SAMPLE), lambda: True).more
        assert paths.look(str(Path(__file__))) == paths.Check("files", 0)


class TestJobs:
    def test_the_sums_of_a_run(self) -> None:
        job = Job("자막")
        assert "자막" in jobs.line(job)
        failed = VideoFailed("b", "나", "no_cues", {"path": "b"})
        events: list[IndexEvent] = [Found(3), VideoDone("a", "가", "new", 8), failed]
        events += [VideoDone("b", "나", "new", 4), WindowsIndexed(6)]
        for seconds, event in enumerate(events):
            job = job.after(event, float(seconds))
        assert (job.taken, job.windows, job.searchable) == (2, 12, 6)
        assert "Reading captions  videos 2/3  windows 6/12  2 windows/s  ! 1 failed  " in jobs.line(job)
        job = job.after(VideoDone("c", "다", "unchanged", 9), 5.0).after(WindowsIndexed(6), 6.0)
        assert job.progress == 1.0
        assert jobs.outcome(job.after(IndexReport(), 6.0)) == "3 videos can be searched now. ! 1 failed"
