"""Contexts in the app: written in the background, paused and gone on with, told apart from speech, quiet in trouble."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import background, stage_threads
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from tests.stand_ins.ollama import Model, StandIn
from tests.tui.asking import ask, opened
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    MakeApp,
    bar as stage_bar,
    commands,
    index_sample,
    left_promptly,
    press,
    press_each,
    running,
    settle,
    shown,
    stage,
    toasts,
    transcript_text,
    typed,
    until,
    writing,
)
from tests.tui.shared.test_stages import making

MODEL = "ax-light:q4"


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as serving:
        yield serving


@pytest.fixture
def model(ollama: StandIn) -> Model:
    own = Model(MODEL)
    ollama.add(own)
    return own


@pytest.fixture
def written(empty: Runtime, ollama: StandIn, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """A runtime on an empty library, with an Ollama; nothing is waited for that nobody would see."""
    monkeypatch.setattr(background, "SEARCH_AGAIN_S", 0.05)
    monkeypatch.setattr(stage_threads, "REPORT_S", 0.0)
    llm = replace(empty.settings.llm, hosts=(ollama.base,), model=MODEL, contexts="always")
    empty.settings = replace(empty.settings, llm=llm)
    return empty


@pytest.fixture
def indexed(written: Runtime) -> Runtime:
    """With one video, of eight windows."""
    list(written.indexer.index(sorted(SAMPLE.glob("*sample-0001*"))))
    return written


async def idle(pilot: AppPilot) -> None:
    """Until no contexts are written any more."""
    app = pilot.app
    await until(pilot, lambda: stage(app, "contexts").state in ("done", "failed") and not app.background.runs)
    await settle(pilot)


def bar(app: SubtitleApp) -> str:
    return stage_bar(app, "contexts")


class TestWriting:
    @pytest.mark.campaign(part="app")
    async def test_after_the_sample_is_indexed_contexts_come_while_searching_goes_on(
        self, written: Runtime, ollama: StandIn
    ) -> None:
        ollama.add(Model(MODEL, behaviour="slow"))
        hold = ollama.hold()
        async with running(SubtitleApp(written), size=(120, 40)) as (app, pilot):
            index_sample(app)
            await until(pilot, lambda: toasts(app))
            assert toasts(app) == ["9 videos can be searched now."]
            await until(pilot, hold.arrived.is_set)
            assert bar(app).startswith("Contexts 0/75  ")
            await typed(pilot, "치킨 소스")
            before = app.search_screen.scenes.row_count
            assert before
            hold.release()
            await until(pilot, lambda: stage(app, "contexts").processed > 0)
            assert bar(app) != "Contexts 0/75"
            await typed(pilot, " 찍어")
            assert app.search_screen.results.text == "치킨 소스 찍어"
            await pilot.press("ctrl+l")
            await until(pilot, lambda: "Contexts " in bar(app))

    @pytest.mark.campaign(part="app")
    async def test_the_scene_on_the_screen_gets_its_context_and_keeps_the_highlight(
        self, indexed: Runtime, ollama: StandIn, model: Model
    ) -> None:
        hold = ollama.hold()
        async with running(SubtitleApp(indexed), "소스", size=(120, 40)) as (app, pilot):
            await until(pilot, hold.arrived.is_set)
            await pilot.press("down")
            await settle(pilot)  # the answer that was on its way is there
            chosen = app.search_screen.scenes.value
            assert chosen
            hold.release()
            await idle(pilot)
            await until(pilot, lambda: "이야기를 하는 부분입니다." in (app.search_screen.scenes.value.context or ""))  # type: ignore[union-attr]
            now = app.search_screen.scenes.value
            assert now
            assert now.id == chosen.id
            assert "이야기를 하는 부분입니다." not in transcript_text(app)
            assert bar(app) == ""
            assert toasts(app) == []

    @pytest.mark.parametrize(("size", "told"), [((120, 30), True), ((120, 29), False), ((99, 40), False)])
    async def test_the_search_screen_tells_it_where_there_is_room(
        self, app_of: MakeApp, size: tuple[int, int], told: bool
    ) -> None:
        async with running(app_of(), size=size) as (app, pilot):
            app.background.show(writing())
            app.background.show(making())
            await settle(pilot)
            assert (bool(bar(app)), bool(stage_bar(app, "vectors"))) == (told, told)
            app.background.show(replace(writing(), state="paused"))
            app.background.show(replace(making(), state="done"))
            await settle(pilot)
            assert (bar(app), stage_bar(app, "vectors")) == ("", "")

    @pytest.mark.campaign(part="app")
    async def test_what_a_job_brings_while_contexts_are_written_gets_them_too(
        self, indexed: Runtime, ollama: StandIn, model: Model
    ) -> None:
        hold = ollama.hold()
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await until(pilot, hold.arrived.is_set)
            await press(pilot, "ctrl+l")
            app.screen.query_one("#path").value = str(next(SAMPLE.glob("*sample-0002*")))  # type: ignore[attr-defined]
            await press(pilot, "enter")
            await until(pilot, lambda: toasts(app))
            hold.release()
            await idle(pilot)
            counts = indexed.library.contexts.counts()
            assert counts.written + counts.left_out == counts.windows > 8
            assert counts.written > 8

    @pytest.mark.campaign(part="app")
    async def test_an_empty_library_asks_nobody(self, written: Runtime, ollama: StandIn, model: Model) -> None:
        async with running(SubtitleApp(written), size=(120, 40)) as (app, pilot):
            await idle(pilot)
            assert bar(app) == ""
            assert ollama.count("chat") == 0  # the checks ask whether it is there


class TestPausing:
    @pytest.mark.campaign(part="app")
    async def test_ctrl_t_pauses_and_goes_on_where_it_was(self, indexed: Runtime, ollama: StandIn) -> None:
        ollama.add(Model(MODEL, behaviour="slow"))
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+l")
            await until(pilot, lambda: stage(app, "contexts").processed)
            assert "Background: pause" in commands(app)
            await pilot.press("ctrl+t")
            assert bar(app).endswith("paused; Ctrl+T resumes")
            await until(pilot, lambda: not app.background.runs)
            asked = ollama.count()
            app.background.begin_all()  # as at the end of a job
            await settle(pilot)
            assert ollama.count() == asked
            assert "Ctrl+T resumes" in bar(app)
            assert "Background: resume" in commands(app)
            kept = indexed.library.contexts.counts().written
            assert 0 < kept < 8
            await pilot.press("ctrl+t")
            await idle(pilot)
            assert indexed.library.contexts.counts().written == 8
            assert bar(app) == ""

    async def test_the_search_tells_what_the_key_did(self, indexed: Runtime, ollama: StandIn) -> None:
        """Without the lines of the stages, which a small terminal leaves out."""
        ollama.add(Model(MODEL, behaviour="slow"))
        async with running(SubtitleApp(indexed), size=(80, 24)) as (app, pilot):
            await until(pilot, lambda: stage(app, "contexts").processed)
            await press(pilot, "ctrl+t")
            assert toasts(app) == ["Background work is paused; Ctrl+T resumes."]
            await until(pilot, lambda: not app.background.runs)
            await press(pilot, "ctrl+t")
            done = indexed.library.contexts.counts().written
            assert toasts(app)[1:] == [f"Background work goes on · Contexts {done}/8"]
            await idle(pilot)

    async def test_leaving_in_the_middle_of_an_answer_is_prompt(
        self, indexed: Runtime, ollama: StandIn, model: Model
    ) -> None:
        hold = ollama.hold(times=None)
        async with left_promptly(SubtitleApp(indexed)) as (app, pilot):
            await until(pilot, hold.arrived.is_set)
        assert not app.background.runs["contexts"].is_alive()

    @pytest.mark.campaign(part="app")
    async def test_an_ollama_that_hangs_when_it_is_asked_for_its_models_is_left_behind(
        self, indexed: Runtime, ollama: StandIn, model: Model
    ) -> None:
        hold = ollama.hold("version")
        async with left_promptly(SubtitleApp(indexed)) as (app, pilot):
            await until(pilot, hold.arrived.is_set)
        hold.release()
        app.background.runs["contexts"].join(10)


class TestTrouble:
    @pytest.mark.campaign(part="app")
    async def test_without_ollama_searching_goes_on_and_the_key_tries_again(
        self, indexed: Runtime, ollama: StandIn
    ) -> None:
        ollama.stop()
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await idle(pilot)
            assert bar(app) == ""
            await typed(pilot, "소스")
            assert app.search_screen.scenes.row_count
            assert toasts(app) == []
            ollama.start()
            ollama.add(Model(MODEL))
            await idle(pilot)
            await pilot.press("ctrl+t")
            await idle(pilot)
            assert indexed.library.contexts.counts().written == 8

    @pytest.mark.campaign(part="app")
    async def test_without_the_model_the_command_that_fetches_it_is_told(
        self, indexed: Runtime, ollama: StandIn
    ) -> None:
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await idle(pilot)
            await pilot.press("ctrl+l")
            await idle(pilot)
            assert f"does not have the model {MODEL}." in bar(app)
            assert f"subtitle-rag models get {MODEL}" in bar(app)
            assert toasts(app) == []
            ollama.add(Model(MODEL))
            await press_each(pilot, "escape", "ctrl+l")  # looks again
            await until(pilot, lambda: stage(app, "contexts").state == "done")
            await idle(pilot)
            assert indexed.library.contexts.counts().written == 8

    async def test_a_retry_does_not_say_that_work_goes_on(self, indexed: Runtime, ollama: StandIn) -> None:
        async with running(SubtitleApp(indexed), size=(80, 24)) as (app, pilot):
            await idle(pilot)
            await press(pilot, "ctrl+t")
            await idle(pilot)
            said, failed = toasts(app)
            assert said == "Trying the background work again."
            assert failed.endswith(f"does not have the model {MODEL}. subtitle-rag models get {MODEL} fetches it.")

    @pytest.mark.campaign(part="app")
    async def test_a_model_that_does_not_fit_is_told_once_and_asked_again_only_by_key(
        self, indexed: Runtime, ollama: StandIn
    ) -> None:
        ollama.add(Model(MODEL, behaviour="out_of_memory"))

        def windows_asked() -> list[int]:
            return [asked.options["num_ctx"] for asked in ollama.asked("chat")]

        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await idle(pilot)
            await press(pilot, "ctrl+l")
            assert "does not fit into memory" in bar(app)
            assert "Ctrl+T tries again" in bar(app)
            assert toasts(app) == []
            assert windows_asked() == [8_192, 4_096]  # a smaller one may fit
            await pilot.press("ctrl+t")
            await until(pilot, lambda: len(windows_asked()) == 4)
            await idle(pilot)
            assert windows_asked()[2:] == [8_192, 4_096]

    @pytest.mark.campaign(part="app")
    async def test_where_another_program_writes_them_it_says_so(
        self, indexed: Runtime, ollama: StandIn, model: Model
    ) -> None:
        with indexed.writer() as writer:
            events = writer.run()
            next(events)
            async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
                await idle(pilot)
                await pilot.press("ctrl+l")
                await idle(pilot)
                assert "Another subtitle-rag is writing contexts" in bar(app)
                assert "run the same command" not in bar(app)
            list(events)


@pytest.fixture
def unasked(indexed: Runtime) -> Runtime:
    """The user has not said yet whether contexts are written."""
    indexed.settings = replace(indexed.settings, llm=replace(indexed.settings.llm, contexts="ask"))
    return indexed


def requests(ollama: StandIn) -> int:
    return ollama.count("chat")


class TestConsent:
    async def test_nothing_is_written_unasked_and_a_yes_holds_for_each_start(
        self, unasked: Runtime, ollama: StandIn, model: Model
    ) -> None:
        async with running(SubtitleApp(unasked), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: stage(app, "contexts").state == "offered")
            assert requests(ollama) == 0
            assert "8 scenes, 1 min to 3 min" in shown(app, "#tips")
            await press(pilot, "ctrl+t")
            await idle(pilot)
            assert stage(app, "contexts").processed == 8
        assert 'contexts = "always"' in unasked.settings.paths.config.read_text()
        assert unasked.settings.llm.contexts == "always"

    async def test_a_no_is_never_asked_again_until_the_key(
        self, unasked: Runtime, ollama: StandIn, model: Model
    ) -> None:
        async with running(SubtitleApp(unasked), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: stage(app, "contexts").state == "offered")
            await press(pilot, "ctrl+x")
            await until(pilot, lambda: unasked.settings.llm.contexts == "never")
            await settle(pilot)
            assert "AI" not in shown(app, "#tips")
        async with running(SubtitleApp(unasked), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: stage(app, "contexts").state == "dismissed")
            assert "AI" not in shown(app, "#tips")
            assert requests(ollama) == 0
            await press(pilot, "ctrl+t")
            await until(
                pilot, lambda: isinstance(app.screen, ConfirmScreen) and bool(app.screen.query("#confirm Static"))
            )
            assert requests(ollama) == 0
            await press(pilot, "left", "enter")
            await idle(pilot)
        assert unasked.settings.llm.contexts == "always"

    async def test_after_an_answer_that_failed_the_key_says_that_the_model_is_missing(
        self, unasked: Runtime, ollama: StandIn
    ) -> None:
        async with running(SubtitleApp(unasked), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: stage(app, "contexts").state == "dismissed")
            screen = await opened(pilot, "소스")
            await ask(pilot, screen)
            before = len(toasts(app))
            await press(pilot, "ctrl+t")
            missing = f"does not have the model {MODEL}. subtitle-rag models get {MODEL} fetches it."
            assert [toast.endswith(missing) for toast in toasts(app)[before:]] == [True]
            assert stage(app, "contexts").state == "dismissed"

    async def test_without_ollama_nothing_is_said(self, unasked: Runtime, ollama: StandIn) -> None:
        ollama.stop()
        async with running(SubtitleApp(unasked), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: stage(app, "contexts").state == "dismissed")
            assert "Ollama" not in shown(app, "#tips")
            assert toasts(app) == []
