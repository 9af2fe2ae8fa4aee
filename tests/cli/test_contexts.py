"""`contexts` and `models` at the command line, on the stand-in of Ollama."""

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.models import manifest
from subtitle_rag.models.manifest import context_models
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows.app_settings import installed_models
from tests.stand_ins.ollama import Model, StandIn
from tests.support.commandline import Run, start
from tests.support.invented import caption_folder

NAME = "writer:q4"
CONTEXT = "두레반 삼촌이 국수 육수의 간을 보는 장면입니다."
SUMMARY = "두레반 삼촌이 시장에서 국수를 삶습니다. 손님들이 국수를 먹습니다."
DOUBTFUL = "'두레반칼국수'라는 가게에서 5000그릇을 파는 장면입니다."

pytestmark = pytest.mark.usefixtures("one_analyzer", "no_pauses")


@pytest.fixture
def run(isolated_home: Path, tmp_path: Path, command: Run) -> Run:
    """Runs a command on a library of two videos of two windows each."""
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{NAME}"\n')
    assert command("index", caption_folder(tmp_path / "captions", 2, minutes=1.8)).code == 0
    return command


def lines(run: Run, *arguments: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--jsonl").out.splitlines()]


def test_writing_tells_what_came_of_it(run: Run, ollama: StandIn) -> None:
    ollama.answer(CONTEXT, DOUBTFUL, DOUBTFUL, SUMMARY, CONTEXT.replace("간", "맛"), "", "", "", "")
    result = run("contexts", "write", "--json").result
    seconds = result.pop("seconds")
    assert seconds > 0
    assert result.pop("tokens") > 0
    assert result.pop("prompt_tokens") > 0
    library = result.pop("library")
    assert result == {
        "written": 2,
        "empty": 1,
        "left_out": 1,
        "suspect": 0,
        "failed": 0,
        "summaries": 1,
        "empty_summaries": 1,
        "empty_overviews": 0,
    }
    assert library["summaries"] == {"written": 1, "due": 0, "empty": 1}
    assert [library[name] for name in ("windows", "written", "due", "empty", "left_out")] == [4, 2, 0, 1, 1]


def test_writing_says_it_in_words(run: Run, ollama: StandIn) -> None:
    told = run("contexts", "write", "--limit", "1")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("1 context written.\nCost: ")
    assert run("contexts", "write").out.startswith("3 contexts written.\n2 videos were summarised.\nCost: ")
    assert run("contexts", "write").out == "0 contexts written.\n"


def test_events_come_as_lines(run: Run, ollama: StandIn) -> None:
    ollama.refuse("chat", 500, "the runner died", times=3)
    every_line = lines(run, "contexts", "write")
    progress = [line for line in every_line if line["event"] == "progress"]
    assert progress[0] == {"event": "progress", "stage": "contexts", "done": 0, "total": 4, "text": ""}
    assert max(line["done"] for line in progress) == 3
    told = [line for line in every_line if line not in progress]
    names = [line["event"] for line in told]
    begin = ["contexts_due", "video_failed", "context_written", "summary_written"]
    assert names == [*begin, "context_written", "context_written", "summary_written", "report"]
    due = {"videos": 2, "windows": 4, "sections": 0, "by_other_prompts": 0, "seconds": 0, "summaries": 2}
    assert told[0] == {"event": "contexts_due", **due}
    assert (told[1]["code"], "the runner died" in told[1]["message"]) == ("llm_failed", True)
    keys = "event video title window ordinal text suspect left_out prompt_tokens tokens ms"
    assert set(told[2]) == set(keys.split())
    assert set(told[3]) == {"event", "video", "title", "text", "prompt_tokens", "tokens", "ms"}
    assert (told[-1]["written"], told[-1]["failed"], told[-1]["summaries"]) == (3, 1, 2)
    both = run("contexts", "write", "--json", "--jsonl")
    assert (both.code, both.failure) == (2, "usage")


def test_the_list_has_counts_and_what_is_doubtful(run: Run, ollama: StandIn) -> None:
    assert "Optional: contexts" in run("contexts", "list").out
    ollama.answer(CONTEXT, DOUBTFUL, DOUBTFUL)
    run("contexts", "write", "--limit", "2")
    result = run("contexts", "list", "--json").result
    assert [result[name] for name in ("windows", "written", "due", "empty", "left_out")] == [4, 1, 2, 0, 1]
    assert run("status", "--json").result["stages"]["contexts"] == {"done": 1, "due": 2, "empty": 0, "left_out": 1}
    (suspect,) = result["suspects"]
    assert suspect["context"] == DOUBTFUL
    assert "두레반칼국수" in [doubt["text"] for doubt in suspect["doubts"]]
    assert set(suspect) == {"scene", "video", "title", "start", "context", "left_out", "reason", "doubts"}
    told = run("contexts", "list")
    assert (told.code, told.err) == (0, "")
    assert told.out.count(DOUBTFUL) == 1
    assert "Left out: it names what the video does not: " in told.out


def test_the_list_tells_what_a_models_contexts_cost(run: Run, ollama: StandIn) -> None:
    assert run("contexts", "list", "--json").result["model_costs"] == []
    ollama.answer(CONTEXT, DOUBTFUL, DOUBTFUL)
    report = run("contexts", "write", "--limit", "2", "--json").result
    (cost,) = run("contexts", "list", "--json").result["model_costs"]
    assert (cost["windows"], cost["videos"]) == (2, 1)
    assert cost["seconds_a_window"] == pytest.approx(report["seconds"] / 2)
    assert cost["tokens_a_video"] == report["prompt_tokens"] + report["tokens"]
    line = next(line for line in run("contexts", "list").out.splitlines() if " s a window, " in line)
    assert f"{cost['tokens_a_video']:,} tokens a video" in line


def test_a_window_without_a_usable_answer_is_listed_with_its_reason(run: Run, ollama: StandIn) -> None:
    ollama.answer("네, 알겠습니다.", "좋습니다!")
    run("contexts", "write", "--limit", "1")
    (suspect,) = run("contexts", "list", "--json").result["suspects"]
    assert (suspect["context"], suspect["reason"]) == ("", "it has no sentence about the scene")


def test_redo_writes_anew_what_is_named(run: Run, ollama: StandIn) -> None:
    run("contexts", "write")
    ollama.clear()
    result = run("contexts", "write", "--redo", "--video", "영상 1", "--json").result
    assert (result["written"], result["summaries"], ollama.count("chat")) == (2, 1, 3)
    ollama.clear()
    assert run("contexts", "write", "--redo", "--channel", "captions", "--limit", "3", "--json").result["written"] == 3
    assert run("contexts", "write", "--json").result["written"] == 1


def test_summaries_are_counted(run: Run, ollama: StandIn) -> None:
    assert run("contexts", "list", "--json").result["summaries"] == {"written": 0, "due": 2, "empty": 0}
    assert run("contexts", "write", "--json").result["summaries"] == 2
    assert re.search(r"Videos with a summary +2\n", run("contexts", "list").out)


def test_what_is_not_there_is_told(run: Run, ollama: StandIn) -> None:
    told = run("contexts", "write", "--video", "없는 영상", "--json")
    assert (told.code, told.failure) == (2, "unknown")
    told = run("contexts", "write", "--redo", "--channel", "없는 채널", "--json")
    assert (told.code, told.failure) == (2, "unknown")
    assert ollama.count() == 0


def test_a_run_that_is_ended_by_the_server_keeps_what_is_done(run: Run, ollama: StandIn) -> None:
    ollama.answer(CONTEXT)
    ollama.add(Model(NAME, behaviour="out_of_memory"))
    told = run("contexts", "write", "--json")
    assert (told.code, told.document["status"]) == (1, "error")
    assert told.document["result"]["written"] == 1
    assert [entry["code"] for entry in told.document["errors"]] == ["llm_out_of_memory"]


def test_without_models_everything_else_works(run: Run) -> None:
    told = run("contexts", "write", "--json")
    assert (told.code, told.failure) == (1, "llm_off")
    assert run("search", "국수", "--json").result["scenes"]
    assert run("contexts", "list", "--json").result["written"] == 0
    assert run("models", "list").code == 0
    assert run("models", "get", "wanted:q4", "--json").failure == "llm_off"


def test_models_of_the_cloud_and_other_computers_get_no_captions(
    run: Run, ollama: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama.add(Model("far:q4", remote_host="https://ollama.com"))
    assert run("contexts", "write", "--model", "far:q4", "--json").failure == "llm_cloud_refused"
    assert run("contexts", "write", "--model", "big:120b-cloud", "--json").failure == "llm_cloud_refused"
    assert ollama.count("chat") == 0
    monkeypatch.setenv(config.HOSTS_VARIABLE, "http://192.0.2.7:11434")
    assert run("contexts", "write", "--json").failure == "llm_host_refused"


def test_a_glossary_is_proposed_set_and_shown(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("# 메뉴\n청귤 국수\n두레반\n\n", encoding="utf-8")
    channel = run("list", "--json").result["channels"][0]["id"]
    assert run("contexts", "glossary", "captions", "--json").result == {"channel": channel, "names": []}
    assert isinstance(run("contexts", "glossary", channel, "--propose", "--json").result["names"], list)
    assert run("contexts", "glossary", channel, "--json").result["names"] == []
    run("contexts", "glossary", channel, "--set", names)
    told = run("contexts", "glossary", channel)
    assert (told.out, told.err) == ("청귤 국수\n두레반\n", "")
    run("contexts", "write", "--limit", "1")
    assert "고유명사: 청귤 국수, 두레반" in ollama.asked("chat")[0].messages[0]["content"]


def test_models_are_listed_with_those_that_are_here(run: Run, ollama: StandIn) -> None:
    listed = {entry["name"]: entry for entry in run("models", "list", "--json").result["models"]}
    assert {one.name for one in context_models()} < set(listed)
    assert (listed[NAME]["here"], listed[NAME]["chosen"], listed[NAME]["disk_gb"]) == (True, True, 4.4)
    assert sum(entry["here"] for entry in listed.values()) == 1
    told = run("models", "list")
    assert told.err == ""
    assert f"✓ {NAME}" in told.out


def test_models_are_listed_of_the_hosts_that_answer(run: Run, ollama: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(config.HOSTS_VARIABLE, f"http://127.0.0.1:9,{ollama.base}")
    told = run("models", "list")
    assert f"✓ {NAME}" in told.out
    assert "127.0.0.1:9" in told.err
    with Runtime(config.load()) as runtime:
        assert installed_models(runtime) == [NAME]


def test_a_model_is_fetched_and_a_broken_fetch_goes_on(run: Run, ollama: StandIn) -> None:
    model = Model("wanted:q4")
    ollama.offer(model)
    ollama.dies_after = 2_000
    assert run("models", "get", "wanted:q4", "--json").code == 3
    fetched = sum(model.known_layers.values())
    assert 2_000 <= fetched < sum(model.layers)
    (got,) = run("models", "get", "wanted:q4", "--json").result["models"]
    assert (got["kind"], got["name"]) == ("context", "wanted:q4")
    assert run("contexts", "write", "--model", "wanted:q4", "--json").result["written"] == 4
    assert run("models", "get", "unknown:q4", "--json").failure == "unknown"
    ollama.no_internet = (
        'pull model manifest: Get "https://hf.co/v2/a/manifests/b": dial tcp: lookup hf.co: no such host'
    )
    offline = run("models", "get", "hf.co/a:b", "--json")
    assert (offline.code, offline.failure) == (3, "hub_unreachable")


def test_a_model_that_is_not_to_be_had_is_fetched_by_its_other_name(
    run: Run, ollama: StandIn, isolated_home: Path
) -> None:
    first = "cookieshake/a.x-4.0-light-imatrix:q4_k_m"
    (other,) = manifest.alternatives(first)
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{first}"\n')
    refused = run("models", "get", first)
    assert (refused.code, other in refused.err) == (1, True)
    ollama.offer(Model(other))
    got = run("models", "get", first)
    assert got.code == 0
    (line,) = [line for line in got.err.splitlines() if other in line]
    assert first in line
    assert run("contexts", "write", "--json").result["written"] == 4
    assert run("contexts", "list", "--json").result["model"] == other
    ollama.offer(Model(first))  # it is there after all
    (entry,) = run("models", "get", first, "--json").result["models"]
    assert entry["name"] == first
    assert run("contexts", "list", "--json").result["model"] == first


@pytest.mark.campaign(part="flows")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_control_c_ends_a_run_at_once(run: Run, ollama: StandIn, isolated_home: Path) -> None:
    ollama.answer(CONTEXT)
    with start(isolated_home, "contexts", "write") as process:
        hold = ollama.hold()
        assert hold.arrived.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        hold.release()
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    assert run("contexts", "list", "--json").result["written"] <= 1


def answer_prompts(monkeypatch: pytest.MonkeyPatch, prompts: list[str], answer: str) -> None:
    """Answer the questions of a command on a terminal, and note them."""

    def prompted(prompt: str) -> str:
        prompts.append(prompt)
        return answer

    monkeypatch.setattr("click.termui.visible_prompt_func", prompted)


class TestConsent:
    """`index` on a terminal asks once whether a model describes scenes; scripts have `--no-contexts`."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        prompts: list[str] = []
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
        answer_prompts(monkeypatch, prompts, "n")
        return prompts

    def test_a_no_is_kept_and_not_asked_again(
        self, run: Run, ollama: StandIn, asked: list[str], tmp_path: Path, isolated_home: Path
    ) -> None:
        for part in ("second", "third"):
            assert run("index", caption_folder(tmp_path / part, 1, minutes=1.8)).code == 0
        assert ollama.count("chat") == 0
        (question,) = asked
        size = "4 scenes, about 1 min"
        assert question.startswith(f"Have {NAME} describe the scenes, so that search finds more ({size})?")
        assert 'contexts = "never"' in (isolated_home / "config.toml").read_text()

    def test_a_yes_holds_for_later_runs(
        self, run: Run, ollama: StandIn, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer_prompts(monkeypatch, asked, "y")
        for part, minutes in (("second", 2.8), ("third", 3.8)):
            result = run("index", caption_folder(tmp_path / part, 1, minutes=minutes), "--json").result
            assert result["contexts"]["written"]
        assert len(asked) == 1

    def test_yes_asks_nothing(self, run: Run, ollama: StandIn, asked: list[str], tmp_path: Path) -> None:
        assert run("index", caption_folder(tmp_path / "second", 1, minutes=1.8), "--yes").code == 0
        assert ollama.count("chat")
        assert asked == []
