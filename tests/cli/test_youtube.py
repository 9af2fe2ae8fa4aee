"""`index URL`, `sync` and what the other commands say of YouTube, on the stand-in."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.library.store import Library
from tests.stand_ins.youtube import Caption, Channel, Clip, Playlist, StandIn, stand_in
from tests.support.commandline import Run
from tests.support.invented import came_true, end_hosts

QUICK = "pause = 0\n"
CHANNEL_ID = "UC" + "a" * 22
CHANNEL = f"https://www.youtube.com/channel/{CHANNEL_ID}"
PLAYLIST = "PL" + "b" * 16

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def home(isolated_home: Path) -> Iterator[Path]:
    configure(isolated_home)
    yield isolated_home
    end_hosts([isolated_home / "data" / "index"])


def configure(home: Path, more: str = "rest = 1\n") -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(f"[youtube]\n{QUICK}{more}")


@pytest.fixture
def run(home: Path, command: Run) -> Run:
    return command


@pytest.fixture
def kitchen() -> Channel:
    return Channel(CHANNEL_ID, "@느린부엌", "느린 부엌", [Clip(f"slowcook{n:03d}", f"국수 삶기 {n}") for n in range(3)])


@pytest.fixture
def youtube(kitchen: Channel) -> Iterator[StandIn]:
    with stand_in() as youtube:
        youtube.add(kitchen)
        youtube.add(Playlist(PLAYLIST, "국물 모음", kitchen.clips[1:], kitchen))
        yield youtube


def test_a_channel_comes_in_and_is_found(run: Run, youtube: StandIn) -> None:
    result = run("index", "youtube.com/@느린부엌", "--json").result
    assert result["videos"] == {"found": 3, "new": 3, "changed": 0, "unchanged": 0, "failed": 0}
    assert result["library"] == {"videos": 3, "windows": 3}
    assert youtube.count() == 2 + 3 * 2
    scene = run("search", "멸치 육수", "--json").result["scenes"][0]
    assert scene["video"]["channel"] == "느린 부엌"
    assert scene["url"].startswith("https://youtu.be/slowcook00")


def test_syncing_with_nothing_new_costs_one_request(run: Run, youtube: StandIn) -> None:
    run("index", "@느린부엌")
    youtube.clear()
    assert "Last sync" not in run("status").out
    assert run("sync", "--json").result["videos"]["new"] == 0
    assert youtube.count() == 1
    assert re.search(r"Last sync [\d-]+ [\d:]+: 0 new videos", run("status").out)


def test_sync_brings_what_is_new_of_the_channels_that_are_named(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    other = Channel("UC" + "c" * 22, "@other", "다른 채널", [Clip("othercook01", "다른 영상")])
    youtube.add(other)
    run("index", "@느린부엌", "@other")
    kitchen.clips.insert(0, Clip("slowcook999", "새 영상"))
    other.clips.insert(0, Clip("othercook02", "새 다른 영상"))
    assert run("sync", "빠른부엌", "--json").failure == "unknown"
    assert run("sync", "느린부엌", "--json").result["videos"]["new"] == 1
    assert run("sync", "--json").result["videos"]["new"] == 1


def test_a_sync_without_anything_followed_says_how_to_begin(run: Run, youtube: StandIn) -> None:
    ran = run("sync")
    assert (ran.code, youtube.count()) == (0, 0)
    assert "subtitle-rag index URL" in ran.err


def test_failures_are_told_and_do_not_fail_the_run(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    kitchen.clips[0].state = kitchen.clips[1].state = "members_only"
    ran = run("index", "@느린부엌", "--json")
    assert (ran.code, ran.document["status"]) == (0, "partial")
    assert [(e["code"], e["video"]) for e in ran.document["errors"]] == [
        ("members_only", "slowcook000"),
        ("members_only", "slowcook001"),
    ]
    assert ran.err.count("If you are a member") == 1  # what to do is said once for all


def test_skipped_videos_are_counted_apart_from_failures(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    kitchen.clips[0].state = "members_only"
    ran = run("index", "@느린부엌")
    assert "1 skipped, 0 failed" in ran.out
    assert "– " in ran.err
    assert "! " not in ran.err


def test_a_followed_source_that_is_gone_is_told_by_its_name(run: Run, youtube: StandIn) -> None:
    run("index", "@느린부엌", PLAYLIST)
    youtube.site.channels.clear()
    youtube.site.playlists.clear()
    ran = run("sync", "--json")
    told = [(entry["code"], entry["video"], entry["message"].split(" ")[:2]) for entry in ran.document["errors"]]
    assert told == [
        ("not_found", CHANNEL, ["느린", "부엌"]),
        ("not_found", f"https://www.youtube.com/playlist?list={PLAYLIST}", ["국물", "모음"]),
    ]
    assert "https://" not in ran.err


def test_events_come_as_lines(run: Run, youtube: StandIn) -> None:
    youtube.refuse("timedtext", 429, times=5)
    lines = [json.loads(line) for line in run("index", "@느린부엌", "--limit", "1", "--jsonl").out.splitlines()]
    names = [line["event"] for line in lines]
    assert names == ["listed", "progress", "resting", "video_done", "progress", "progress", "report"]
    assert lines[0] == {"event": "listed", "video": "slowcook000", "title": "국수 삶기 0"}
    assert lines[2]["code"] == "rate_limited"
    assert lines[2]["goes_on"] is True


def test_a_block_ends_an_impatient_run_with_three_and_is_remembered(run: Run, youtube: StandIn, home: Path) -> None:
    configure(home, "rest = 3600\n")
    youtube.refuse("timedtext", 429, times=None)
    ran = run("index", "@느린부엌", "--no-wait", "--json")
    assert ran.code == 3
    assert [entry["code"] for entry in ran.document["errors"]] == ["rate_limited"]
    youtube.forgive()
    youtube.clear()
    assert run("sync", "--no-wait", "--json").code == 3
    assert youtube.count() == 0
    assert run("status", "--json").result["rest"]["code"] == "rate_limited"
    assert run("sync", "--no-wait", "--retry", "--json").result["videos"]["new"] == 3


def test_of_a_video_in_a_list_the_video_is_taken_unless_the_list_is_wanted(run: Run, youtube: StandIn) -> None:
    link = f"https://youtu.be/slowcook001?list={PLAYLIST}"
    ran = run("index", link)
    assert PLAYLIST in ran.err
    assert [asked.video for asked in youtube.asked("watch")] == ["slowcook001"]
    assert run("index", link, "--no-playlist").err == ""
    assert run("index", link, "--playlist", "--json").result["videos"]["found"] == 2
    assert len(run("status", "--json").result["sources"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["https://example.com/watch?v=slowcook001"], "unsupported_url"),
        (["http://169.254.169.254/latest"], "unsupported_url"),
        (["file:///no/such/folder"], "unsupported_source"),
        (["ytsearch5:국수"], "unsupported_source"),
        (["@느린부엌", "--tabs", "videos,posts"], "unknown_value"),
        (["@느린부엌", "--match", "(국수"], "bad_pattern"),
        (["@느린부엌", "--since", "언젠가"], "bad_value"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(
    run: Run, youtube: StandIn, arguments: list[str], code: str
) -> None:
    ran = run("index", *arguments, "--json")
    assert (ran.code, ran.failure, youtube.count()) == (2, code, 0)


def test_all_addresses_of_a_text_are_taken(run: Run, youtube: StandIn) -> None:
    text = "1. https://youtu.be/slowcook001\n2. https://youtu.be/slowcook002 (https://example.com/x)"
    assert run("index", text, "--json").result["videos"]["new"] == 2


def test_a_path_is_taken_as_it_is_pasted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "내 자막" / "국수.vtt"
    file.parent.mkdir()
    file.write_text("WEBVTT\n\n00:00.000 --> 00:02.000\n국수를 삶아요\n", encoding="utf-8")
    assert run("index", f"'{file}'", "--json").result["videos"]["new"] == 1


def test_a_folder_with_the_name_of_a_handle_goes_first(
    run: Run, youtube: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "@느린부엌").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run("index", "@느린부엌", "--json").failure == "no_caption_files"
    assert youtube.count() == 0


def test_wishes_choose_videos(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    kitchen.clips.append(Clip("slowshort01", "짧은 영상", kind="short"))
    assert run("index", "@느린부엌", "--match", "삶기 [12]", "--json").result["videos"]["new"] == 2
    assert run("index", "@느린부엌", "--tabs", "shorts", "--json").result["videos"]["new"] == 1
    source = run("status", "--json").result["sources"][0]
    assert (source["url"], source["tabs"], source["match"]) == (CHANNEL, ["shorts"], None)


def test_removing_a_channel_ends_following_it(run: Run, youtube: StandIn) -> None:
    run("index", "@느린부엌")
    result = run("remove", "느린 부엌", "--yes", "--json").result
    assert len(result["removed"]) == 3
    assert result["unfollowed"] == [CHANNEL]
    youtube.clear()
    assert run("sync").code == 0
    assert youtube.count() == 0


@pytest.mark.campaign(part="lists")
def test_a_renamed_channel_goes_by_the_name_of_its_videos_and_by_its_new_one(
    run: Run, youtube: StandIn, kitchen: Channel
) -> None:
    run("index", "@느린부엌")
    kitchen.name = "빠른 부엌"
    run("sync")
    assert run("list", "--json").result["channels"][0]["name"] == "느린 부엌"
    for name in ("느린 부엌", "빠른 부엌"):
        assert run("sync", name, "--json").code == 0
    assert run("remove", "느린 부엌", "--yes", "--json").result["unfollowed"] == [CHANNEL]


def test_removing_one_tab_of_a_channel_leaves_the_videos_of_the_others(
    run: Run, youtube: StandIn, kitchen: Channel
) -> None:
    kitchen.clips.append(Clip("slowlive001", "방송", kind="stream"))
    kitchen.clips.append(Clip("slowshort01", "짧은 영상", kind="short"))
    for tab in ("videos", "streams"):
        run("index", f"{CHANNEL}/{tab}")
    run("index", "slowshort01")
    result = run("remove", f"{CHANNEL}/streams", "--yes", "--json").result
    assert [video["id"] for video in result["removed"]] == ["slowlive001"]
    assert result["unfollowed"] == [f"{CHANNEL}/streams"]
    result = run("remove", f"{CHANNEL}/videos", "--yes", "--json").result
    assert len(result["removed"]) == 4
    assert result["unfollowed"] == [f"{CHANNEL}/videos"]


@pytest.mark.parametrize("name", [CHANNEL_ID, CHANNEL, "@느린부엌", "느린 부엌"])
def test_removing_a_channel_without_a_tab_removes_all_its_sources(
    run: Run, youtube: StandIn, kitchen: Channel, name: str
) -> None:
    kitchen.clips.append(Clip("slowlive001", "방송", kind="stream"))
    for address in ("@느린부엌", f"{CHANNEL}/streams"):
        run("index", address)
    result = run("remove", name, "--yes", "--json").result
    assert len(result["removed"]) == 4
    assert result["unfollowed"] == [CHANNEL, f"{CHANNEL}/streams"]


def test_removing_a_playlist_leaves_what_other_sources_hold(run: Run, youtube: StandIn) -> None:
    run("index", "@느린부엌", "--limit", "2")
    run("index", f"https://www.youtube.com/playlist?list={PLAYLIST}")
    result = run("remove", PLAYLIST, "--yes", "--json").result
    assert [video["id"] for video in result["removed"]] == ["slowcook002"]
    assert result["unfollowed"] == [f"https://www.youtube.com/playlist?list={PLAYLIST}"]


def test_status_and_list_tell_what_waits_and_what_is_asked_again(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    kitchen.clips[0].captions = []
    youtube.refuse("timedtext", 429, times=None, video="slowcook002")
    run("index", "@느린부엌", "--no-wait")
    status = run("status", "--json").result
    assert status["stages"]["captions"] == {"done": 1, "due": 0, "failed": 2}
    failures = {entry["code"]: entry for entry in status["failures"]}
    assert set(failures) == {"no_captions", "rate_limited"}
    assert all(entry["retry_at"].endswith("Z") for entry in failures.values())
    text = run("status").out
    counts = [line.split() for line in text.splitlines()]
    assert ["Skipped", "1"] in counts
    assert ["Failed", "1"] in counts
    assert sorted(line[0] for line in text.splitlines() if line[0] in "–!") == ["!", "–"]
    assert "Followed: 느린 부엌 (3 videos" in text
    assert "Asked again 20" in text
    (channel,) = run("list", "--json").result["channels"]
    assert {video["id"]: video["due"] for video in channel["videos"]}["slowcook001"] is False


def test_show_tells_what_youtube_says_of_a_video(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    clip = kitchen.clips[0]
    clip.description, clip.heatmap = "육수 이야기", [0.1, 1.0, 0.4]
    clip.chapters = [(0, "불 켜기"), (7, "국물 내기")]
    run("index", "slowcook000")
    video = run("show", "slowcook000", "--json").result["video"]
    assert [chapter["title"] for chapter in video["chapters"]] == ["불 켜기", "국물 내기"]
    assert [heat["value"] for heat in video["heatmap"]] == [0.1, 1.0, 0.4]
    assert video["description"].startswith("육수 이야기")
    assert (video["published"], video["duration"], video["kind"]) == ("2026-05-02", 600.0, "video")
    assert video["track"] == {
        "language": "ko",
        "kind": "asr",
        "flag": None,
        "selection": None,
        "model": None,
        "settings": None,
    }
    assert video["thumbnail"].startswith("https://i.ytimg.com/")
    assert "## 국물 내기" in run("show", "slowcook000").out


def test_a_translation_is_taken_only_when_asked_for_and_told(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    kitchen.clips[0].captions = [Caption("en")]
    assert run("index", "slowcook000", "--json").document["errors"][0]["code"] == "no_captions"
    assert run("index", "slowcook000", "--translated", "--json").result["videos"]["new"] == 1
    assert "machine's translation" in run("show", "slowcook000").err


@pytest.mark.campaign(part="lists")
def test_an_interrupted_rest_loses_nothing(youtube: StandIn, home: Path) -> None:
    configure(home, "rest = 3600\n")
    youtube.refuse("timedtext", 429, times=None, video="slowcook001")
    command = [sys.executable, "-m", "subtitle_rag", "--home", str(home), "index", "@느린부엌"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as process:
        assert came_true(lambda: youtube.count("timedtext") == 1 + 5, 30)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert youtube.count("watch") == 2


def test_the_choice_of_a_track_and_its_reason_are_told(run: Run, youtube: StandIn) -> None:
    greeting = Caption(kind="manual", lines=((0, 2_000, "안녕하세요"),))
    english = [(2_000 * n, 2_000 * n + 900, f"then we boil the noodles, number {n}") for n in range(9)]
    youtube.add(
        Clip("sparse00001", "인사만 쓴 영상", captions=[greeting, Caption()], duration=14),
        Clip("english0001", "영어 영상", captions=[Caption(lines=english)]),
    )
    run("index", "sparse00001", "english0001")
    said = run("status").out
    assert "· 인사만 쓴 영상: The automatic captions (ko, 46 syllables) were taken" in said
    assert "· 영어 영상: YouTube labels these captions ko, but their letters are of another language." in said

    told = {each["video"]: each for each in run("status", "--json").result["selections"]}
    assert told["sparse00001"] == {
        "video": "sparse00001",
        "reason": "speech",
        "flag": "",
        "taken": 1,
        "tracks": [
            {"language": "ko", "kind": "manual", "syllables": 5, "failure": ""},
            {"language": "ko", "kind": "asr", "syllables": 46, "failure": ""},
        ],
    }
    shown = run("show", "english0001", "--json").result["video"]["track"]
    assert (shown["flag"], shown["selection"]["flag"]) == ("mislabelled", "mislabelled")
    assert "letters are of another language" in run("show", "english0001").err
    videos = run("list", "--json").result["channels"][0]["videos"]
    assert {each["id"]: (each["selection"] or {}).get("reason") for each in videos} == {
        "sparse00001": "speech",
        "english0001": "",
    }


def test_how_many_videos_and_how_long_is_told_before_the_first_one(home: Path, run: Run, youtube: StandIn) -> None:
    events = [json.loads(line) for line in run("index", CHANNEL, "--jsonl").out.splitlines()]
    first = {"event": "fetch_estimate", "source": "느린 부엌", "videos": 3, "seconds": 0, "at_most": False}
    assert events[0] == first
    assert events[-1]["event"] == "report"


def test_the_estimate_is_on_stderr_and_in_the_result(run: Run, youtube: StandIn) -> None:
    done = run("index", CHANNEL, "--json")
    assert "느린 부엌: about 3 videos, fetched in less than a minute" in done.err
    assert [estimate["videos"] for estimate in done.result["estimates"]] == [3]
    again = run("sync", "--json")
    assert again.result["estimates"] == []
    assert "about" not in again.err


def test_what_a_list_lacks_is_told_by_index_and_status(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    lost = kitchen.clips[2].id
    kitchen.left_out = {"UU": {lost}, "videos": {lost}}
    done = run("index", CHANNEL, "--json")
    assert done.code == 0
    url = done.result["cut_short"][0]["url"]
    assert done.result["cut_short"] == [{"url": url, "source": "느린 부엌", "listed": 2, "counted": 3}]
    sentence = "YouTube counts 3 videos in 느린 부엌 and lists 2."
    assert sentence in done.err
    assert sentence in run("status").out
    assert run("status", "--json").result["sources"][0]["unlisted"] == 1


def test_hostile_titles_are_shown_as_they_read(run: Run, youtube: StandIn, kitchen: Channel) -> None:
    kitchen.clips[0].title = "[red]빨강[/red]\x1b[31m ../../x\u202e\n둘째 줄 " + "길" * 5_000
    run("index", "slowcook000")
    out = run("list").out
    assert "[red]빨강[/red][31m ../../x둘째 줄 길" in out.replace(" 둘째", "둘째")
    assert not any(char in out for char in "\x1b\u202e")
    assert len(out) < 500


def test_a_removal_that_is_killed_leaves_no_channel_followed(
    run: Run, youtube: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KillError(BaseException):
        """Stands for the end of the process."""

    def end(*_arguments: object) -> None:
        raise KillError

    run("index", "@느린부엌")
    with monkeypatch.context() as patch:
        patch.setattr(Library, "finish_purge", end)
        with pytest.raises(KillError):
            run("remove", "느린", "--yes")
    youtube.clear()
    assert run("sync").code == 0
    assert youtube.count() == 0
    assert run("remove", "느린", "--yes", "--json").result["unfollowed"] == [CHANNEL]
