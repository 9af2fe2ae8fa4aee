"""The contracts of the commands: what goes to stdout, what to stderr, and what each ends with. Here in one process;
pipes, signals and imports are in test_cli_process."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import subtitle_rag
from subtitle_rag import __version__
from subtitle_rag.base import output
from subtitle_rag.base.config import settings as config
from subtitle_rag.cli import main as cli
from subtitle_rag.cli.main import VERBS
from subtitle_rag.korean.morphemes import ANALYZER, REVISION
from subtitle_rag.sharing import player
from tests.support.cases import cases
from tests.support.commandline import Run, ran
from tests.support.invented import end_hosts

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"


@pytest.fixture(autouse=True)
def shared_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")


@pytest.fixture(scope="module")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose library holds the sample; tests only read it."""
    home = tmp_path_factory.mktemp("sample") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(home), "index", str(SAMPLE)]) == 0
    yield home
    end_hosts([config.Paths.under(home).index])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home of the test's own."""
    home = tmp_path / "own home"
    yield home
    end_hosts([paths.index for place in (home, home / "cache" / "demo") if (paths := config.Paths.under(place))])


@pytest.fixture
def sample(run: Run, sample_home: Path) -> Run:
    """Runs a command on the sample library."""

    return partial(run, "--home", sample_home)


def test_a_scene_that_does_not_say_the_words_tells_what_it_was_found_by(sample: Run) -> None:
    by_title = sample("search", "러닝 대회", "--json").result["scenes"]
    assert [scene["video"]["title"][a:b] for scene in by_title[:1] for a, b in scene["title_highlights"]] == [
        "러닝",
        "대회",
    ]


