"""`vectors`, and what `index`, `status` and `rebuild` do about vectors, with a tiny model in its own process."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from tests.support.commandline import Run
from tests.support.invented import caption_folder

Choose = Callable[[Path | str], None]

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def choose(isolated_home: Path) -> Choose:
    """Set the encoder."""
    isolated_home.mkdir(parents=True, exist_ok=True)

    def choose(encoder: Path | str) -> None:
        text = f'[models]\nencoder = "{encoder}"\nreranker = ""\n'
        (isolated_home / "config.toml").write_text(text)

    return choose


@pytest.fixture
def run(choose: Choose, encoder_folder: Path, isolated_home: Path, command: Run) -> Run:
    choose(encoder_folder)
    return command


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return caption_folder(tmp_path / "captions", 2, minutes=2)


def test_index_makes_the_vectors_of_what_came_in(run: Run, captions: Path, tmp_path: Path) -> None:
    assert run("index", captions, "--no-vectors", "--json").result["vectors"] is None
    due = run("status", "--json").result["stages"]["vectors"]
    assert (due["done"], due["encoder"]) == (0, None)
    more = caption_folder(tmp_path / "more", 3, minutes=2, seed=8)
    told = run("index", more / "영상 2 [invented002].ko.vtt", "--json")
    made = told.result["vectors"]
    assert (made["left"], made["waiting"]) == (0, 0)
    assert f"{made['encoder']} makes vectors" in told.err
    stage = run("status", "--json").result["stages"]["vectors"]
    counts = {name: stage[name] for name in ("done", "due", "waiting", "encoder", "coming")}
    assert counts == {"done": made["made"], "due": due["due"], "waiting": 0, "encoder": made["encoder"], "coming": None}
    assert run("index", captions, "--json").result["vectors"] is None  # nothing came in
    assert "windows got their vectors." in run("vectors").out
    assert run("status", "--json").result["stages"]["vectors"]["due"] == 0


def test_writing_tells_its_sum_and_its_events(run: Run, captions: Path) -> None:
    run("index", captions, "--no-vectors")
    first = run("vectors", "--limit", 1, "--json").result
    assert (first["made"], first["left"]) == (1, first["library"]["due"])
    assert first["library"]["made"] == 1
    *events, report = map(json.loads, run("vectors", "--jsonl").out.splitlines())
    model, all_windows = first["encoder"].partition("@")[0], first["library"]["windows"]
    begin = {"event": "progress", "stage": "vectors", "done": 0, "total": first["left"], "text": model}
    assert events[0] == begin
    last = {event["stage"]: event for event in events}
    assert last["vectors"] == begin | {"done": first["left"]}
    assert last["pieces"] == begin | {"stage": "pieces", "done": all_windows, "total": all_windows}
    assert (report["made"], report["pieces"]) == (first["left"], all_windows)
    assert (report["event"], report["left"]) == ("report", 0)
    again = run("vectors", "--redo", "--video", "invented000", "--json").result
    assert 0 < again["made"] < first["library"]["windows"]
    assert run("vectors", "--json", "--jsonl").code == 2


def test_status_tells_which_model_is_searched_and_which_takes_over(
    run: Run, captions: Path, isolated_home: Path
) -> None:
    run("index", captions)
    before = run("status", "--json").result["stages"]["vectors"]
    assert (before["due"], before["coming"]) == (0, None)
    pieces = before["pieces"]
    assert (pieces["done"], pieces["due"]) == (before["done"], 0)
    assert pieces["per_window"] > 0
    assert pieces["bytes_per_1000"] > 0
    assert 0.5 < pieces["encoding_ratio"] < 1
    told = run("status").out
    assert f"With vectors of their pieces: {before['done']} of {before['done']} windows." in told
    assert "Taking over" not in told
    with Runtime(config.load(isolated_home)) as runtime:
        runtime.library.vectors.activate("another@00000001")
    status = run("status", "--json").result["stages"]["vectors"]
    assert (status["encoder"], status["done"]) == ("another@00000001", 0)
    assert status["coming"] == {"encoder": before["encoder"], "done": before["done"], "due": 0}
    assert f"Taking over: {before['encoder']}" in run("status").out
    run("vectors")  # the other one is not here
    assert run("status", "--json").result["stages"]["vectors"]["encoder"] == before["encoder"]


def test_a_missing_model_is_named_with_what_fetches_it(run: Run, captions: Path, choose: Choose) -> None:
    choose("BAAI/bge-m3")
    told = run("index", captions, "--json")
    assert (told.code, told.document["status"], told.result["vectors"]) == (0, "success", None)
    refused = run("vectors", "--json")
    assert (refused.code, refused.failure) == (1, "model_missing")
    assert "subtitle-rag models get BAAI/bge-m3" in refused.err
    choose("")
    assert run("vectors", "--json").failure == "encoder_off"
    assert run("index", captions, "--json").code == 0


def test_a_damaged_model_is_told_and_the_captions_stay(
    run: Run, captions: Path, choose: Choose, encoder_folder: Path, tmp_path: Path
) -> None:
    damaged = shutil.copytree(encoder_folder, tmp_path / "damaged")
    (damaged / "config.json").unlink()
    choose(damaged)
    told = run("index", captions, "--json")
    assert (told.code, told.document["status"]) == (0, "partial")
    assert [entry["code"] for entry in told.document["errors"]] == ["model_damaged"]
    assert told.document["result"]["videos"]["new"] == 2


def test_one_run_at_a_time(run: Run, captions: Path, isolated_home: Path) -> None:
    run("status")
    with FileLock(isolated_home / "data" / "vectors.lock"):
        assert run("index", captions, "--json").result["vectors"] is None
        refused = run("vectors", "--json")
        assert (refused.code, refused.failure) == (3, "busy")


def test_rebuild_keeps_vectors_and_tells_which_are_lost(run: Run, captions: Path, isolated_home: Path) -> None:
    made = run("index", captions, "--json").result["vectors"]["made"]
    told = run("rebuild", "--json")
    assert told.result["vectors_kept"] == made
    assert "lost" not in told.err
    with Runtime(config.load(isolated_home)) as runtime:
        runtime.host.delete_videos(["invented000"])
        lost = runtime.library.window_count("invented000")
    told = run("rebuild", "--json")
    assert told.result["vectors_kept"] == made - lost
    assert f"{lost} windows have lost their vectors" in told.err
