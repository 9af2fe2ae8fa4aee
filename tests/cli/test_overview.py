"""`overview` at the command line, on the sample library."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import subtitle_rag
from subtitle_rag.base.config import settings as config
from subtitle_rag.cli import main as cli
from subtitle_rag.library.summary_store import VideoSummary
from subtitle_rag.runtime import Runtime
from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"
SUMMARY = "두 사람이 바삭골의 새 치킨을 먹습니다. 소스와 가루를 견줍니다."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("sample") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(home), "index", str(SAMPLE), "--no-contexts"]) == 0
        with Runtime(config.load(home)) as runtime:
            runtime.library.summaries.put(VideoSummary("sample-0001", SUMMARY, "m", "d", "p", 1, True, 1, 1, 1, 1))
    yield home
    end_hosts([config.Paths.under(home).index])


@pytest.fixture
def overview(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    return partial(ran, capsys, "--home", home, "overview")


def test_a_video_is_told_by_its_parts(overview: Run) -> None:
    told = overview("sample-0001")
    assert (told.code, told.err) == (0, "")
    title, _empty, summary, *_rest = told.out.splitlines()
    assert title.startswith("바삭골 신메뉴")
    assert summary == SUMMARY
    titles = [line for line in told.out.splitlines() if line and not line.startswith(" ")]
    assert titles[2:] == ["Sections", "Most replayed", "Key terms", "Names"]
    assert "    6:34  최종 결론  (" in told.out
    assert "    1:04  아 오늘은 카메라 세워 놓고\n" in told.out


def test_a_video_s_json(overview: Run) -> None:
    result = overview("맵단짠", "--json").result
    assert (result["video"]["id"], result["summary"]) == ("sample-0001", SUMMARY)
    assert set(result) == {"video", "summary", "sections", "words", "names", "peaks"}
    assert set(result["sections"][0]) == {"start", "end", "title", "words"}
    assert set(result["words"][0]) == set(result["names"][0]) == {"text", "video", "at", "windows"}
    assert set(result["peaks"][0]) == {"start", "end", "value", "line"}
    assert overview("sample-0002", "--json").result["summary"] is None


def test_a_channel_s_json_and_lines(overview: Run) -> None:
    result = overview("느긋한", "--json").result
    assert result["channel"]["name"] == "느긋한 식탁"
    assert set(result) == {"channel", "videos", "words", "names"}
    firsts = {video["id"]: video["summary"] for video in result["videos"]}
    assert len(firsts) == 9
    assert firsts["sample-0001"] == "두 사람이 바삭골의 새 치킨을 먹습니다."
    assert firsts["sample-0002"] is None
    out = overview("느긋한 식탁").out
    assert out.startswith("느긋한 식탁  (9 videos)\n")
    assert "2024-03-22  바삭골 신메뉴 맵단짠 치킨 집에서 먹어봤어요 소스파 vs 가루파 비교 먹방  두 사람이" in out


def test_what_is_not_there_is_told(overview: Run) -> None:
    assert (overview("없는 영상").code, overview("없는 영상", "--json").failure) == (2, "unknown")
    assert overview("할머니", "--json").failure == "several_named"
    assert overview("", "--json").failure == "unknown"
