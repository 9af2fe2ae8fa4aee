"""Neural vectors in the app: made in the background by a tiny encoder, paused and gone on with, quiet in trouble."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import VectorsReport
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.index import encoding
from subtitle_rag.library.connection import busy_error
from subtitle_rag.models.neural.calibration import korean_pairs
from subtitle_rag.models.neural.neural_client import HostedEncoder, HostedModels
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import background, stage_threads
from subtitle_rag.tui.screens.library.library_text import progress_briefs, stage_notices
from subtitle_rag.tui.shared.progress.stage import Stage
from subtitle_rag.tui.shared.progress.stage_lines import has_news
from tests.stand_ins.ollama import Model, StandIn
from tests.support.invented import end_hosts
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    bar,
    commands,
    index_sample,
    left_promptly,
    running,
    settle,
    stage,
    toasts,
    typed,
    until,
)

ENCODER = "tiny-m3"
WRITER = "ax-light:q4"
LOADING_S = 60
"""PyTorch's import included, on a machine with much else to do."""


class Gate:
    """Holds batches of passages before they are encoded; open unless it is held."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self._open = threading.Event()
        self._open.set()
        self.batches: list[int] = []

    def hold(self) -> None:
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    def passed(self, count: int) -> None:
        self.batches.append(count)
        self.arrived.set()
        assert self._open.wait(20)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder, and so one process that holds models, for all tests."""
    folder = tmp_path_factory.mktemp("neural")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_NEURAL_LINGER", "30")
        yield folder
        end_hosts([folder])


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made, passages = Gate(), HostedEncoder.passages
    calibration = [pair.caption for pair in korean_pairs()]

    def gated(encoder: HostedEncoder, texts: Sequence[str], **options: Any) -> list[Encoded]:
        if list(texts) != calibration:
            made.passed(len(texts))
        return passages(encoder, texts, **options)

    monkeypatch.setattr(HostedEncoder, "passages", gated)
    yield made
    made.release()


@pytest.fixture
def ready(
    empty: Runtime, host: Path, encoder_folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Runtime]:
    """A runtime on an empty library, with an encoder; nothing is waited for that nobody would see."""
    monkeypatch.setattr(background, "SEARCH_AGAIN_S", 0.05)
    monkeypatch.setattr(stage_threads, "REPORT_S", 0.0)
    monkeypatch.setitem(encoding.EncodingRun.__init__.__kwdefaults__ or {}, "pause", 0.05)
    empty.settings = replace(empty.settings, models=ModelSettings(encoder=str(encoder_folder), reranker=""))
    with closing(HostedModels(host, empty.models)) as neural:
        empty.__dict__["neural"] = neural
        yield empty


@pytest.fixture
def indexed(ready: Runtime) -> Runtime:
    """With one video, of eight windows."""
    list(ready.indexer.index(sorted(SAMPLE.glob("*sample-0001*"))))
    return ready


def whole(app: SubtitleApp) -> bool:
    return bool(stage(app, "vectors").state == "done" and not app.background.runs)


async def made(pilot: AppPilot) -> None:
    """Until all vectors are there."""
    app = pilot.app
    await until(pilot, lambda: whole(app), LOADING_S)
    await settle(pilot)


def missing(runtime: Runtime) -> int:
    encoder = runtime.neural.encoder()
    assert encoder
    return runtime.library.vectors.counts(encoder.id).due


