"""`export`: which scenes are written, where to, and what is refused."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.cli import main as cli
from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts

ID = "dQw4w9WgXcQ"
LINES = ("국수를 삶아요", "만두를 빚어요", "김밥을 말아요")
CAPTIONS = "WEBVTT\n\n" + "".join(f"0{at}:00.000 --> 0{at}:05.000\n{line}\n\n" for at, line in enumerate(LINES))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a library of two videos, one with a link and one with a file."""
    folder = tmp_path_factory.mktemp("자막")
    for name in (f"링크 [{ID}]", "파일"):
        (folder / f"{name}.ko.vtt").write_text(CAPTIONS, encoding="utf-8")
    (folder / "파일.mp4").write_bytes(b"")
    home = folder / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(home), "index", str(folder)]) == 0
    yield home
    end_hosts([config.Paths.under(home).index])


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    return partial(partial(ran, capsys), "--home", home)


def rows(run: Run, *arguments: object) -> list[dict[str, object]]:
    exported = run("export", "--format", "jsonl", *arguments)
    assert exported.code == 0, exported.err
    return [json.loads(line) for line in exported.out.splitlines()]


def test_a_number_is_the_scene_that_the_search_has_shown(run: Run) -> None:
    (scene, *_rest) = run("search", "만두", "--json").result["scenes"]
    (row,) = rows(run, "1")
    assert {name: row[name] for name in ("rank", "scene", "video", "start", "end", "url", "jump", "text")} == {
        name: scene[name] for name in ("rank", "scene", "video", "start", "end", "url", "jump", "text")
    }


def test_a_time_is_the_window_around_it_and_a_range_its_own_lines(run: Run) -> None:
    (row,) = rows(run, "링크@1:02")
    assert "만두를 빚어요" in str(row["text"])
    assert row["jump"] == {"at": 62.0, "url": f"https://youtu.be/{ID}?t=62"}
    (part,) = rows(run, "링크@0:59-1:04")
    assert (part["text"], part["start"], part["end"]) == ("만두를 빚어요", 59.0, 64.0)
    assert run("export", "링크@1:04-0:59").code == 2


def test_a_filter_narrows_what_is_named(run: Run) -> None:
    def titles(*arguments: object) -> list[object]:
        return [row["video"]["title"] for row in rows(run, *arguments)]  # type: ignore[index]

    assert titles("링크@1:02", "파일@1:02", "--video", "파일") == ["파일"]
    assert run("export", "링크@1:02", "--video", "파일", "--json").failure == "nothing_chosen"
    assert titles("링크@1:02", "--channel", "자막") == ["링크"]
    assert set(titles("--video", "파일")) == {"파일"}


def test_a_limit_without_a_query_is_refused(run: Run) -> None:
    for verb in ("export", "play", "clip"):
        assert run(verb, "링크@1:02", "--limit", "1").code == 2


@pytest.mark.parametrize("format", ["srt", "md", "txt"])
def test_a_range_without_captions_is_refused_and_writes_nothing(run: Run, tmp_path: Path, format: str) -> None:
    file = tmp_path / f"silent.{format}"
    refused = run("export", "링크@1:10-1:20", "링크@0:59-1:04", "-o", file, "--json")
    assert (refused.code, refused.failure) == (2, "range_silent")
    assert "1:10" in refused.err
    assert "1:20" in refused.err
    assert not file.exists()


def test_a_video_and_a_channel_are_written_whole(run: Run) -> None:
    srt = run("export", "--video", "링크", "--format", "srt")
    assert [cue.text for cue in parse_captions(srt.out.encode(), "srt")] == list(LINES)
    assert run("export", "링크", "--format", "srt").out == srt.out
    channel = run("list", "--json").result["channels"][0]["name"]
    assert " ".join(str(row["text"]) for row in rows(run, "--channel", channel)).count("국수를") == 2


def test_a_search_is_narrowed_by_video(run: Run) -> None:
    assert {row["video"]["title"] for row in rows(run, "--query", "만두", "--video", "파일")} == {"파일"}  # type: ignore[index]
    assert len(rows(run, "--query", "만두", "--limit", "1")) == 1


def test_a_file_s_ending_chooses_the_format_and_no_file_is_replaced_unasked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "장면.csv"
    written = run("export", "링크@0:01", "-o", path, "--json").result
    assert written == {"format": "csv", "file": str(path), "scenes": 1, "text": None}
    assert path.read_bytes().startswith(b"\xef\xbb\xbfrank,scene,")
    assert run("export", "링크@0:01", "-o", path, "--json").failure == "export_exists"
    assert run("export", "링크", "--force", "--format", "txt", "-o", path).code == 0
    assert "국수를 삶아요" in path.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["장면.csv"]
    assert run("export", "링크", "-o", tmp_path / "no" / "x.md", "--json").failure == "unwritable"


def test_a_folder_or_an_unknown_ending_is_refused_with_the_way_on(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "장면들"
    folder.mkdir()
    for name in (folder, f"{tmp_path}/new/"):
        refused = run("export", "링크@0:01", "--force", "-o", name, "--json")
        assert (refused.code, refused.failure) == (2, "is_folder")
        assert "scenes.md" in refused.err
    unknown = run("export", "링크@0:01", "-o", tmp_path / "x.zzz", "--json")
    assert (unknown.code, unknown.failure) == (2, "unknown_value")
    assert "srt" in unknown.err
    assert [each.name for each in tmp_path.iterdir()] == ["장면들"]
    for name, options in {"x": (), "x.zzz": ("--format", "md"), "x.MD": ()}.items():
        assert run("export", "링크@0:01", "-o", tmp_path / name, *options).code == 0


def test_what_cannot_be_written_is_refused(run: Run) -> None:
    assert run("export", "--json").failure == "nothing_chosen"
    assert run("export", "링크", "파일", "--format", "vtt", "--json").failure == "several_videos_in_subtitles"
    assert run("export", "없는 영상", "--json").failure == "unknown"
    assert run("export", "--channel", "없는 채널", "--json").failure == "unknown"


def test_csv_on_standard_output_has_lines_without_carriage_returns(run: Run) -> None:
    exported = run("export", "링크@0:01", "--format", "csv")
    assert "\r" not in exported.out
    assert "·" not in exported.out
