"""The pure parts: outside text as content, typed paths, the sums of a job."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len

from subtitle_rag.base.domain.events import (
    FetchEstimate,
    Found,
    IndexEvent,
    ListCutShort,
    Listed,
    Resting,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)
from subtitle_rag.base.domain.progress import remaining
from subtitle_rag.base.domain.values import Line
from subtitle_rag.captions import typed_sources
from subtitle_rag.captions.addresses import Source
from subtitle_rag.library.rows import Counts
from subtitle_rag.search.reasons import FoundWord
from subtitle_rag.tui.screens.library.library_text import field_line, shortfalls
from subtitle_rag.tui.shared import content, failure_reasons, search_text, source_field
from subtitle_rag.tui.shared.jobs import job_lines
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_queue import JobQueue
from subtitle_rag.tui.shared.scenes import scene_rows, transcript_lines as transcript
from subtitle_rag.tui.shared.spoken_lines import Surroundings
from subtitle_rag.workflows.pipeline import IndexMeter
from subtitle_rag.workflows.requests import JobRequest
from subtitle_rag.youtube import refusals
from tests.tui.conftest import NOON, SAMPLE, scene

DAY_S = 86_400


class TestText:
    def test_marks_keep_their_words_when_characters_before_them_are_dropped(self) -> None:
        said = "\u200b소스 \x1b치킨 [b]"
        drawn = content.marked(said, [(1, 3), (5, 7)], 0, len(said))
        assert drawn.plain == "소스 치킨 [b]"
        assert [drawn.plain[span.start : span.end] for span in drawn.spans] == ["소스", "치킨"]

    def test_marks_are_cut_at_the_ends_of_a_line(self) -> None:
        drawn = content.marked("가나다라마바", [(0, 2), (3, 9)], 1, 5)
        assert drawn.plain == "나다라마"
        assert [drawn.plain[span.start : span.end] for span in drawn.spans] == ["나", "라마"]

    def test_a_row_begins_near_its_first_mark(self) -> None:
        long = "아" * 300 + "치킨" + "어" * 300
        words, _reason = scene_rows.scene_row(scene(text=long, highlights=((300, 302),)), 80, 6)
        assert words.plain.index("치킨") < 50

    @pytest.mark.parametrize("room", [50, 70, 110])
    @pytest.mark.parametrize("before", [0, 10, 25, 38, 120])
    def test_the_first_mark_of_a_row_is_seen_in_any_width(self, room: int, before: int) -> None:
        said = " ".join(["가나다라"] * 30)[:before] + " 치킨 소스를 찍어요"
        at = said.index("치킨")
        words, _reason = scene_rows.scene_row(scene(text=said, highlights=((at, at + 2),)), room, 6)
        assert cell_len(words.plain[: words.plain.index("치킨") + 2]) <= room

    @pytest.mark.parametrize("before", range(6, 24))
    def test_the_first_mark_is_not_cut_by_the_reason(self, before: int) -> None:
        said = "가" * 3 + " " * (before - 3) + "치킨 소스를 찍어 먹으면 정말 맛있어요"
        words = (FoundWord("치킨", "text"), FoundWord("양념", "missing"))
        left, right = scene_rows.scene_row(scene(text=said, highlights=((before, before + 2),), words=words), 50, 6)
        shown = left.truncate(50 - right.cell_length - 2, ellipsis=True).plain
        assert "치킨" in shown

    def test_variants_are_marked_otherwise_than_typed_words(self) -> None:
        drawn = content.marked("통닭과 치킨", [(0, 2), (4, 6)], 0, 6, related={(0, 2)})
        assert [span.style for span in drawn.spans] == [content.RELATED_MARK, content.MARK]

    def test_a_row_without_a_mark_in_its_speech_tells_its_reason(self) -> None:
        found = scene(title="치킨의 날", highlights=(), title_highlights=((0, 2),), reason="title")
        byline = content.byline(found)
        assert byline.plain.strip() == "found by the title · 치킨의 날 · 채널"
        assert [byline.plain[s.start : s.end] for s in byline.spans if s.style == content.MARK] == ["치킨"]

    def test_the_transcript_hangs_under_its_times_and_knows_the_matched_row(self) -> None:
        own = scene(text="앞 줄 둘째 줄", lines=(Line(0, 3_661_000), Line(4, 61_000)), overlap_before="전에 한 말")
        content = transcript.scene_lines(own, Surroundings())
        rows = [row for at in range(len(content.lines)) for row in content.rows(at, 24)]
        assert [row.plain.rstrip() for row in rows] == [
            "          전에 한 말",
            " 1:01:01  앞 줄",
            "▶   1:01  둘째 줄",
        ]
        assert content.matched == 2
        long = scene(text="가 나 다 라 마 바 사 아 자 차 카 타 파 하")
        narrow = transcript.scene_lines(long, Surroundings()).rows(0, 20)
        assert len(narrow) > 3
        assert all(row.cell_length <= 20 for row in narrow)


class TestPaths:
    def test_what_drag_and_drop_adds_is_taken_off(self, tmp_path: Path) -> None:
        folder = tmp_path / "내 자막"
        folder.mkdir()
        for typed in (f"'{folder}'", f'"{folder}"', f"  {folder} ", folder.as_uri(), str(folder).replace(" ", "\\ ")):
            assert typed_sources.typed_paths(typed) == [folder]
        assert typed_sources.typed_paths(f"'{folder}' {tmp_path}") == [folder, tmp_path]
        assert typed_sources.typed_paths("~") == [Path.home()]
        assert typed_sources.typed_paths("  ") == []
        assert typed_sources.typed_paths("it's open") == [Path("it's open")]

    def test_backslashes_of_windows_are_no_escapes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        there = [Path(r"C:\내 자막\a.vtt"), Path(r"D:\b.vtt")]
        monkeypatch.setattr(os.path, "lexists", lambda path: Path(path) in there)
        monkeypatch.setattr(sys, "platform", "win32")
        assert typed_sources.typed_paths(r'"C:\내 자막\a.vtt" D:\b.vtt') == there
        assert typed_sources.typed_paths(r"C:\내 자막\a.vtt") == there[:1]

    @pytest.mark.parametrize(
        ("uri", "path"),
        [
            ("file:///C:/My%20Videos/a.vtt", "C:/My Videos/a.vtt"),
            ("file://localhost/C:/a.vtt", "C:/a.vtt"),
            ("file://nas/videos/a.vtt", "//nas/videos/a.vtt"),
        ],
    )
    def test_addresses_of_files_name_drives_and_computers_on_windows(
        self, uri: str, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", "win32")
        assert typed_sources.typed_paths(uri) == [Path(path)]

    @pytest.mark.parametrize(
        ("typed", "source"),
        [
            ("https://youtu.be/aB3_-xYz019", Source("video", "aB3_-xYz019")),
            ("www.youtube.com/@Market/shorts", Source("channel", "@market", ("shorts",))),
            ("@동네시장", Source("channel", "@동네시장")),
            ("aB3_-xYz019", Source("video", "aB3_-xYz019")),
            ("https://www.youtube.com/@a?" + "x=y&" * 90, Source("channel", "@a")),
        ],
    )
    def test_addresses_are_read_and_nothing_is_asked(self, typed: str, source: Source) -> None:
        assert source_field.look(typed) == source_field.FieldCheck("source", sources=(source,))

    @pytest.mark.parametrize("name", ["@market", "my-captions", "UC" + "a" * 22])
    def test_what_lies_on_the_disk_goes_first(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert source_field.look(name).kind == "source"
        (tmp_path / name).mkdir()
        assert source_field.look(name) == source_field.FieldCheck("files", (Path(name),))

    @pytest.mark.parametrize(
        ("typed", "kind"),
        [
            ("https://example.com/x", "refused"),
            ("https://www.youtube.com/feed/subscriptions", "refused"),
            ("./@market", "missing"),
            ("file:///no/such/folder", "missing"),
            ("../자막", "missing"),
            ("'/없는/곳'", "missing"),
            ("C:\\자막", "missing"),
            ("d:/자막", "missing"),
            ("~누구", "missing"),
            ("국수 삶기.SRT", "words"),
            ("A/S 센터", "words"),
            ("TCP/IP", "words"),
            ("3/4", "words"),
            ("naver.com/abc", "words"),
            ("...", "words"),
            ("x" * 300, "words"),
            ("\0", "words"),
            ("국수 3개", "words"),
            (" ", "nothing"),
        ],
    )
    def test_what_names_nothing_is_told_apart(self, typed: str, kind: str) -> None:
        assert source_field.look(typed).kind == kind

    @pytest.mark.parametrize(
        ("pasted", "address"),
        [
            (" youtu.be/x\n", "youtu.be/x"),
            ("@channel", "@channel"),
            ("치킨 @channel", None),
            ("치킨", None),
            ("", None),
            ("youtu.be/x\n\n @channel\r\nyoutu.be/y\n", "youtu.be/x @channel youtu.be/y"),
            ("youtu.be/x\n치킨", "youtu.be/x"),
            ("느긋한 식탁 3화 https://youtu.be/x.", "https://youtu.be/x"),
            ("youtu.be/x " * 10_000, None),
        ],
    )
    def test_an_address_alone_is_no_query(self, pasted: str, address: str | None) -> None:
        assert source_field.pasted_address(pasted) == address

    @pytest.mark.parametrize(
        ("typed", "address"),
        [
            ("https://youtu.be/aB3_-xYz019", "https://youtu.be/aB3_-xYz019"),
            (" https://youtu.be/aB3_-xYz019, https://x.y/a\n", "https://youtu.be/aB3_-xYz019 https://x.y/a"),
            ("https://youtu.be/aB3_-xYz019 에서 뭐라고 해?", None),
            ("@느린맛집", None),
            ("국수", None),
        ],
    )
    def test_a_typed_address_is_one_without_other_words(self, typed: str, address: str | None) -> None:
        assert source_field.typed_url(typed) == address

    def test_several_addresses_are_several_sources_each_once(self) -> None:
        typed = "https://youtu.be/aB3_-xYz019 @동네시장 https://www.youtube.com/watch?v=aB3_-xYz019"
        check = source_field.look(typed)
        assert check.sources == (Source("video", "aB3_-xYz019"), Source("channel", "@동네시장"))
        assert not check.names_lists
        assert field_line(check) == "✓ 2 addresses; Enter imports their captions"

    def test_lists_of_several_addresses_are_taken_whole_if_asked(self) -> None:
        list_id = "PL" + "a" * 16
        typed = f"https://youtu.be/aB3_-xYz019?list={list_id} @동네시장"
        check = source_field.read(typed)
        assert check.names_lists
        assert "Ctrl+L the whole lists" in field_line(check)
        assert [source.kind for source in check.sources] == ["video", "channel"]
        whole = source_field.read(typed, whole_list=True)
        assert whole.sources == (Source("playlist", list_id), Source("channel", "@동네시장"))

    def test_one_bad_address_of_several_is_named(self) -> None:
        check = source_field.look("youtu.be/aB3_-xYz019 https://example.com/x")
        assert check.kind == "refused"
        assert check.refusal is not None
        assert check.refusal.details["url"] == "https://example.com/x"

    def test_pasted_lines_are_one_line_of_paths(self, tmp_path: Path) -> None:
        files = [tmp_path / "a b.vtt", tmp_path / "it's.vtt", tmp_path / "c.vtt"]
        for file in files:
            file.touch()
        pasted = f"{files[0]}\n{files[2]}\n\nfile://{files[2]}\n"
        assert typed_sources.typed_paths(source_field.pasted_line(pasted)) == [files[0], files[2], files[2]]
        assert source_field.pasted_line(f" '{files[0]}'\n{files[2]}") == f"'{files[0]}' {files[2]}"
        assert source_field.pasted_line(f"{files[1]}\n") == str(files[1])
        assert source_field.pasted_line(" \n") == ""

    def test_a_look_counts_and_stops(self) -> None:
        vtt = next(SAMPLE.glob("*.vtt"))
        assert source_field.look(str(SAMPLE)) == source_field.FieldCheck("files", (SAMPLE,), files=9)
        assert source_field.look(str(vtt)) == source_field.FieldCheck("files", (vtt,), files=1)
        assert source_field.look(str(SAMPLE), lambda: True).more
        assert source_field.look(str(Path(__file__))).files == 0


class TestReasons:
    @pytest.mark.usefixtures("noon")
    def test_when_a_video_is_asked_for_again(self) -> None:
        assert failure_reasons.retry_text(None) == ""
        assert failure_reasons.retry_text(NOON + 300) == "asked again 12:05"
        assert failure_reasons.retry_text(NOON + 10 * DAY_S) == "asked again 12-01"
        assert failure_reasons.retry_text(NOON + 50 * DAY_S) == "asked again 2027-01-10"
        assert failure_reasons.retry_text(NOON - 1) == "asked again with Ctrl+R"
        assert failure_reasons.rest_end_text(NOON + 1) == "12:01"
        assert failure_reasons.rest_end_text(NOON + 13 * 3600) == "11-22 01:00"

    def test_every_refusal_has_its_words(self) -> None:
        files = {"unreadable", "not_captions", "no_cues", "too_large", "film_no_captions"}
        assert refusals.RULES.keys() | files == failure_reasons.WORDS.keys()
        assert failure_reasons.sums(["private", "no_captions", "private"]) == "private 2 · no captions 1"
        assert failure_reasons.failure_words("no_cues", {"path": "a.srt"}) == "no spoken line"
        assert failure_reasons.failure_words("no_caption_files", {"path": "a"}) == "No caption files in a."


class TestQueue:
    def test_errands_go_one_by_one_and_wait_when_they_are_stopped(self) -> None:
        one, two, three = (JobRequest(sources=(Source("channel", name),)) for name in ("@a", "@b", "@c"))
        queue = JobQueue()
        assert [queue.add(errand) for errand in (one, two, two)] == [True, True, False]
        assert queue.next() == one
        assert not queue.add(one)
        queue.hold()
        assert (queue.current, queue.waiting, queue.stopped) == (None, [], [one, two])
        assert queue.add(three)
        assert queue.add(two)
        assert (queue.waiting, queue.stopped) == ([three, two], [one])
        queue.release()
        assert [queue.next(), queue.next(), queue.next(), queue.next()] == [three, two, one, None]


class JobOfEvents:
    """A job that gets events at moments of a clock, as `pipeline` passes them on."""

    def __init__(self, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
        self.job, self._meter, self._now = job, IndexMeter(), 0.0
        monkeypatch.setattr("subtitle_rag.base.domain.progress.time", SimpleNamespace(monotonic=lambda: self._now))

    def take(self, now: float, *events: IndexEvent) -> str:
        """Return the line after these."""
        self._now = now
        for event in events:
            for each in self._meter.take(event):
                self.job = self.job.after(each)
        return job_lines.job_line(self.job)


class TestJobs:
    def test_the_sums_of_a_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run = JobOfEvents(Job("자막"), monkeypatch)
        assert "자막" in run.take(0)
        failed = VideoFailed("b", "나", "no_cues", {"path": "b"})
        run.take(1, Found(3), VideoDone("a", "가", "new", 8), failed)
        line = run.take(2, VideoDone("b", "나", "new", 4), WindowsIndexed(6))
        assert line == "Reading captions  Videos 2/3  Windows 6/18  ! 1 failed  ███░░░░░░░"
        for now in range(3, 7):
            line = run.take(now, WindowsIndexed(1))
        assert "Windows 10/18  1.0 windows/s  less than a minute left  " in line
        line = run.take(8, VideoDone("c", "다", "unchanged", 9), WindowsIndexed(2))
        assert line.startswith("Making them searchable  Videos 3/3  Windows 12/12  ")
        assert line.endswith("██████████")
        assert job_lines.job_outcome(run.job) == "3 videos can be searched now. ! 1 failed"

    def test_the_estimate_is_shown_from_the_start_until_the_rate_is_known(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = JobOfEvents(Job("느린 부엌", fetches=True), monkeypatch)
        line = run.take(1, FetchEstimate("느린 부엌", 1_203, 15_037, at_most=False))
        assert line == "Asking YouTube for 느린 부엌  about 1,200 videos, fetched in about 4 h"
        line = run.take(12, Found(30), VideoDone("v0", "가", "new", 3))
        assert "Videos 1/30  about 1,200 videos, fetched in about 4 h" in line
        for at in range(1, 6):
            line = run.take(12.0 * (at + 1), VideoDone(f"v{at}", "가", "new", 3))
        assert "about 1,200" not in line

    def test_what_a_list_lacks_is_shown(self) -> None:
        job = Job("느린 부엌", fetches=True).after(ListCutShort("u", "[느린] 부엌", 5_000, 5_200))
        assert shortfalls(job) == [
            "– YouTube counts 5,200 videos in [느린] 부엌 and lists 5,000. The others are hidden, private or left out."
        ]

    def test_what_comes_from_youtube_is_reckoned_in_videos_and_rests_are_no_work(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = JobOfEvents(Job("느린 부엌", fetches=True), monkeypatch)
        assert run.take(0) == "Asking YouTube for 느린 부엌"
        run.take(0, Listed("v0", "가"), Found(20))
        for at in range(3):
            line = run.take(10 * (at + 1), VideoDone(f"v{at}", "가", "new", 3))
        assert line == "Captions from 느린 부엌  Videos 3/20  ██░░░░░░░░"
        for at in range(3, 5):
            run.take(10 * (at + 1), VideoDone(f"v{at}", "가", "new", 3))
        line = run.take(50, VideoDone("v5", "가", "unchanged", 3))
        assert line == "Captions from 느린 부엌  Videos 6/20  6 videos/min  about 2 min left  ███░░░░░░░"
        line = run.take(50, Resting(0, "bot_check", {}, True))
        assert "min left" not in line
        assert run.job.resting
        line = run.take(3_650, VideoDone("v6", "가", "new", 3), WindowsIndexed(3))
        assert not run.job.resting
        assert "6 videos/min" in line
        for failed in ("members_only", "private", "caption_damaged"):
            line = run.take(3_650, VideoFailed(failed, "나", failed, {}))
        assert "– 2 skipped ! 1 failed" in line
        assert job_lines.job_outcome(run.job) == "6 new videos can be searched now. – 2 skipped ! 1 failed"

    @pytest.mark.parametrize(
        ("seconds", "left"),
        [(20, "less than a minute left"), (840, "about 14 min left"), (7_800, "about 2 h 10 min left")],
    )
    def test_what_is_left_is_told_roughly(self, seconds: float, left: str) -> None:
        assert remaining(seconds) == left


def test_numbers_of_videos_that_differ_add_up() -> None:
    rows = search_text.welcome(Counts(2, 253, 4, 8, 900, 900))
    assert "Indexing: 241 of 245 videos can be searched so far." in rows
    rows = search_text.welcome(Counts(2, 253, 0, 0, 900, 300))
    assert "Indexing: 300 of 900 scenes can be searched so far." in rows
    assert "Indexing" not in str(search_text.welcome(Counts(2, 253, 0, 0, 900, 900)))
