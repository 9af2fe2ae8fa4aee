"""The picture of a scene, from the storyboard that YouTube keeps of its video: a sheet of many, fetched once and kept.

Nothing here runs unless the user has switched pictures on: each sheet is a request to YouTube. While the queue rests
from a block nothing is asked for. Whoever has no picture shows none.
"""

import hashlib
import logging
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.captions.youtube import YouTube
from subtitle_rag.config import YoutubeSettings
from subtitle_rag.domain import Storyboard, Video
from subtitle_rag.errors import FetchError
from subtitle_rag.library.store import Library
from subtitle_rag.platforms import replace_path

logger = logging.getLogger(__name__)

MOST_BYTES = 4 * 2**20
"""Of a sheet; real ones have less than a tenth."""
KEPT = 300
"""Sheets in the cache; the one that was used the longest ago goes first."""
EXPIRED = ("not_found", "network", "rate_limited")
"""What a sheet can be refused with when its address has expired; whoever is blocked is refused its renewal too."""
BLOCKED = ("rate_limited", "bot_check")
KINDS = (b"\xff\xd8\xff", b"RIFF", b"\x89PNG")
"""How the pictures begin that are kept: JPEG, WebP, PNG."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a sheet in the cache: columns and rows are of `size`, the width and height of one picture in pixels."""

    sheet: Path
    size: tuple[int, int]
    column: int
    row: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom in pixels."""
        width, height = self.size
        left, top = self.column * width, self.row * height
        return left, top, left + width, top + height


class Pictures:
    """The pictures of one library's scenes. Any thread may ask; one asks YouTube at a time."""

    def __init__(self, library: Library, folder: Path, settings: YoutubeSettings) -> None:
        self._library = library
        self._folder = folder
        self._settings = settings
        self._turn = threading.Lock()
        self._blocked = False
        self._without: set[str] = set()
        """Videos that have none, or whose pictures could not be had; they are not asked for again."""

    def of(self, video: Video, at_ms: int) -> Picture | None:
        """The picture of a moment; None where there is none to be had.

        Raises:
            FetchError: what `YouTube` raises, once for a video.
            OSError: where the cache cannot be written.
        """
        with self._turn:
            if self._blocked or video.id in self._without or not re.fullmatch(r"[A-Za-z0-9_-]{11}", video.id):
                return None
            try:
                found = self._kept(video, at_ms) or self._fetched(video, at_ms)
            except FetchError as error:
                self._without.add(video.id)
                self._blocked = error.code in BLOCKED
                raise
            if found is None and not self._resting:
                self._without.add(video.id)
            return found

    @property
    def _resting(self) -> bool:
        return self._library.sources.rest()[0] > time.time()

    def _board(self, video: Video) -> Storyboard | None:
        board = self._library.details(video.id).storyboard
        return board if board and board.sheets else None

    def _kept(self, video: Video, at_ms: int) -> Picture | None:
        board = self._board(video)
        if board is None:
            return None
        sheet, column, row = board.place(at_ms)
        path = self._path(video, board, sheet)
        if not path.exists():
            return None
        path.touch()
        return Picture(path, (board.width, board.height), column, row)

    def _path(self, video: Video, board: Storyboard, sheet: int) -> Path:
        """Whatever the address becomes when it is renewed, the same sheet has the same name."""
        shape = f"{board.width} {board.height} {board.rows} {board.columns} {board.interval_ms} {sheet}"
        return self._folder / f"{video.id}-{hashlib.sha256(shape.encode()).hexdigest()[:16]}"

    def _fetched(self, video: Video, at_ms: int) -> Picture | None:
        board = self._board(video)
        if board is None or self._resting:
            return None
        with YouTube(self._settings) as youtube:
            try:
                return self._store(youtube, video, board, at_ms)
            except FetchError as error:
                if error.code not in EXPIRED:
                    raise
                logger.info("the storyboard's address has expired", exc_info=True)
            details = youtube.video(video.id, video.title).details
            self._library.put_details(video.id, details)
            if details.storyboard is None or not details.storyboard.sheets:
                return None
            return self._store(youtube, video, details.storyboard, at_ms)

    def _store(self, youtube: YouTube, video: Video, board: Storyboard, at_ms: int) -> Picture | None:
        sheet, _column, _row = board.place(at_ms)
        raw = youtube.sheet(board.sheets[sheet], video.title)
        if len(raw) > MOST_BYTES or not raw.startswith(KINDS):
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(video, board, sheet)
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(raw)
        replace_path(unfinished, path)
        self._forget_oldest()
        return self._kept(video, at_ms)

    def _forget_oldest(self) -> None:
        sheets = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in sheets[KEPT:]:
            path.unlink(missing_ok=True)
