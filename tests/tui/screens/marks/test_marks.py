"""Marked scenes in the app: marked, shown, listed, edited, removed and exported."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Static
from textual.widgets._toast import Toast

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.library.mark_store import Mark
from subtitle_rag.runtime import Runtime
from subtitle_rag.sharing.export_formats import ExportText
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.dialogs.export_screen import ExportScreen
from subtitle_rag.tui.screens.dialogs.mark_screen import MarkScreen
from subtitle_rag.tui.screens.marks.marks_screen import MarksScreen
from subtitle_rag.tui.shared.content import mark_label
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.scenes.export_source import ExportSource, file_name, with_suffix
from subtitle_rag.tui.shared.scenes.marked_scenes import MarkedScenes
from subtitle_rag.tui.shared.scenes.scene_rows import scene_row
from tests.tui.conftest import (
    AppPilot,
    MakeApp,
    Outside,
    border,
    commands,
    press,
    press_each,
    run_command,
    running,
    scene,
    settle,
    toasts,
    typed,
    until,
)


def mark(id: int, start_s: int = 60, end_s: int = 120, at_s: int = 61, *, tag: str = "") -> Mark:
    times = (start_s * 1000, end_s * 1000, at_s * 1000)
    return Mark(id, "video-00001", *times, "제목", "채널", None, "찍어 먹어요", "", tag, marked_at=0)


class TestMarkedScenes:
    def test_a_scene_has_the_mark_of_its_span_first(self) -> None:
        marks = MarkedScenes([mark(1, 0, 300, 70), mark(2, 60, 120, 100)])
        found = marks.mark_of(scene())
        assert found
        assert found.id == 2

    @pytest.mark.parametrize(
        ("start_s", "end_s", "at_s", "is_marked"),
        [(0, 300, 70, True), (100, 200, 110, True), (0, 61, 30, False), (200, 300, 210, False)],
    )
    def test_a_scene_of_other_windows_is_marked_by_its_second(
        self, start_s: int, end_s: int, at_s: int, is_marked: bool
    ) -> None:
        marks = MarkedScenes([mark(1, start_s, end_s, at_s, tag="맛")])
        assert marks.tag_of(scene()) == ("맛" if is_marked else None)

    def test_scenes_of_other_videos_are_not(self) -> None:
        assert MarkedScenes([mark(1)]).mark_of(scene(2)) is None

    def test_a_mark_is_a_scene_by_its_own_words(self) -> None:
        kept = mark(1)
        video = Video("video-00001", "새 제목", "UC1", "채널", url="https://youtu.be/x")
        stored = MarkedScenes([kept], {video.id: video})
        assert stored.scene_of(kept).video is video
        assert stored.scene_of(kept).text == "찍어 먹어요"


def test_the_row_of_a_marked_scene_has_its_sign_and_tag() -> None:
    assert scene_row(scene(), 80, 6)[0].plain.startswith("   1:01  ")
    marked, right = scene_row(scene(), 80, 6, "맛[b]\x1b")
    assert marked.plain.startswith("✦  1:01  ")
    assert right.plain == "#맛[b]"
    assert not scene_row(scene(), 80, 6, "")[1]
    assert mark_label("") == "✦ "


class TestFileName:
    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("치킨 소스", "치킨 소스.md"),
            ("../../etc/passwd", "etc passwd.md"),
            ('"푹 찍어" -광고 channel:부엌', "푹 찍어 -광고 channel 부엌.md"),
            ("?*", "Scenes.md"),
            ("", "제목.md"),
        ],
    )
    def test_it_is_the_query_or_the_title_without_signs_of_paths(self, query: str, name: str) -> None:
        assert file_name(ExportSource("", (scene(),), query), "Scenes", "md") == name

    def test_scenes_of_several_videos_have_a_plain_name(self) -> None:
        source = ExportSource("", (scene(), scene(2, title="다른 제목")))
        assert file_name(source, "Scenes", "anki") == "Scenes.apkg"

    def test_another_format_brings_its_ending(self) -> None:
        formats = ("md", "anki", "csv")
        assert with_suffix("국수.md", "anki", formats) == "국수.apkg"
        assert with_suffix("국수.apkg", "csv", formats) == "국수.csv"
        assert with_suffix("vol.2", "md", formats) == "vol.2.md"


@pytest.fixture
def unmarked(runtime: Runtime) -> Iterator[Runtime]:
    """The shared library, without marks before and after."""
    yield runtime
    for each in runtime.library.marks.all():
        runtime.library.marks.remove(each.id)


def row(app: SubtitleApp) -> str:
    """Both parts of the first result."""
    left, right = next(iter(app.search_screen.scenes.rows.values()))
    return f"{left.plain} {right.plain}"


@pytest.mark.campaign(part="app")
async def test_a_scene_is_marked_edited_listed_and_removed(
    app_of: MakeApp, unmarked: Runtime, outside: Outside
) -> None:
    async with running(app_of(), "소스", size=(120, 40)) as (app, pilot):
        await press(pilot, "tab", "space")
        [added] = unmarked.library.marks.all()
        assert added.line in app.search_screen.scenes.value.text  # type: ignore[union-attr]
        assert "✦" in row(app)
        assert "Space again adds a note and a tag." in toasts(app)[-1]

        await pilot.press("space")
        assert isinstance(app.screen, MarkScreen)
        app.screen.note.insert_text_at_cursor("청귤 소스")
        await pilot.press("tab")
        app.screen.tag.insert_text_at_cursor("#맛")
        await press(pilot, "enter")
        [edited] = unmarked.library.marks.all()
        assert (edited.note, edited.tag) == ("청귤 소스", "맛")
        assert "#맛" in row(app)

        await run_command(pilot, "app.marks")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, MarksScreen)
        [(first, second)] = screen.rows.rows.values()
        assert first.plain.endswith(f"{added.line}   청귤 소스")
        assert second.plain.strip().startswith("✦ #맛 · 느긋한 식탁")
        await press(pilot, "enter")
        assert [played["at_ms"] for played in outside.played] == [added.at_ms]
        await run_command(pilot, "scene.copy-markdown")
        assert "**Note**: 청귤 소스" in outside.copied[-1]
        assert outside.copied[-1].startswith("## [")

        await pilot.press("delete", "enter")  # the harmless button
        assert unmarked.library.marks.all()
        await press(pilot, "delete", "left", "enter")
        assert not unmarked.library.marks.all()
        assert not screen.rows.row_count
        assert "No scene is marked. Space marks" in border(screen.query_one("#marks"), "subtitle")
        await pilot.press("escape")
        assert "✦" not in row(app)


@pytest.mark.campaign(part="app")
async def test_the_key_of_tags_works_while_a_mark_has_one(app_of: MakeApp, unmarked: Runtime) -> None:
    async with running(app_of(), "소스", size=(120, 40)) as (app, pilot):
        await press(pilot, "tab", "space")
        await run_command(pilot, "app.marks")
        await settle(pilot)
        bar = app.screen.query_one(KeyBar)
        assert "Remove" in {hint.description for hint in bar.hints}
        assert not app.screen.check_action("filter", ())
        await pilot.press("space", "tab")
        assert isinstance(app.screen, MarkScreen)
        app.screen.tag.insert_text_at_cursor("맛")
        await press(pilot, "enter")
        assert app.screen.check_action("filter", ())
        await pilot.press("f")
        assert border(app.screen.query_one("#marks")).endswith("· #맛")


async def test_typed_words_narrow_the_marks_and_editing_keys_edit_them(app_of: MakeApp, unmarked: Runtime) -> None:
    video = unmarked.library.videos()[0].video
    for at, (line, note) in enumerate((("소스 부어라", ""), ("가루파", "매운 소스"), ("식은 치킨", ""))):
        unmarked.library.marks.add(video, at * 5_000, at * 5_000 + 5_000, at * 5_000, line, note=note)
    async with running(app_of(), size=(120, 40)) as (app, pilot):
        await run_command(pilot, "app.marks")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, MarksScreen)
        assert screen.rows.row_count == 3
        await press(pilot, *"소스둘", "backspace")
        assert screen.text_field.value == "소스"
        assert [mark.line for mark in screen.rows.values] == ["가루파", "소스 부어라"]
        await press_each(pilot, "down", "enter")
        assert screen.rows.has_focus
        assert screen.rows.cursor == 1
        await press(pilot, "slash", *"없는말")
        assert screen.rows.row_count == 0
        assert border(screen.query_one("#top"), "subtitle") == "! No mark has these words."
        await press_each(pilot, "escape", "escape")
        assert screen.rows.row_count == 3
        assert border(screen.query_one("#top"), "subtitle") == ""
        await press_each(pilot, "escape")
        assert app.screen is app.search_screen
    assert len(unmarked.library.marks.all()) == 3


async def test_no_notice_lies_over_the_fields_of_note_and_tag(app_of: MakeApp, unmarked: Runtime) -> None:
    async with running(app_of(), "소스", size=(40, 15), notifications=True) as (app, pilot):
        await pilot.press("tab", "space")
        await until(pilot, lambda: app.screen.query(Toast))
        await press(pilot, "space")
        assert isinstance(app.screen, MarkScreen)
        assert not app.screen.query(Toast)


async def export(pilot: AppPilot) -> ExportScreen:
    """The dialog, opened by its key, with its text."""
    pilot.app.search_screen.scenes.focus()
    await press(pilot, "e")
    screen = pilot.app.screen
    assert isinstance(screen, ExportScreen)
    return screen


@pytest.mark.campaign(part="app")
async def test_a_text_of_another_format_that_comes_late_is_never_written(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(), "소스", size=(120, 40)) as (_, pilot):
        screen = await export(pilot)
        screen._show_text(screen.source, "csv", ExportText("csv", "A,B\n", "", ()))
        screen._show_failure(screen.source, "csv", AppError("nothing_chosen"))
        await settle(pilot)
        assert text(screen).startswith("# ")
        assert "A,B" not in text(screen)
        await press(pilot, "ctrl+y")
        assert outside.copied[-1].startswith("# ")


def text(screen: ExportScreen) -> str:
    return str(screen.query_one("#export-text", Static).content)


@pytest.mark.campaign(part="app")
async def test_scenes_are_exported_with_a_preview_to_a_file_and_the_clipboard(
    app_of: MakeApp, unmarked: Runtime, outside: Outside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(app_of(), "소스", size=(120, 40)) as (app, pilot):
        count = app.search_screen.scenes.row_count
        screen = await export(pilot)
        assert len(re.findall(r"^## ", text(screen), re.MULTILINE)) == 1
        await press(pilot, "ctrl+y")
        assert outside.copied[-1].startswith("# ")
        assert app.screen is app.search_screen

        screen = await export(pilot)
        await press(pilot, "tab", "down")
        assert (screen.format, screen.path.value) == ("txt", "소스.txt")
        assert text(screen).startswith("소스")
        (tmp_path / "소스.txt").write_text("before", encoding="utf-8")
        await press(pilot, "enter")
        assert "Enter again replaces it" in str(screen.query_one("#export-note", Static).content)
        assert (tmp_path / "소스.txt").read_text(encoding="utf-8") == "before"
        await press(pilot, "enter")
        assert app.screen is app.search_screen
        assert (tmp_path / "소스.txt").read_text(encoding="utf-8").startswith("소스\n")
        assert toasts(app)[-1] == f"{count} scenes: {tmp_path / '소스.txt'}"

        screen = await export(pilot)
        await press(pilot, "tab", *["down"] * 5)
        assert screen.format == "srt"
        assert "of several videos" in str(screen.query_one("#export-note", Static).content)
        await press(pilot, "enter")
        assert screen.is_current
        assert not (tmp_path / "소스.srt").exists()


@pytest.mark.campaign(part="app")
async def test_without_a_scene_the_palette_offers_nothing_to_do_with_one(app_of: MakeApp, unmarked: Runtime) -> None:
    scene_acts = {"Scene: Mark", "Scene: Export", "Scene: Copy", "Scene: Copy Markdown", "Scene: Choose player"}
    scene_acts |= {"Scene: Preview", "Find: Rerank with AI", "Go to: Transcript", "Go to: Overview"}
    async with running(app_of(scenes=[scene(1)]), size=(120, 40)) as (app, pilot):
        assert not scene_acts & set(commands(app))
        await typed(pilot, "치킨")
        assert scene_acts <= set(commands(app))


async def test_the_palette_lists_what_the_screen_below_it_can_open(app_of: MakeApp, unmarked: Runtime) -> None:
    async with running(app_of(scenes=[scene(1)]), "치킨", size=(120, 40)) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.search_screen)
        titles = {command.title for command in app.get_system_commands(app.screen_stack[0])}
        assert {"Go to: Marks", "Go to: Transcript", "Go to: Checks", "Scene: Mark", "Scene: Export"} <= titles
        assert "Scene: Copy Markdown" in titles
