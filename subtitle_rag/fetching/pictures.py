"""Pictures of scenes from YouTube's storyboards: sheets of many pictures, each fetched once into a cache.

It runs only after the user has switched pictures on, since each sheet is a request to YouTube. During a rest of the
queue it sends none.
"""

import hashlib
import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.atomic_files import private_folder, replace_content
from subtitle_rag.captions import YouTube, is_video_id
from subtitle_rag.config import YoutubeSettings
from subtitle_rag.domain import FetchError, Storyboard, Video
from subtitle_rag.library import Library

logger = logging.getLogger(__name__)

MAX_SHEET_BYTES = 4 * 2**20
"""Maximum size of a sheet; real ones have less than a tenth."""
MAX_SHEETS = 300
"""Sheets in the cache, evicted by least recent use."""
EXPIRED = ("not_found", "network", "rate_limited")
"""Codes of the refusal of an expired address. After a block its renewal is refused too."""
BLOCKED = ("rate_limited", "bot_check")
MAGIC_BYTES = (b"\xff\xd8\xff", b"RIFF", b"\x89PNG")
"""First bytes of the accepted pictures: JPEG, WebP, PNG."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of a cached sheet. `size` is the width and height of one picture in pixels."""

    sheet: Path
    size: tuple[int, int]
    column: int
    row: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom in pixels."""
        width, height = self.size
        x, y = self.column * width, self.row * height
        return x, y, x + width, y + height


@dataclass(eq=False)
class Pictures:
    """The pictures of one library's scenes, for any thread. One request to YouTube runs at a time."""

    library: Library
    folder: Path
    settings: YoutubeSettings
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _blocked: bool = False
    _without: set[str] = field(default_factory=set)
    """Videos without pictures, or with a failed request. They are not requested again."""

    def of(self, video: Video, at_ms: int) -> Picture | None:
        """Return the picture of a moment, or None.

        Raises:
            FetchError: of `YouTube`, once per video.
            OSError: The cache is not writable.
        """
        with self._turn:
            if self._blocked or video.id in self._without or not is_video_id(video.id):
                return None
            try:
                picture = self._cached(video, at_ms) or self._fetch(video, at_ms)
            except FetchError as error:
                self._without.add(video.id)
                self._blocked = error.code in BLOCKED
                raise
            if picture is None and not self._resting:
                self._without.add(video.id)
            return picture

    @property
    def _resting(self) -> bool:
        return self.library.sources.current_rest(self.settings.rest)[0] > 0

    def _board(self, video: Video) -> Storyboard | None:
        board = self.library.details(video.id).storyboard
        return board if board and board.sheets else None

    def _cached(self, video: Video, at_ms: int) -> Picture | None:
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
        """Return the path of a sheet, which is independent of its address."""
        shape = f"{board.width} {board.height} {board.rows} {board.columns} {board.interval_ms} {sheet}"
        return self.folder / f"{video.id}-{hashlib.sha256(shape.encode()).hexdigest()[:16]}"

    def _fetch(self, video: Video, at_ms: int) -> Picture | None:
        board = self._board(video)
        if board is None or self._resting:
            return None
        with YouTube(self.settings) as youtube:
            try:
                return self._store(youtube, video, board, at_ms)
            except FetchError as error:
                if error.code not in EXPIRED:
                    raise
                logger.info("the storyboard's address has expired", exc_info=True)
            self.library.put_details(video.id, next(youtube.pages(video.id, video.title)).details)
            board = self._board(video)
            return self._store(youtube, video, board, at_ms) if board else None

    def _store(self, youtube: YouTube, video: Video, board: Storyboard, at_ms: int) -> Picture | None:
        sheet, _column, _row = board.place(at_ms)
        raw = youtube.sheet(board.sheets[sheet], video.title)
        if len(raw) > MAX_SHEET_BYTES or not raw.startswith(MAGIC_BYTES):
            return None
        private_folder(self.folder)
        replace_content(self._path(video, board, sheet), raw)
        sheets = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in sheets[MAX_SHEETS:]:
            path.unlink(missing_ok=True)
        return self._cached(video, at_ms)