@pytest.mark.campaign(part="flows")
def test_a_terminal_marks_variants_and_titles_and_a_pipe_gets_the_same_words(
    sample: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = sample("search", "치킨", "--limit", "1").out
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(output, "draws_escapes", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = sample("search", "치킨", "--limit", "1").out

    assert "\x1b" not in piped
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == piped
    _counts, speech, where, *_rest = shown.splitlines()
    assert "\x1b[1;4m치킨\x1b[0m" in where
    assert "\x1b[1;4m치킨\x1b[0m" in speech or "\x1b[4m" in speech


def test_the_command_alone_without_a_terminal_prints_help_to_stderr(run: Run) -> None:
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: subtitle-rag")


@cases("arguments", [["--help"], ["-h"], *([verb, "--help"] for verb in VERBS), ["eval", "run", "-h"]])
def test_help_is_data(run: Run, arguments: list[str]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: subtitle-rag")


def test_help_lists_every_verb(run: Run) -> None:
    listed = run("--help").out.partition("Bring captions in:")[2]
    assert "..." not in listed
    rows = [line for line in listed.splitlines() if line[:3].strip() and not line.endswith(":")]
    assert [row.split()[0] for row in rows] == list(VERBS)


def test_version(run: Run) -> None:
    assert run("--version").out == f"subtitle-rag, version {__version__}\n"


README_SCENES = {"치킨 소스 찍어 먹는 장면": "아까 그 까만 걸 찍으면", "맵단짠 치킨": "거기서 신메뉴가 나왔대요"}
"""What a reader of README.md types → what the scene says that they mean."""


@pytest.mark.parametrize("page", ["README.md", "README.en.md"])
def test_each_query_of_the_readme_shows_its_scene_first(sample: Run, page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    queries = re.findall(r'search "([^"]+)"|`([가-힣 ]+ 장면)`', text)
    assert {command or typed for command, typed in queries} == README_SCENES.keys()
    for query, said in README_SCENES.items():
        ran = sample("search", query, "--limit", "1", "--json")
        assert said in ran.result["scenes"][0]["text"], query
        assert ran.result["unknown_words"] == [], query


def test_search_prints_scenes_and_says_the_rest_aside(sample: Run) -> None:
    ran = sample("search", "맵단짠", "치킨", "--limit", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert re.fullmatch(r"\d+ videos?, \d+ places?", lines.pop(0))
    assert len(lines) == 6
    assert lines[0].startswith("  1      0:21  ")
    assert "맵단짠 치킨" in lines[1]
    assert lines[2].strip() == "https://youtu.be/sample-0001?t=21"
    assert ran.err.startswith("There are more scenes")
    assert ran.err.count("\n") == 1
    assert "\x1b" not in ran.out


def test_search_json_has_the_contract_s_keys(sample: Run) -> None:
    result = sample("search", "치킨 소스", "--limit", "3", "--json").result
    keys = "query retrievers reranked suggestions period undated unknown_words shares took_ms counts floors more scenes"
    assert set(result) == {*keys.split(), "waiting"}
    assert (result["query"], result["retrievers"], result["reranked"]) == ("치킨 소스", ["bm25"], False)
    assert result["waiting"] == 0
    assert [scene["rank"] for scene in result["scenes"]] == [1, 2, 3]
    scene = result["scenes"][0]
    keys = "rank scene video start end url jump text sentence speakers context highlights score scores related"
    assert list(scene) == [*keys.split(), "title_highlights", "reason", "words", "copies"]
    assert scene["copies"] == []
    assert set(scene["video"]) == {"id", "title", "channel", "url", "published"}
    assert scene["scores"] == {"bm25": {"rank": 1, "score": scene["score"]}, "fused": scene["score"]}
    assert scene["url"] == f"https://youtu.be/sample-0001?t={int(scene['start'])}"
    assert scene["start"] <= scene["jump"]["at"] < scene["end"]
    assert {scene["text"][start:end] for start, end in scene["highlights"]} & {"치킨", "소스"}


def test_search_names_the_words_that_stand_nowhere(sample: Run) -> None:
    ran = sample("search", "치킨 소스 Zyxwv 찡쨩꿍")
    assert (ran.code, "치킨" in ran.out) == (0, True)
    assert ran.err.splitlines()[-1] == "Not in this library: Zyxwv, 찡쨩꿍"
    assert sample("search", "치킨 소스 찡쨩꿍", "--json").result["unknown_words"] == ["찡쨩꿍"]
    assert "Not in this library" not in sample("search", "치킨 소스").err


def test_search_offers_a_filter_for_a_date_among_the_words(sample: Run) -> None:
    ran = sample("search", "치킨 2026년 3월")
    assert ran.err.splitlines()[-2:] == [
        "→ only what was uploaded in 2026/3 (month)",
        "Search: 치킨 이후:2026-03 이전:2026-03",
    ]
    result = sample("search", "치킨 2026년 3월", "--json").result
    assert result["period"] == {
        "typed": "2026년 3월",
        "after": "2026-03-01",
        "before": "2026-03-31",
        "query": "치킨 이후:2026-03 이전:2026-03",
    }
    assert "2026년" not in result["unknown_words"]
    assert sample("search", "치킨", "--json").result["period"] is None


def test_search_says_how_many_videos_have_no_day(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "치킨.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:09.000\n치킨을 먹어요\n", encoding="utf-8")
    home = tmp_path / "home"
    run = partial(ran, capsys, "--home", home)
    assert run("index", tmp_path / "치킨.vtt").code == 0
    assert "1 video without a date is left out." in run("search", "치킨 after:2024-01-01").err
    assert run("search", "치킨 after:2024-01-01", "--json").result["undated"] == 1
    assert run("search", "치킨", "--json").result["undated"] == 0
    end_hosts([config.Paths.under(home).index])


def test_a_search_without_scenes_blames_the_filters_where_there_are_any(sample: Run) -> None:
    for option, value in (("--speaker", "아무개"), ("--kind", "short"), ("--before", "2000-01-01")):
        assert "within these filters" in sample("search", "치킨", option, value).err
    assert "filters" not in sample("search", "쿼크 글루온").err


def test_a_group_without_a_command_prints_its_help(sample: Run) -> None:
    for group in ("marks", "models", "contexts", "eval"):
        ran = sample(group)
        assert (ran.code, ran.out, ran.err[:6], ran.err.count("Usage:")) == (2, "", "Usage:", 1)


def test_search_finds_nothing_and_that_is_no_failure(sample: Run) -> None:
    ran = sample("search", "찡쨩꿍")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("No scenes found.")
    assert sample("search", "찡쨩꿍", "--json").result["scenes"] == []


def test_search_in_an_empty_library_names_the_way_on(run: Run, home: Path) -> None:
    ran = run("--home", home, "search", "치킨")
    assert (ran.code, ran.out) == (0, "")
    assert "subtitle-rag index FOLDER" in ran.err
    assert run("--home", home, "list").err.startswith("The library is empty.")
    assert run("--home", home, "list", "--json").result == {"channels": []}


@pytest.mark.campaign(part="flows")
@cases(
    "query",
    [
        "치킨*",
        "치킨 OR NEAR(",
        "(치킨",
        "치킨%",
        "'; DROP TABLE window --",
        "치킨 😀",
        "치킨\x00\x1b[31m",
        "\\치킨",
        '"치킨',
        "치" * 1000,
    ],
)
def test_no_query_is_a_pattern_or_a_program(sample: Run, query: str) -> None:
    result = sample("search", "--json", "--", query).result
    assert "\x1b" not in result["query"]
    assert sample("list", "--json").result["channels"]


@cases(
    ("arguments", "code"),
    [
        (["search", ""], "empty_query"),
        (["ask", "speaker:영희"], "empty_query"),
        (["search", "가" * 10_000], "query_too_long"),
        (["search", "--", "-소스"], "empty_query"),
        (["search", "치킨", "--after", "someday"], "bad_value"),
        (["search", "치킨", "--before", ""], "bad_value"),
        (["search", "치킨", "--channel", "없는 채널"], "unknown"),
        (["search", "치킨", "--video", "없는 영상"], "unknown"),
        (["search", "치킨", "--video", ""], "unknown"),
        (["search", "치킨", "--kind", "clip"], "unknown_value"),
        (["search", "치킨", "--retrievers", "dense"], "retriever_not_ready"),
        (["search", "치킨", "--retrievers", ","], "retriever_not_ready"),
        (["search", "치킨", "--limit", "0"], "usage"),
        (["clip"], "nothing_chosen"),
        (["search"], "usage"),
        (["search", "치킨", "--nonsense"], "usage"),
        (["show", "없는 영상"], "unknown"),
        (["show", "할머니"], "several_named"),
        (["show", ""], "unknown"),
        (["show", "\udcff"], "unknown"),
        (["show", "sample-0001", "--at", "noon"], "bad_value"),
        (["open", "sample-0001@"], "bad_value"),
        (["open", "00000000-0000-5000-8000-000000000000"], "unknown"),
        (["list", "--channel", "없는 채널"], "unknown"),
        (["remove", "sample-0001"], "usage"),
        (["remove", "없는 영상", "--yes"], "unknown"),
        (["index", "/nowhere/at all"], "unsupported_source"),
        (["index"], "usage"),
        (["nonsense"], "usage"),
        (["--language", "fr", "list"], "usage"),
        (["eval", "run"], "usage"),
    ],
)
def test_a_request_that_cannot_be_met_ends_with_2(sample: Run, arguments: list[str], code: str) -> None:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    ran = sample(*arguments[:at], "--json", *arguments[at:])
    assert (ran.code, ran.failure) == (2, code)
    verb = next((argument for argument in arguments if argument in VERBS), "")
    assert ran.document["command"] == ("eval run" if verb == "eval" else verb)
    text = sample(*arguments)
    assert (text.code, text.out, text.err) == (2, "", ran.err)


def test_show_prints_the_transcript(sample: Run) -> None:
    ran = sample("show", "sample-0001")
    assert ran.code == 0
    assert ran.out.startswith("          ## 신메뉴 소개\n    0:00  안녕하세요 느긋한 식탁의 다온입니다\n")
    assert ran.err.splitlines()[1] == "느긋한 식탁"
    by_title = sample("show", "맵단짠")
    decomposed = sample("show", "\u1106\u1162\u11b8\u1103\u1161\u11ab\u110d\u1161\u11ab")
    assert ran.out == by_title.out == decomposed.out


def test_show_prints_a_minute_on_either_side(sample: Run) -> None:
    result = sample("show", "sample-0001", "--at", "3:00", "--json").result
    assert set(result) == {"video", "lines", "gaps"}
    assert result["video"]["id"] == "sample-0001"
    starts = [line["start"] for line in result["lines"]]
    assert starts == sorted(starts)
    assert 120 <= starts[0] < 130
    assert 230 < starts[-1] <= 240


@pytest.mark.parametrize(
    ("target", "second"), [("sample-0001@7:19", 439), ("맵단짠@439.9", 439), ("sample-0001", 0), ("sample-0001@0", 0)]
)
def test_open_prints_the_link(sample: Run, target: str, second: int) -> None:
    ran = sample("open", target, "--print")
    assert (ran.code, ran.out, ran.err) == (0, f"https://youtu.be/sample-0001?t={second}\n", "")


def test_open_knows_a_scene_by_its_id(sample: Run) -> None:
    scene = sample("search", "치킨 소스", "--limit", "1", "--json").result["scenes"][0]
    result = sample("open", scene["scene"].upper(), "--print", "--json").result
    assert set(result) == {"url", "at", "played"}
    assert result["url"].startswith("https://youtu.be/sample-0001?t=")
    assert scene["start"] <= result["at"] < scene["end"]
    assert result["played"] is False


def test_open_plays_where_there_is_a_screen(sample: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[tuple[str, int]] = []
    monkeypatch.setattr(player, "can_show", lambda: True)
    monkeypatch.setattr(player, "play", lambda name, *, at_ms, **_rest: played.append((name, at_ms)))
    assert sample("open", "sample-0001@1:00", "--player", "mpv", "--json").result["played"] is True
    monkeypatch.setattr(player, "can_show", lambda: False)
    ran = sample("open", "sample-0001@1:00")
    assert ran.out == "https://youtu.be/sample-0001?t=60\n"
    assert ran.err.startswith("There is no screen")
    assert [(name, at_ms // 1_000) for name, at_ms in played] == [("mpv", 60)]


def test_list_groups_by_channel(sample: Run) -> None:
    ran = sample("list")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "느긋한 식탁  (9 videos)"
    assert len(ran.out.splitlines()) == 10
    assert sample("list", "--channel", "느긋한").out == ran.out
    (channel,) = sample("list", "--json").result["channels"]
    assert list(channel) == ["id", "name", "videos"]
    keys = "id title kind url published duration source windows searchable due selection"
    keys += " heard_by listening failure retry_at"
    assert all(list(video) == keys.split() for video in channel["videos"])


@pytest.mark.campaign(part="flows")
def test_one_rule_says_which_channel_is_named(sample: Run, tmp_path: Path) -> None:
    named = ["search 국수 --channel", "list --channel", "export --channel", "overview", "contexts glossary"]
    for command in named:
        assert sample(*command.split(), "느긋한식탁", "--json").code == 0, command
        assert sample(*command.split(), "느긋한 식탁", "--json").code == 0, command
    for command in (*named[:3], named[4]):
        assert sample(*command.split(), "없는 채널", "--json").failure == "unknown", command


def test_status_counts(sample: Run) -> None:
    result = sample("status", "--json").result
    keys = "channels videos windows stages sources rest selections gone failures last_sync"
    assert list(result) == keys.split()
    assert (result["channels"], result["videos"], result["failures"]) == (1, 9, [])
    nothing = {"done": 0, "waiting": 0, "encoder": None, "coming": None, "pieces": None}
    assert result["stages"] == {
        "captions": {"done": 9, "due": 0, "failed": 0},
        "bm25": {"done": result["windows"], "due": 0},
        "contexts": {"done": 0, "due": result["windows"], "empty": 0, "left_out": 0},
        "vectors": {**nothing, "due": result["windows"]},
        "listening": {"done": 0, "due": 0, "failed": 0},
    }
    rows = "Channels Videos Waiting Windows Searchable With With Skipped Failed"
    assert [line.split()[0] for line in sample("status").out.splitlines()] == rows.split()


def test_doctor_finds_a_sound_library_sound(sample: Run) -> None:
    ran = sample("doctor", "--offline", "--json")
    by_name = {check["name"]: check for check in ran.document["result"]["checks"]}
    assert {"python", "packages", "disk", "library", "index", "kiwi", "player"} <= set(by_name)
    assert all(set(check) == {"name", "severity", "message", "hint"} for check in by_name.values())
    assert {by_name[name]["severity"] for name in ("library", "index", "kiwi", "paths")} == {"ok"}
    assert all(f" {name}" in f" {by_name['paths']['message']}" for name in ("config", "data", "cache", "log"))
    text = sample("doctor", "--offline")
    assert text.code == ran.code
    assert len([line for line in text.out.splitlines() if line[0] in "✓!✗"]) == len(by_name)


@pytest.mark.campaign(part="flows")
def test_demo_searches_the_sample_and_mends_itself(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run("--home", home, "demo")
    assert ran.code == 0
    assert "sample-0001" in ran.out
    assert "invented" in ran.err
    assert run("--home", home, "list", "--json").result == {"channels": []}  # the user's own library is another one
    for module in ("subtitle_rag.korean.morphemes", "subtitle_rag.index.indexing"):
        monkeypatch.setattr(f"{module}.ANALYZER", ANALYZER.replace(f"v{REVISION}", f"v{REVISION + 1}"))
    scenes = run("--home", home, "demo", "--json").result["scenes"]
    assert scenes[0]["video"]["id"] == "sample-0001"


def test_the_verb_that_may_have_been_meant_is_named(run: Run) -> None:
    typed = {"srch": "search", "contexts lst": "list", "search 국수 --limt": "--limit"}
    for words, nearest in typed.items():
        refused = run(*words.split())
        assert refused.code == 2
        assert f"Did you mean '{nearest}'?" in refused.err


def test_a_wrong_number_is_told_in_the_language_of_the_user(sample: Run) -> None:
    for option, value, kind in (("--limit", "many", "정수"), ("--pad", "much", "숫자")):
        verb = ["search", "치킨"] if option == "--limit" else ["clip", "1"]
        refused = sample("--language", "ko", *verb, option, value)
        assert refused.code == 2
        assert f"(맞는 형식: {kind})" in refused.err


def test_a_time_after_the_end_is_refused(sample: Run) -> None:
    for arguments in (("open", "sample-0001@59:59"), ("show", "sample-0001", "--at", "59:59")):
        refused = sample(*arguments)
        assert (refused.code, refused.out) == (2, "")
        assert "beyond the end" in refused.err


def test_a_word_is_excluded_without_quotation_marks(sample: Run) -> None:
    quoted = sample("search", "치킨 -소스", "--json").result
    assert sample("search", "치킨", "-소스", "--json").result["query"] == quoted["query"]
    assert sample("search", "--limit", "3", "-소스", "치킨", "--json").result["query"] == "치킨 -소스"
    assert sample("search", "치킨", "-fish", "--json").result["query"] == "치킨 -fish"  # which holds -h
    assert sample("search", "치킨", "--", "-소스").code == 0


def test_an_option_with_one_dash_is_no_word(sample: Run) -> None:
    refused = sample("search", "치킨", "-explain")
    assert refused.code == 2
    assert "--explain" in refused.err


def test_an_id_with_a_dash_in_front_is_told_the_way(sample: Run) -> None:
    for verb in (("show",), ("open",), ("marks", "add"), ("remove", "--yes")):
        refused = sample(*verb, "-dQw4w9WgXc", "--json")
        assert (refused.code, refused.failure) == (2, "usage")
        (entry,) = refused.document["errors"]
        path = " ".join(("subtitle-rag", *(word for word in verb if word != "--yes")))
        assert entry["hint"].endswith(f"stands behind --: {path} -- -dQw4w9WgXc")
    assert sample("show", "--json", "--", "-dQw4w9WgXc").failure == "unknown"  # it comes through there
    for word in ("-x", "--channnel"):  # rather mistyped options
        assert "behind --" not in sample("list", word).err
        assert "behind --" not in sample("show", word).err


def test_a_frame_option_behind_a_verb_is_told_its_place(
    sample: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = sample("list", "--home", tmp_path / "other", "--json")
    assert (refused.code, refused.failure) == (2, "usage")
    assert refused.document["errors"][0]["message"] == "--home stands in front of the command."
    assert "[COMMAND]" in refused.err
    assert "--language stands in front of the command." in sample("marks", "list", "--language", "ko").err
    assert not list(tmp_path.iterdir())


def test_the_words_behind_two_dashes_are_the_query_s(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUBTITLE_RAG_HOME", str(home))
    run("search", "--", "--home", "play")
    assert [path.name for path in tmp_path.iterdir()] == [home.name]
    refused = run("search", "--", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert run("search", "--json", "--", "-치킨").failure == "empty_query"
    assert run("--", "search", "--json", "--", "-치킨").failure == "empty_query"
