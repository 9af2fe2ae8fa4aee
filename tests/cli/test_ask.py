"""`ask` as a command: what goes where, what it ends with, and what is kept."""

import io
import json
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.answers.model import quoting, scenes
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.support.commandline import Run, start
from tests.support.invented import came_true

NAME = "answer:q4"
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(NAME, behaviour=quoting))
    return ollama_server


@pytest.fixture
def run(answering_home: Path, isolated_home: Path, command: Run) -> Run:
    """Runs a command on a library of three videos."""
    shutil.copytree(answering_home, isolated_home, dirs_exist_ok=True)
    return command


def test_an_answer_and_its_scenes_go_to_stdout(run: Run, ollama: StandIn) -> None:
    told = run("ask", "국수를", "먹었어요?")
    assert told.code == 0
    answer, scene = told.out.split("\n\n")
    (number,) = re.findall(r"\[(\d)\]\.$", answer)
    first, where, link = scene.splitlines()
    assert re.fullmatch(rf"  \[{number}\] +\d:\d\d  \S.*", first)
    assert "영상" in where
    assert "invented00" in link
    assert told.err == ""


def test_json_tells_everything(run: Run, ollama: StandIn) -> None:
    result = run("ask", "국수를 먹었어요?", "--scenes", "2", "--json").result
    keys = "question answer ending declined grounded model no_model way citations uncited other_language unfounded"
    keys += " unsaid_words dropped_citations repeated_sentences recited_sentences scenes left_out shortened nameless"
    keys += " missing_sides counts tokens took_ms"
    assert list(result) == keys.split()
    assert (result["question"], result["way"]) == ("국수를 먹었어요?", "search")
    assert (result["ending"], result["model"]) == ("whole", NAME)
    (citation,) = result["citations"]
    assert list(citation) == ["number", "status", "scene", "jump", "span", "claim", "missing", "otherwise"]
    start, end = citation["span"]
    assert result["answer"][start:end] == f"[{citation['number']}]"
    scene = result["scenes"][citation["number"] - 1]
    assert list(scene) == ["number", "scene", "video", "start", "end", "url", "jump", "text", "context"]
    assert (scene["number"], scene["scene"]) == (citation["number"], citation["scene"])
    assert scene["start"] <= citation["jump"]["at"] <= scene["end"]
    assert len(result["scenes"]) == 2
    (asked,) = ollama.asked("chat")
    assert result["tokens"]["prompt"] == asked.evaluated + asked.cached
    assert result["tokens"]["window"] == asked.num_ctx
    assert set(result["took_ms"]) == {"scenes", "first", "answer"}


def test_citations_that_do_not_hold_are_marked(run: Run, ollama: StandIn) -> None:
    ollama.answer("국수는 5000그릇을 팔았습니다 [1]. 기차는 '두레반'에서 탔습니다 [9].")
    told = run("ask", "국수를 먹었어요?")
    answer = "국수는 5000그릇을 팔았습니다 [1]. 기차는 '두레반'에서 탔습니다."
    assert told.out.startswith(f"{answer}\n\n")
    assert "?  Not in this scene: 5000." in told.out
    assert "?  In none of the scenes: 두레반." in told.out
    assert "1 citation of a scene that was not given was left out." in told.err
    assert "do not say this in such words" in told.err
    ollama.answer("국수는 5000그릇을 팔았습니다 [1]. 기차는 '두레반'에서 탔습니다 [9].")
    result = run("ask", "국수를 먹었어요?", "--json").result
    assert result["answer"] == answer
    (citation,) = result["citations"]
    assert (citation["number"], citation["status"], citation["missing"]) == (1, "unsupported", ["5000"])
    (unfounded,) = result["unfounded"]
    assert (answer[slice(*unfounded["claim"])], unfounded["missing"]) == ("기차는 '두레반'에서 탔습니다.", ["두레반"])
    assert (result["dropped_citations"], result["repeated_sentences"]) == ([9], 0)
    assert "      ? In none of the scenes: 두레반." in run("ask", "--history").out
    assert run("ask", "--history", "--json").result["answers"][0]["unfounded"] == [unfounded]


