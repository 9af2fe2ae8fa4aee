"""Stages in the background without an app: when they start, pause, resume and are run again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.settings import LlmSettings, ModelSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.controllers import background as module
from subtitle_rag.tui.controllers.background import BackgroundController, ContextPause
from subtitle_rag.tui.controllers.downloads import ModelDownloadController
from subtitle_rag.tui.controllers.stage_threads import RUNS, StageRun
from subtitle_rag.tui.shared.messages import StageAdvanced, StageEnded
from subtitle_rag.tui.shared.progress.offers import ModelDownload, model_download
from subtitle_rag.tui.shared.progress.stage import Stage, StageName
from tests.tui.fake_app import FakeApp


class FakeRun:
    """A stage's thread that does nothing until a test ends it."""

    started: list["FakeRun"] = []  # noqa: RUF012 - emptied by the fixture

    stage: StageName

    def __init__(self, *_arguments: object) -> None:
        self.halted = False
        FakeRun.started.append(self)

    def start(self) -> None:
        pass

    def halt(self) -> None:
        self.halted = True


@pytest.fixture
def app() -> FakeApp:
    return FakeApp()


@pytest.fixture
def background(app: FakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BackgroundController:
    def run_of(stage: StageName, kind: type[StageRun]) -> Any:
        return type("Run", (FakeRun,), {"stage": stage, "is_configured": kind.is_configured})

    monkeypatch.setattr(module, "RUNS", {stage: run_of(stage, kind) for stage, kind in RUNS.items()})
    FakeRun.started.clear()
    settings = config.load(home=tmp_path, language="en")
    runtime = Runtime(replace(settings, llm=LlmSettings(hosts=("http://127.0.0.1:1",), contexts="always")))
    return BackgroundController(app, runtime)


def is_active(background: BackgroundController) -> bool:
    return background.is_active


def offered(app: FakeApp) -> ModelDownload | None:
    return ModelDownload.among(app.stages)


def stages() -> list[str]:
    return [run.stage for run in FakeRun.started]


WORKING = Stage("contexts", "working", Progress("contexts", 2, 10), processed=1)


def test_without_ollama_and_encoder_nothing_starts_and_no_key_pauses_it(background: BackgroundController) -> None:
    runtime = background._runtime
    runtime.settings = replace(runtime.settings, llm=LlmSettings(hosts=()), models=ModelSettings(encoder=""))
    background.begin_all()
    assert (stages(), background.can_toggle) == ([], False)


def test_vectors_wait_for_the_first_context(app: FakeApp, background: BackgroundController) -> None:
    background.begin_all()
    assert stages() == ["contexts"]
    background.stage_advanced(StageAdvanced(WORKING))
    background.begin("vectors")
    assert stages() == ["contexts", "vectors"]


def test_work_that_comes_during_a_run_is_done_after_it(background: BackgroundController) -> None:
    background.begin("vectors")
    background.begin("vectors")
    assert stages() == ["vectors"]
    background.stage_ended(StageEnded(Stage("vectors", "done"), halted=False))
    assert stages() == ["vectors", "vectors"]


def test_a_failed_run_is_not_repeated_by_itself(app: FakeApp, background: BackgroundController) -> None:
    background.begin("vectors")
    background.begin("vectors")
    background.stage_ended(
        StageEnded(Stage("vectors", "failed", error=AppError("unexpected", reason="", log="")), halted=False)
    )
    background.windows_came()
    assert stages().count("vectors") == 1


def test_pausing_halts_and_resuming_starts_anew(app: FakeApp, background: BackgroundController) -> None:
    background.begin("contexts")
    background.stage_advanced(StageAdvanced(WORKING))
    assert is_active(background)
    background.toggle()
    assert FakeRun.started[0].halted
    assert app.stages["contexts"].state == "paused"
    background.stage_ended(StageEnded(replace(WORKING, state="paused"), halted=True))
    assert not is_active(background)
    background.toggle()
    assert stages() == ["contexts", "contexts", "vectors"]


def test_a_run_that_was_resumed_before_it_had_ended_is_followed_by_another(background: BackgroundController) -> None:
    background.begin("contexts")
    background.restart("contexts")
    background.stage_ended(StageEnded(replace(WORKING, state="paused"), halted=True))
    assert stages() == ["contexts", "contexts"]


def test_a_retry_by_key_tells_a_failure_like_the_one_before(app: FakeApp, background: BackgroundController) -> None:
    error = AppError("llm_not_running", host="http://127.0.0.1:1")
    failure = StageEnded(Stage("contexts", "failed", error=error), halted=False)
    background.begin("contexts")
    background.stage_ended(failure)
    background.stage_ended(StageEnded(Stage("vectors", "done"), halted=False))
    assert not app.errors  # the line of the stage says it
    background.toggle()
    background.stage_ended(failure)
    assert app.errors == [error]
    background.begin("contexts")
    background.stage_ended(failure)
    assert app.errors == [error]


def test_after_the_end_nothing_starts(background: BackgroundController) -> None:
    background.begin("contexts")
    background.halt()
    background.begin("vectors")
    assert stages() == ["contexts"]
    assert FakeRun.started[0].halted


class TestAnswers:
    """Contexts wait for an answer."""

    def test_they_are_resumed_when_no_question_has_followed(
        self, app: FakeApp, background: BackgroundController
    ) -> None:
        pause = ContextPause(app, background._runtime, background)
        pause.pause_contexts_for_answer()
        assert "contexts" in background.paused
        pause.resume_contexts_later()
        assert "contexts" in background.paused
        app.fire()
        assert "contexts" not in background.paused

    def test_what_the_user_paused_stays_paused(self, app: FakeApp, background: BackgroundController) -> None:
        background.pause("contexts")
        pause = ContextPause(app, background._runtime, background)
        pause.pause_contexts_for_answer()
        pause.resume_contexts_later()
        pause.resume_contexts()
        assert "contexts" in background.paused

    def test_leaving_the_screen_while_the_model_answers_keeps_them_waiting(
        self, app: FakeApp, background: BackgroundController
    ) -> None:
        pause = ContextPause(app, background._runtime, background)
        pause.pause_contexts_for_answer()
        pause.resume_contexts()
        assert "contexts" in background.paused
        pause.resume_contexts_later()
        pause.resume_contexts()
        assert "contexts" not in background.paused


class TestModels:
    """The download of packages and models."""

    OFFER = model_download("offered", ["a/b"], 0, 10)

    @pytest.fixture
    def models(self, app: FakeApp, background: BackgroundController) -> ModelDownloadController:
        return ModelDownloadController(app, background._runtime, background)

    def test_packages_need_consent_and_models_do_not(
        self, background: BackgroundController, models: ModelDownloadController
    ) -> None:
        background.show(self.OFFER)
        assert not models.needs_consent
        background.show(replace(self.OFFER, packages=500))
        assert models.needs_consent

    def test_it_runs_and_stops_by_one_key(
        self, app: FakeApp, models: ModelDownloadController, background: BackgroundController
    ) -> None:
        background.show(self.OFFER)
        models.toggle()
        assert stages() == ["offer"]
        models.toggle()
        assert FakeRun.started[0].halted
        assert not models.is_running

    def test_a_failure_stays_until_nothing_is_missing(
        self, app: FakeApp, models: ModelDownloadController, background: BackgroundController
    ) -> None:
        background.show(replace(self.OFFER, state="failed"))
        models.download_read(self.OFFER)
        assert app.stages["offer"].state == "failed"
        models.download_read(None)
        assert (offered(app), stages()) == (None, ["vectors"])

    def test_at_its_end_the_offer_goes(
        self, app: FakeApp, models: ModelDownloadController, background: BackgroundController
    ) -> None:
        background.show(self.OFFER)
        models.start()
        background.stage_ended(StageEnded(replace(self.OFFER, state="done", processed=1), halted=False))
        assert (offered(app), app.toasts[-1][:19]) == (None, "The models are here")
