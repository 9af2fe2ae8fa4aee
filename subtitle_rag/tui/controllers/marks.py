"""Marks scenes, and holds the marks that screens show."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.messages import ActionFailed, MarksRead
from subtitle_rag.tui.shared.scenes.export_source import exported_scene
from subtitle_rag.tui.shared.scenes.marked_scenes import MarkedScenes

if TYPE_CHECKING:
    from subtitle_rag.library.mark_store import Mark
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.search.scenes import Scene


class MarkController:
    def __init__(self, app: AppPort, runtime: "Runtime") -> None:
        self._app = app
        self._runtime = runtime
        self.scenes = MarkedScenes()
        self._lock = threading.Lock()
        self._readings = 0
        self._shown_reading = 0

    def read(self) -> None:
        """Read the marks of the library."""
        self._change(lambda: "")

    def add(self, scene: "Scene") -> None:
        """Mark a scene."""
        self._change(lambda: self._add(scene))

    def _add(self, scene: "Scene") -> str:
        library = self._runtime.library
        read = exported_scene(library, scene)
        library.marks.add(read.video, read.start_ms, read.end_ms, read.at_ms, read.sentence)
        sentence = _("Marked: {time} {title}. {key} again adds a note and a tag.")
        return sentence.format(time=clock(read.at_ms), title=clean(read.video.title), key=key("scene.mark"))

    def edit(self, mark: "Mark", note: str, tag: str) -> None:
        """Change a mark's note and tag."""

        def write() -> str:
            marks = self._runtime.library.marks
            marks.put_note(mark.id, note)
            marks.put_tag(mark.id, tag)
            return _("Note and tag are saved.")

        self._change(write)

    def remove(self, mark: "Mark") -> None:
        """Remove a mark; the scene stays in the library."""

        def remove() -> str:
            self._runtime.library.marks.remove(mark.id)
            return n_("{n} mark removed.", "{n} marks removed.", 1)

        self._change(remove)

    def _change(self, write: Callable[[], str]) -> None:
        """Run `write`, which returns a toast, and reread the marks."""

        def change() -> tuple[int, MarkedScenes, str]:
            library = self._runtime.library
            with self._lock:
                sentence = write()
                marks = library.marks.all()
                self._readings += 1
                number = self._readings
            videos = library.videos_by_id(*{mark.video_id for mark in marks})
            return number, MarkedScenes(marks, videos), sentence

        self._app.run_in_thread(change, ActionFailed, take=self._take, group="marks")

    def _take(self, reading: tuple[int, MarkedScenes, str]) -> None:
        number, scenes, sentence = reading
        if number > self._shown_reading:  # readings may arrive out of order
            self._shown_reading = number
            self.scenes = scenes
        if sentence:
            self._app.notify(sentence, markup=False)
        self._app.post_message(MarksRead())