def test_an_answer_that_no_scene_bears_out_is_told_to_be_none(run: Run, ollama: StandIn) -> None:
    ollama.answer("달의 뒷면에 우주인이 착륙했습니다. " * 3)
    told = run("ask", "국수를 먹었어요?")
    assert told.out.startswith("달의 뒷면에 우주인이 착륙했습니다.\n\n")
    assert "?  No scene says this: 달의 뒷면에 우주인이 착륙했습니다." in told.out
    assert "No scene bears any of this out: the library may not hold the answer." in told.err
    assert "2 sentences were left out, as they repeat others." in told.err


def test_the_number_of_scenes_is_an_option(run: Run) -> None:
    assert len(run("ask", "국수", "--scenes", "2", "--json").result["scenes"]) == 2


def test_a_video_can_be_named(run: Run, ollama: StandIn) -> None:
    assert run("ask", "국수", "--video", "영상 1", "--json").result["way"] == "transcript"
    assert run("ask", "국수", "--video", "영상 1", "--no-whole", "--json").result["way"] == "search"
    assert run("ask", "국수", "--video", "영상 1", "--scenes", "1", "--json").result["way"] == "search"
    told = run("ask", "국수", "--video", "없는 영상", "--json")
    assert (told.code, told.failure) == (2, "unknown")


def test_without_a_model_the_scenes_are_shown_and_how_to_get_answers(run: Run) -> None:
    told = run("ask", "국수를 먹었어요?")
    assert told.code == 0
    assert re.search(r"\[1\] +\d:\d\d  ", told.out)
    assert "There is no model to answer" in told.err
    assert "hosts under [llm]" in told.err
    result = run("ask", "국수를 먹었어요?", "--json").result
    assert (result["answer"], result["model"], result["ending"]) == (None, None, "no_model")
    assert result["no_model"]["code"] == "llm_off"
    assert result["scenes"]


def test_a_model_that_fails_is_a_failure_that_keeps_what_came(run: Run, ollama: StandIn) -> None:
    ollama.add(Model(NAME, behaviour="out_of_memory"))
    told = run("ask", "국수를 먹었어요?", "--json")
    assert (told.code, told.document["status"]) == (1, "error")
    assert [entry["code"] for entry in told.document["errors"]] == ["llm_out_of_memory"]
    assert told.document["result"]["scenes"]
    ollama.add(Model(NAME, behaviour=lambda sent: Turn("국수를 먹었", cut=True)))
    told = run("ask", "국수를 먹었어요?")
    assert told.code == 3
    assert told.out.startswith("국수를 먹었\n\n")


def test_further_questions_come_line_by_line(run: Run, ollama: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("소금은?\n\n안 물어본 것\n"))
    assert run("ask", "국수를 먹었어요?", "--follow").code == 0
    one, other = ollama.asked("chat")
    assert other.messages[:2] == one.messages
    assert other.messages[-1]["content"].startswith("소금은?")
    monkeypatch.setattr(sys, "stdin", io.StringIO("국수를 먹었어요?\n"))
    assert run("ask", "--follow").out.count("[") == 2


def test_what_the_model_would_be_given_can_be_looked_at(run: Run, ollama: StandIn) -> None:
    told = run("ask", "국수를 먹었어요?", "--context-only", "--scenes", "3")
    assert sorted(scenes(told.out)) == [1, 2, 3]
    assert "score" not in told.out
    assert ollama.count() == 0
    run("ask", "국수를 먹었어요?", "--scenes", "3")
    (asked,) = ollama.asked("chat")
    assert told.out.rstrip("\n") == "\n\n".join(message["content"] for message in asked.messages)


