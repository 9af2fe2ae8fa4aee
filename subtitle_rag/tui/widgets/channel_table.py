"""The channels and playlists of the library as a table; its first row stands for all videos."""

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import BindingType

from subtitle_rag.domain import EXPECTED
from subtitle_rag.i18n import _
from subtitle_rag.library import ChannelState
from subtitle_rag.tui.commands import bindings
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import failure_reasons
from subtitle_rag.tui.widgets.row_table import RowTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EVERYTHING = "*"
"""The key of the first row."""
NARROW = 90
"""Cells below which the column of tracks is hidden."""


class ChannelTable(RowTable[tuple[ChannelState, str]]):
    """Rows of (channel, text of its state): the text changes with clock and job too."""

    RIGHT: ClassVar[frozenset[str]] = frozenset({"videos", "windows"})

    BINDINGS: ClassVar[list[BindingType]] = bindings("channel.videos", "channel.into")

    def __init__(self) -> None:
        super().__init__("channels")

    def show(self, states: "Sequence[ChannelState]", *, running: bool = False) -> None:
        """Show these, in this order, after the row of all videos. `running`: captions are being fetched."""
        before = self.row_count
        self.fill((state, state_text(state, running=running)) for state in (everything(states), *states))
        self._columns = self.widths(self.size.width)
        if self.row_count != before:
            self.refresh(layout=True)  # it is as high as it has rows

    @property
    def channel(self) -> ChannelState | None:
        """The channel under the cursor; None on the row of all videos and in an empty table."""
        return self.value[0] if self.value and self.cursor_key != EVERYTHING else None

    def key_of(self, value: tuple[ChannelState, str]) -> str:
        return value[0].key

    def labels(self) -> "Mapping[str, str]":
        return {
            "name": _("Channel / playlist"),
            "videos": _("Videos"),
            "windows": _("Windows"),
            "tracks": _("Captions"),
            "state": _("State"),
        }

    def widths(self, width: int) -> dict[str, int]:
        fixed = {"videos": 7, "windows": 9, "state": 32}
        if width >= NARROW:
            fixed = {"videos": 7, "windows": 9, "tracks": 22, "state": 34}
        fixed |= {column: self._needed(column, fixed[column]) for column in ("tracks", "state") if column in fixed}
        name = width - sum(fixed.values()) - 2 * self.cell_padding * (len(fixed) + 1) - 2  # the scrollbar
        return {"name": max(12, name), **fixed}

    def _needed(self, column: str, most: int) -> int:
        """Return the cells that the texts of a column need, at most so many; a job's counts seldom change them."""
        texts = (self.labels()[column], *(self.cells(value)[column] for value in self._values.values()))
        return min(most, -(-max(map(cell_len, texts)) // 4) * 4)

    def cells(self, value: tuple[ChannelState, str]) -> "Mapping[str, str]":
        state, text = value
        return {
            "name": name(state),
            "videos": f"{state.videos:,}",
            "windows": f"{state.windows:,}" if state.windows else "",
            "tracks": tracks(state),
            "state": text,
        }


def everything(states: "Sequence[ChannelState]") -> ChannelState:
    """Return the sums of all channels; these include the videos of playlists."""
    channels = [state for state in states if state.kind == "channel"]
    track_counts: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for state in channels:
        track_counts.update(state.tracks)
        failures.update(state.failures)
    sums = {field: sum(getattr(state, field) for state in channels) for field in ("videos", "windows", "due", "done")}
    return ChannelState(
        EVERYTHING, _("All videos"), "channel", tracks=dict(track_counts), failures=dict(failures), **sums
    )


def name(state: ChannelState) -> str:
    """Return the name, marked if it is a playlist's."""
    template = _("Playlist: {name}") if state.kind == "playlist" else "{name}"
    return template.format(name=clean(state.name))


def tracks(state: ChannelState) -> str:
    """Count videos by kind of captions."""
    words = {"asr": _("automatic {n}"), "manual": _("manual {n}"), "file": _("files {n}")}
    return " · ".join(
        template.format(n=f"{state.tracks[kind]:,}") for kind, template in words.items() if kind in state.tracks
    )


def state_text(state: ChannelState, *, running: bool, now: float | None = None) -> str:
    """Return progress, failures, or the age of the list; `running`: captions are being fetched."""
    alarms = sum(count for code, count in state.failures.items() if code not in EXPECTED)
    parts = []
    if state.due:
        template = _("… fetching {done}/{all}") if running else _("… stopped at {done}/{all}")
        parts.append(template.format(done=f"{state.done:,}", all=f"{state.done + state.due:,}"))
    if alarms:
        parts.append(_("! failed {n}").format(n=f"{alarms:,}"))
    if not parts:
        parts.append(f"✓ {failure_reasons.age_text(state.listed_at, now)}" if state.listed_at else "✓")
    return " · ".join(parts)