class TestMaking:
    @pytest.mark.campaign(part="app")
    async def test_after_the_sample_is_indexed_vectors_come_while_words_are_searched(
        self, ready: Runtime, gate: Gate
    ) -> None:
        gate.hold()
        async with running(SubtitleApp(ready), size=(120, 40)) as (app, pilot):
            index_sample(app)
            await until(pilot, gate.arrived.is_set)
            await until(pilot, lambda: bar(app, "vectors") == f"Vectors 0/75  {ENCODER}")
            await typed(pilot, "치킨 소스")
            assert app.search_screen.scenes.row_count
            gate.release()
            await made(pilot)
            assert bar(app, "vectors") == ""
            assert missing(ready) == 0
            assert ready.library.counts().windows == 75
            assert 75 in accumulate(gate.batches)  # then come the pieces
            await until(pilot, lambda: "+meaning" in str(app.search_screen.scenes.border_subtitle or ""))
            assert set(toasts(app)) <= {"9 videos can be searched now."}  # which has gone by now, or not

    @pytest.mark.campaign(part="app")
    async def test_a_context_has_its_window_encoded_anew(self, indexed: Runtime, gate: Gate) -> None:
        with StandIn() as ollama:
            ollama.add(Model(WRITER))
            async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
                await made(pilot)
                first = sum(gate.batches)
                assert gate.batches[0] == 8
                own = replace(indexed.settings.llm, hosts=(ollama.base,), model=WRITER, contexts="always")
                indexed.settings = app.settings = replace(indexed.settings, llm=own)
                app.background.begin_all()
                await until(pilot, lambda: stage(app, "contexts").state == "done" and whole(app))
                await until(pilot, lambda: missing(indexed) == 0 and whole(app))
                assert indexed.library.contexts.counts().written == 8
                assert sum(gate.batches) >= first + 8


@contextmanager
def written_by_ollama(runtime: Runtime) -> Iterator[StandIn]:
    """Contexts are written, too, by a stand-in."""
    with StandIn() as ollama:
        ollama.add(Model(WRITER))
        own = replace(runtime.settings.llm, hosts=(ollama.base,), model=WRITER, contexts="always")
        runtime.settings = replace(runtime.settings, llm=own)
        yield ollama