def test_answers_are_kept_shown_and_forgotten(run: Run, ollama: StandIn) -> None:
    assert "There are no saved answers" in run("ask", "--history").err
    run("ask", "국수를 먹었어요?")
    run("ask", "바다에 갔어요?")
    kept = run("ask", "--history", "--json").result["answers"]
    assert [one["question"] for one in kept] == ["바다에 갔어요?", "국수를 먹었어요?"]
    assert kept[0]["citations"]
    shown = run("ask", "--history").out
    assert "바다에 갔어요?" in shown.splitlines()[0]
    assert kept[1]["answer"] in shown
    assert run("ask", "--forget", kept[0]["id"], "--yes", "--json").result == {"forgotten": 1}
    assert run("ask", "--forget", "99", "--json").failure == "unknown"
    assert run("ask", "--forget", "x", "--json").failure == "unknown"
    assert run("ask", "--forget", "all").code == 2, "without a terminal to ask on"
    assert run("ask", "--forget", "all", "--yes").out == "1 answer deleted.\n"
    assert run("ask", "--forget", "all").out == "0 answers deleted.\n"
    assert run("ask", "--history", "--json").result == {"answers": []}


@pytest.mark.parametrize(
    "arguments",
    [[], ["x", "--history"], ["x", "--follow", "--json"], ["--history", "--forget", "all"], ["x", "--scenes", "21"]],
    ids=" ".join,
)
def test_requests_that_make_no_sense_are_refused(run: Run, arguments: list[str]) -> None:
    told = run("ask", *arguments)
    assert told.code == 2
    assert told.err.startswith("! ")


@pytest.mark.campaign(part="flows")
@posix
def test_control_c_keeps_what_has_come(run: Run, ollama: StandIn, isolated_home: Path) -> None:
    ollama.add(
        Model(
            NAME,
            behaviour=lambda sent: Turn("".join(f"국수를 {n}그릇 먹었습니다 [1]. " for n in range(400)), pace=0.02),
        )
    )
    with start(isolated_home, "ask", "국수를 먹었어요?") as process:
        assert process.stdout is not None
        came = b"".join(process.stdout.read(1) for _byte in range(40))
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=30)
    out = (came + rest).decode()
    assert process.returncode == 130
    assert out.startswith("국수를 0그릇 먹었습니다")
    assert re.search(r"\n\n  \[1\] +\d:\d\d", out)
    assert b"Stopped; what had come by then stays." in err
    assert b"Traceback" not in err
    (kept,) = run("ask", "--history", "--json").result["answers"]
    assert (kept["ending"], kept["answer"]) == ("stopped", out.split("\n\n")[0].rstrip())


@pytest.mark.campaign(part="flows")
@posix
def test_control_c_ends_the_wait_for_the_first_word(run: Run, ollama: StandIn, isolated_home: Path) -> None:
    hold = ollama.hold()
    with start(isolated_home, "ask", "국수를 먹었어요?", "--json") as process:
        assert hold.arrived.wait(60)
        process.send_signal(signal.SIGINT)
        out, _err = process.communicate(timeout=30)
        hold.release()
    document = json.loads(out)
    assert process.returncode == 130
    assert (document["status"], document["result"]["ending"]) == ("error", "stopped")
    assert [entry["code"] for entry in document["errors"]] == ["interrupted"]
    assert came_true(lambda: ollama.asked("chat")[0].outcome == "gone")


LOOP = "국수를 먹었어요 [1]. " + "르메르 24FW 카라리스, " * 200


def test_a_loop_is_cut_and_said_and_asked_for_again_only_if_wanted(
    run: Run, ollama: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama.answer(LOOP)
    told = run("ask", "국수를 먹었어요?")
    assert told.code == 0
    assert told.err.splitlines()[0].startswith("The model repeated itself without end")
    assert told.out.partition("\n\n")[0].count("카라리스") == 1
    assert ollama.count("chat") == 1
    ollama.answer(LOOP)
    result = run("ask", "국수를 먹었어요?", "--json").result
    assert (result["ending"], result["answer"]) == ("loop", "국수를 먹었어요 [1]. 르메르 24FW 카라리스")
    monkeypatch.setattr("subtitle_rag.cli.ask._wants_again", lambda: True)
    ollama.answer(LOOP)
    told = run("ask", "국수를 먹었어요?")
    assert "asked once more with another seed" in told.err
    assert ollama.count("chat") == 4
    stored = run("ask", "--history", "--json").result["answers"]
    assert [answer["ending"] for answer in stored].count("loop") == 2
