"""What comes from the hub, how it is gone on with, and what is said when it does not come."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError, BusyError, UsageError
from subtitle_rag.base.domain.events import ModelEvent, ModelFetched
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.models import download
from subtitle_rag.models.manifest import encoders
from subtitle_rag.models.model_store import ModelStore
from subtitle_rag.models.record import Record
from tests.models.tiny import (
    ENCODER,
    ENCODER_FILES,
    RERANKER,
    RERANKER_FILES,
    WANTED,
    WEIGHTS,
    clear,
    write_manifest,
)
from tests.stand_ins.hub import Hub, Reply
from tests.support.processes import needs_sigkill


def fetched(store: ModelStore, name: str = ENCODER) -> ModelFetched:
    *_others, last = store.fetch(name)
    assert isinstance(last, ModelFetched)
    return last


def failed(store: ModelStore, name: str = ENCODER) -> AppError:
    with pytest.raises(AppError) as caught:
        list(store.fetch(name))
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def place(store: ModelStore, name: str = ENCODER) -> Path:
    return store.folder / name.replace("/", "--")


def test_exactly_the_wanted_files_come_and_nothing_else_is_asked(hub: Hub, commit: str, store: ModelStore) -> None:
    events = list(store.fetch(ENCODER))
    folder = place(store)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {*WANTED, ".subtitle-rag.json"}
    assert all((folder / path).read_bytes() == ENCODER_FILES[path] for path in WANTED)
    size = sum(len(ENCODER_FILES[path]) for path in WANTED)
    assert events[-1] == ModelFetched(ENCODER, commit, size, size)
    steps = [event for event in events if isinstance(event, Progress)]
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert {step.total for step in steps} == {size}
    assert steps[-1].done == size
    # one list, one request a file, no telemetry, nobody's account
    assert [asked.path for asked in hub.asked if not asked.path.startswith("/cdn/")] == [
        f"/api/models/{ENCODER}/revision/{commit}",
        *(f"/{ENCODER}/resolve/{commit}/{path}" for path in WANTED),
    ]
    assert len(hub.large_requests()) == 3
    assert not any("authorization" in asked.headers for asked in hub.asked)
    assert not any("agent/" in asked.headers["user-agent"] for asked in hub.asked)


def test_a_model_that_is_here_is_verified_without_a_network(hub: Hub, store: ModelStore) -> None:
    first = fetched(store)
    hub.stop()
    again = fetched(store)
    assert (again.bytes, again.fetched_bytes) == (first.bytes, 0)


def test_without_a_pinned_revision_the_first_that_the_hub_named_is_kept(hub: Hub, store: ModelStore) -> None:
    first = fetched(store, RERANKER)
    hub.push(RERANKER, {**RERANKER_FILES, "tokenizer.json": b'{"newer": 1}'})
    (place(store, RERANKER) / "tokenizer.json").unlink()
    assert fetched(store, RERANKER).revision == first.revision
    assert (place(store, RERANKER) / "tokenizer.json").read_bytes() == RERANKER_FILES["tokenizer.json"]


def test_a_manifest_that_has_gone_on_is_followed(hub: Hub, commit: str, store: ModelStore, tmp_path: Path) -> None:
    fetched(store)
    newer = hub.push(ENCODER, {**ENCODER_FILES, "tokenizer.json": b'{"newer": 1}'})
    write_manifest(tmp_path / "models.toml", newer)
    clear()
    assert store.files(ENCODER, "encoder").id.endswith(commit[:8])  # the old one serves until the new one is here
    told = fetched(store)
    assert (told.revision, told.fetched_bytes) == (newer, len(b'{"newer": 1}'))
    assert store.files(ENCODER, "encoder").id.endswith(newer[:8])


def test_a_broken_connection_goes_on_by_itself_and_gives_up_where_nothing_comes(hub: Hub, store: ModelStore) -> None:
    hub.cut_after = 1_400_000
    told = fetched(store)
    assert told.fetched_bytes == told.bytes  # no byte twice
    weights = [asked for asked in hub.large_requests() if hashlib.sha256(WEIGHTS).hexdigest() in asked.path]
    assert [asked.start for asked in weights] == [0, *sorted(asked.start for asked in weights[1:])]
    assert len(weights) == 3
    shutil.rmtree(place(store))
    hub.cut_after = 0
    assert failed(store).code == "hub_unreachable"
    hub.cut_after = None
    assert fetched(store).bytes == told.bytes


SCRIPT = """
import sys
from pathlib import Path
from subtitle_rag.models import manifest
manifest._MANIFESTS = (Path(sys.argv[1]),)
from subtitle_rag.cli.main import main
main(sys.argv[2:])
"""


@pytest.mark.campaign(part="kills")
@needs_sigkill
def test_a_killed_process_is_gone_on_with_at_its_last_byte(
    hub: Hub, store: ModelStore, tmp_path: Path, isolated_home: Path
) -> None:
    hub.slow = 0.02
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "models.toml"), "models", "get", ENCODER]
    folder = isolated_home / "data" / "models" / ENCODER.replace("/", "--")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not any(part.stat().st_size > 1_000_000 for part in folder.glob("pytorch_model.bin.*.part")):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    (part,) = folder.glob("pytorch_model.bin.*.part")
    arrived = part.stat().st_size
    hub.slow = 0.0
    hub.asked.clear()
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert ended.stdout == f"{ENCODER} is here.\n"
    assert "Warning" not in ended.stderr
    assert [asked.start for asked in hub.large_requests()] == [arrived]
    assert not any(asked.path.startswith("/api/") for asked in hub.asked)  # the record names the revision
    assert hashlib.sha256((folder / "pytorch_model.bin").read_bytes()).digest() == hashlib.sha256(WEIGHTS).digest()


def test_another_file_s_remains_are_not_gone_on_with(hub: Hub, commit: str, store: ModelStore) -> None:
    folder = place(store)
    folder.mkdir(parents=True)
    (folder / "pytorch_model.bin.00000000.part").write_bytes(b"of another revision")
    told = fetched(store)
    assert told.fetched_bytes == told.bytes
    assert not list(folder.rglob("*.part"))


@pytest.mark.parametrize("kept", [1, 2_999_999])
def test_a_hub_that_knows_no_ranges_sends_the_file_anew(hub: Hub, store: ModelStore, kept: int) -> None:
    left_over(store, kept)
    hub.ranges = False
    assert fetched(store).fetched_bytes >= len(WEIGHTS)
    assert (place(store) / "pytorch_model.bin").read_bytes() == WEIGHTS


def left_over(store: ModelStore, kept: int) -> Path:
    """A part of the weights, as an earlier run left it."""
    folder = place(store)
    folder.mkdir(parents=True)
    part = folder / f"pytorch_model.bin.{hashlib.sha256(WEIGHTS).hexdigest()[:8]}.part"
    part.write_bytes(WEIGHTS[:kept])
    return part


def test_bytes_that_differ_are_thrown_away(hub: Hub, store: ModelStore) -> None:
    hub.lies["pytorch_model.bin"] = WEIGHTS[:-1] + b"x"
    error = failed(store)
    assert isinstance(error, BusyError)
    assert error.code == "hub_unreachable"
    assert "pytorch_model.bin arrived damaged" in error.message
    assert not (place(store) / "pytorch_model.bin").exists()
    assert not list(place(store).rglob("pytorch_model*.part"))
    assert store.state(ENCODER).status == "partial"
    hub.lies.clear()
    fetched(store)


def test_more_bytes_than_were_promised_do_not_fill_the_disk(hub: Hub, store: ModelStore) -> None:
    hub.lies["pytorch_model.bin"] = WEIGHTS * 20
    assert "arrived damaged" in failed(store).message
    assert hub.sent < 10 * len(WEIGHTS)  # what lies in the sockets' buffers was not waited for
    assert sum(path.stat().st_size for path in place(store).rglob("*") if path.is_file()) < len(WEIGHTS)


def test_a_small_file_is_verified_by_its_blob_in_git(hub: Hub, store: ModelStore) -> None:
    hub.lies["tokenizer.json"] = b'{"MODEL": {}}'
    assert "tokenizer.json arrived damaged" in failed(store).message


def test_too_little_room_is_told_before_anything_comes(
    hub: Hub, store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=download.RESERVE + 2_000_000))
    error = failed(store)
    assert isinstance(error, BusyError)
    assert (error.code, error.details["needed"], error.details["free"]) == ("disk_short", "503 MB", "502 MB")
    assert not hub.large_requests()
    left_over_bytes = 1_500_000
    part = place(store) / f"pytorch_model.bin.{hashlib.sha256(WEIGHTS).hexdigest()[:8]}.part"
    part.write_bytes(WEIGHTS[:left_over_bytes])
    fetched(store)  # what is here already needs no room


@pytest.mark.parametrize(
    ("reply", "code", "kind"),
    [
        (Reply(404, {"X-Error-Code": "RevisionNotFound"}), "hub_refused", AppError),
        (Reply(401, {"X-Error-Code": "RepoNotFound"}), "hub_refused", AppError),
        (Reply(403, {"X-Error-Code": "GatedRepo"}), "hub_refused", AppError),
        (Reply(429, {"Retry-After": "77"}), "hub_unreachable", BusyError),
        (Reply(503), "hub_unreachable", BusyError),
        (Reply(200, {"Content-Type": "text/html"}, b"<html>log in</html>"), "hub_unreachable", BusyError),
        (
            Reply(200, {"Content-Type": "application/json"}, b'{"id": "x", "siblings": [{}]}'),
            "hub_unreachable",
            BusyError,
        ),
    ],
    ids=["no revision", "no repository", "gated", "busy", "down", "portal", "nonsense"],
)
def test_a_refusal_is_told(hub: Hub, store: ModelStore, reply: Reply, code: str, kind: type[AppError]) -> None:
    hub.refusals = [reply]
    error = failed(store)
    assert (error.code, type(error)) == (code, kind)
    assert error.details["host"] == hub.base
    if reply.status == 429:
        assert "77" in error.message
    assert store.state(ENCODER).status == "missing"


def test_a_refusal_in_the_middle_is_tried_again_or_told(hub: Hub, store: ModelStore) -> None:
    events = store.fetch(ENCODER)
    next(events)
    hub.refusals = [Reply(429), Reply(429)]
    assert isinstance(list(events)[-1], ModelFetched)
    shutil.rmtree(place(store))
    events = store.fetch(ENCODER)
    next(events)
    hub.refusals = [Reply(503)]
    with pytest.raises(BusyError) as caught:
        list(events)
    assert caught.value.code == "hub_unreachable"


def test_a_user_s_own_account_is_told_to_the_hub_alone(
    hub: Hub, store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetched(store)
    with_account = {asked.path.startswith("/cdn/"): "authorization" in asked.headers for asked in hub.asked}
    assert with_account == {False: True, True: False}


def test_no_network_and_an_offline_setting_are_told(
    hub: Hub, store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.stop()
    error = failed(store)
    assert (error.code, error.details["host"]) == ("hub_unreachable", hub.base)
    hub.start()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    error = failed(store)
    assert (error.code, type(error)) == ("hub_refused", UsageError)
    assert not hub.asked


@pytest.mark.parametrize(
    "changed",
    [
        {"sha": "0" * 40},
        {"sha": "../../x"},
        {"siblings": []},
        {"siblings": [{"rfilename": "config.json"}]},
    ],
    ids=["commit", "no commit", "nothing", "no sizes"],
)
def test_a_list_that_is_not_the_expected_one_changes_nothing(
    hub: Hub, store: ModelStore, changed: dict[str, object]
) -> None:
    hub.describes = lambda listing: {**listing, **changed}
    assert failed(store).code == "model_changed"
    assert not place(store).exists()


def test_names_that_lead_out_of_the_folder_are_not_taken(hub: Hub, store: ModelStore) -> None:
    evil = [
        {"rfilename": name, "size": 1, "blobId": "0" * 40} for name in ("../x.json", "a\\..\\..\\x.json", "C:x.json")
    ]
    hub.describes = lambda listing: {**listing, "siblings": [*listing["siblings"], *evil]}
    fetched(store, RERANKER)
    record = Record.read(place(store, RERANKER))
    assert record is not None
    assert {file.path for file in record.files} == {"config.json", "tokenizer.json", "model.safetensors"}


def test_the_real_manifest_s_digests_bind_the_hub(
    hub: Hub, tmp_path: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = encoders()[0]
    hub.push(first.name, {file.path: b"0" * 10 for file in first.files})
    hub.describes = lambda listing: {**listing, "sha": first.revision}
    hub._files[first.name][first.revision] = next(iter(hub._files[first.name].values()))
    error = failed(ModelStore(tmp_path / "real", ModelSettings()), first.name)
    assert error.code == "model_changed"


def test_one_process_at_a_time(hub: Hub, store: ModelStore) -> None:
    events = store.fetch(ENCODER)
    next(events)
    assert failed(store).code == "busy"
    with pytest.raises(BusyError) as caught:
        store.remove(ENCODER)
    assert caught.value.code == "busy"
    fetched(store, RERANKER)  # another model is another matter
    events.close()
    fetched(store)


def test_it_can_be_stopped_between_chunks_and_goes_on(hub: Hub, store: ModelStore) -> None:
    stop = threading.Event()
    seen: list[ModelEvent] = []
    files = [len(ENCODER_FILES[path]) for path in WANTED]
    large = sum(files) - max(files)

    def watch() -> None:
        for event in store.fetch(ENCODER, stop):
            seen.append(event)
            if isinstance(event, Progress) and event.done > large:
                stop.set()

    with pytest.raises(AppError) as caught:
        watch()
    assert caught.value.code == "interrupted"
    assert store.state(ENCODER).status == "partial"
    last = seen[-1]
    assert isinstance(last, Progress)
    assert fetched(store).fetched_bytes <= last.total - last.done


def test_a_folder_that_cannot_be_written_is_told(store: ModelStore) -> None:
    store.folder.write_text("a file in its place")
    assert failed(store).code == "unwritable"


def test_a_full_disk_is_told(hub: Hub, store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    events = store.fetch(ENCODER)
    next(events)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BusyError) as caught:
        list(events)
    assert caught.value.code == "disk_full"


@pytest.mark.parametrize(
    "sibling",
    [
        {"rfilename": "x.json", "size": 1, "blobId": "../../../escaped"},
        {"rfilename": "x.json", "size": -1, "blobId": "0" * 40},
        {"rfilename": "x.json", "size": True, "blobId": "0" * 40},
        {"rfilename": "x.json", "size": 1, "blobId": "0" * 40, "lfs": {"size": 1, "sha256": "../x", "pointerSize": 1}},
        {"rfilename": "Config.json", "size": 1, "blobId": "0" * 40},
    ],
    ids=["blob", "negative", "truth", "sha256", "same name"],
)
def test_what_a_list_says_of_a_file_is_no_path_and_no_nonsense(
    hub: Hub, store: ModelStore, tmp_path: Path, sibling: dict[str, object]
) -> None:
    hub.describes = lambda listing: {**listing, "siblings": [*listing["siblings"], sibling]}
    assert failed(store, RERANKER).code == "model_changed"
    assert not list(tmp_path.rglob("*escaped*"))


def test_a_list_that_is_nested_for_ever_is_no_list(hub: Hub, store: ModelStore) -> None:
    hub.refusals = [Reply(200, {}, b"[" * 100_000)]
    assert failed(store).code == "hub_unreachable"


def test_damage_that_was_resumed_is_downloaded_anew(hub: Hub, store: ModelStore) -> None:
    left_over(store, 1_000).write_bytes(b"x" * 1_000)
    fetched(store)
    assert (place(store) / "pytorch_model.bin").read_bytes() == WEIGHTS