class TestPausing:
    @pytest.mark.campaign(part="app")
    async def test_ctrl_t_pauses_after_the_batch_and_goes_on_with_the_rest(
        self, ready: Runtime, gate: Gate, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(encoding, "LARGEST", encoding.SMALLEST)
        list(ready.indexer.index([SAMPLE]))
        gate.hold()
        async with running(SubtitleApp(ready), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+l")
            await until(pilot, gate.arrived.is_set)
            assert "Background: pause" in commands(app)
            await pilot.press("ctrl+t")
            assert bar(app, "vectors") == "paused; Ctrl+T resumes"
            gate.release()
            await until(pilot, lambda: not app.background.runs)
            assert bar(app, "vectors") == "paused; Ctrl+T resumes"
            assert stage(app, "vectors").progress.done == 8
            app.background.begin_all()  # as at the end of a job
            await settle(pilot)
            assert gate.batches == [8]
            assert "Background: resume" in commands(app)
            await pilot.press("ctrl+t")
            await made(pilot)
            assert missing(ready) == 0
            assert 75 in accumulate(gate.batches)
            assert not app.check_action("toggle_background", ())

    async def test_going_on_before_the_batch_has_ended_loses_nothing(self, indexed: Runtime, gate: Gate) -> None:
        gate.hold()
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await until(pilot, gate.arrived.is_set)
            app.action_toggle_background()
            app.action_toggle_background()
            gate.release()
            await made(pilot)
            windows, pieces = gate.batches
            assert (missing(indexed), windows) == (0, 8)
            assert pieces > windows

    @pytest.mark.campaign(part="app")
    async def test_vectors_wait_for_the_first_context_but_not_for_long(
        self, indexed: Runtime, gate: Gate, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(background, "FIRST_CONTEXT_S", 4.0)
        with written_by_ollama(indexed) as ollama:
            hold = ollama.hold()
            async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
                await until(pilot, hold.arrived.is_set)
                app.background.begin_all()
                assert "vectors" not in app.background.runs
                assert gate.batches == []
                await until(pilot, lambda: gate.batches == [8])
                hold.release()

    @pytest.mark.campaign(part="app")
    async def test_contexts_are_paused_and_gone_on_with_by_the_same_key(
        self, indexed: Runtime, gate: Gate, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(background, "FIRST_CONTEXT_S", 0.01)
        with written_by_ollama(indexed) as ollama:
            gate.hold()
            hold = ollama.hold()
            async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
                await pilot.press("ctrl+l")
                await until(pilot, lambda: hold.arrived.is_set() and gate.arrived.is_set())
                await until(pilot, lambda: "Contexts 0/8  Vectors 0/8" in bar(app, "vectors"))
                await pilot.press("ctrl+t")
                assert bar(app, "vectors") == "paused; Ctrl+T resumes"
                assert [stage(app, name).state for name in ("contexts", "vectors")] == ["paused", "paused"]
                gate.release()
                hold.release()
                await until(pilot, lambda: not app.background.runs)
                await pilot.press("ctrl+t")
                await until(pilot, lambda: stage(app, "contexts").state == "done" and whole(app))
                await until(pilot, lambda: missing(indexed) == 0 and whole(app))
                assert indexed.library.contexts.counts().written == 8
                assert bar(app, "vectors") == ""

    async def test_leaving_in_the_middle_of_a_batch_is_prompt_and_holds_nothing(
        self, indexed: Runtime, gate: Gate
    ) -> None:
        gate.hold()
        async with left_promptly(SubtitleApp(indexed)) as (app, pilot):
            await until(pilot, gate.arrived.is_set)
        gate.release()
        app.background.runs["vectors"].join(20)
        *_events, report = indexed.encoding().run()
        assert isinstance(report, VectorsReport)
        assert (report.made, report.left) == (0, 0)  # the batch under way was not lost


class TestTrouble:
    @pytest.mark.campaign(part="app")
    async def test_where_another_program_makes_them_it_says_so_calmly(self, indexed: Runtime, gate: Gate) -> None:
        with closing(indexed.encoding().run()) as events:  # type: ignore[type-var]
            next(events)
            async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
                await pilot.press("ctrl+l")
                await until(pilot, lambda: bar(app, "vectors"))
                assert bar(app, "vectors").startswith("Another subtitle-rag is making vectors in ")
                assert "run the same command" not in bar(app, "vectors")
                assert toasts(app) == []
                list(events)
                await pilot.press("escape", "ctrl+l")  # looks again
                await made(pilot)
                assert bar(app, "vectors") == ""

    @pytest.mark.campaign(part="app")
    async def test_a_damaged_model_is_told_with_what_to_do_and_tried_again_by_key(
        self, indexed: Runtime, encoder_folder: Path, tmp_path: Path
    ) -> None:
        copy = shutil.copytree(encoder_folder, tmp_path / "copy")
        content = (copy / "pytorch_model.bin").read_bytes()
        (copy / "pytorch_model.bin").write_bytes(content[: len(content) // 2])
        indexed.models.settings = replace(indexed.settings.models, encoder=str(copy))
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+l")
            await until(pilot, lambda: bar(app, "vectors").startswith("! The model "), LOADING_S)
            assert "is damaged" in bar(app, "vectors")
            assert bar(app, "vectors").endswith("  Ctrl+T tries again")
            assert toasts(app) == []
            (copy / "pytorch_model.bin").write_bytes(content)
            await pilot.press("ctrl+t")
            await made(pilot)
            assert missing(indexed) == 0


MAKING = Progress("vectors", 6_310, 9_412, "bge-m3")


class TestLines:
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({}, "Vectors 6,310/9,412"),
            ({"progress": replace(MAKING, left_s=1_020.0)}, "Vectors 6,310/9,412 · about 17 min left"),
            ({"state": "paused"}, "paused; Ctrl+T resumes"),
            ({"state": "done"}, ""),
            ({"progress": Progress("vectors")}, ""),
            ({"state": "failed", "error": busy_error(Path("x[b]\x1b"), "vectors")}, "vectors in x[b]·."),
            ({"state": "failed", "error": AppError("model_missing", name="m")}, "! The model m is not here."),
        ],
    )
    def test_every_state_is_told_in_the_library(self, changes: dict[str, Any], told: str) -> None:
        progress = replace(Stage("vectors", "working", MAKING), **changes)
        stages = {"vectors": progress}
        said = " ".join([*progress_briefs(None, stages), *stage_notices(stages)])  # type: ignore[arg-type]
        assert told in said if told else not said
        assert has_news(progress) is bool(told)
