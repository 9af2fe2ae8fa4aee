"""Parent and child: a window is found, and the model reads the section that it is in.

Small texts are found best, larger ones answered from best. A section is a chapter, or a part by topic
(`retrieval.index.sections`), and is in the prompt once, however many of its windows were found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from subtitle_rag.answers.context_builder import Labels, quoted, short_title
from subtitle_rag.domain import Window, clock
from subtitle_rag.library import Library
from subtitle_rag.retrieval.index.sections import Section, sections_of
from subtitle_rag.retrieval.search.scenes import Scene

MOST_WINDOWS = 5
"""Windows of a section around the found ones: about five minutes of speech."""


@dataclass(slots=True)
class _Block:
    """A section with the scenes found in it, by number."""

    section: Section
    windows: list[Window]
    scenes: dict[int, Scene]


class SectionContextBuilder:
    """The sections of scenes, the best first; each scene's number is in front of its first window."""

    def __init__(self, library: Library, labels: Labels) -> None:
        self._library = library
        self._labels = labels
        self._videos: dict[str, tuple[Sequence[Section], Sequence[Window]]] = {}

    def build(self, scenes: Sequence[Scene]) -> str:
        return "\n\n".join(map(self._text, self._blocks(scenes)))

    def windows(self, scenes: Sequence[Scene]) -> list[Window]:
        """Return the windows that the model reads."""
        return [window for block in self._blocks(scenes) for window in _near(block)]

    def _blocks(self, scenes: Sequence[Scene]) -> list[_Block]:
        blocks: dict[tuple[str, int], _Block] = {}
        for number, scene in enumerate(scenes, start=1):
            id = scene.video.id
            if id not in self._videos:
                self._videos[id] = sections_of(self._library, id), self._library.windows_of(id)
            sections, windows = self._videos[id]
            section = next((each for each in sections if scene.id in each.window_ids), None)
            if section is None:  # another library's window, or one that was cut again since
                end = max(scene.end_ms, scene.start_ms + 1)
                section = Section(scene.start_ms, end, "", (), (scene.id,))
            key = id, section.start_ms
            section_windows = [window for window in windows if window.id in section.window_ids]
            blocks.setdefault(key, _Block(section, section_windows, {})).scenes[number] = scene
        return list(blocks.values())

    def _text(self, block: _Block) -> str:
        first = next(iter(block.scenes.values()))
        names = (short_title(first.video.title), short_title(block.section.title))
        head = f"({', '.join(filter(None, (*names, clock(block.section.start_ms))))})"
        if not block.windows:
            return "\n".join(
                [head, *(f"[{n}] {self._labels.speech}: {quoted(s.text)}" for n, s in block.scenes.items())]
            )
        lines = [head]
        for number, scene in block.scenes.items():
            if scene.context:
                lines.append(f"[{number}] {self._labels.context}: {quoted(scene.context)}")
        open_numbers = dict(block.scenes)
        for window in _near(block):
            window_numbers = [
                n for n, scene in open_numbers.items() if scene.start_ms <= window.start_ms < scene.end_ms
            ]
            for number in window_numbers:
                del open_numbers[number]
            marks = "".join(f"[{number}]" for number in window_numbers)
            speech = f"{self._labels.speech}: {quoted(window.text)}"
            lines.append(f"{marks} ({clock(window.start_ms)}) {speech}".lstrip())
        return "\n".join(lines)


def _near(block: _Block) -> list[Window]:
    """Return the windows of a section that are nearest to the found ones, in the order of time."""
    scenes = block.scenes.values()
    is_found = [any(scene.start_ms <= window.start_ms < scene.end_ms for scene in scenes) for window in block.windows]
    hit_positions = [at for at, is_hit in enumerate(is_found) if is_hit] or [0]
    nearest = sorted(
        range(len(block.windows)), key=lambda at: (min(abs(at - position) for position in hit_positions), at)
    )
    return [block.windows[at] for at in sorted(nearest[: max(MOST_WINDOWS, len(hit_positions))])]
