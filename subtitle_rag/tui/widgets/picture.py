"""The picture of the highlighted scene: an extra (`textual-image`), off by default.

On import the package asks the terminal for its abilities. The app's input would swallow the answer, so `prepare` runs
before the app starts.
"""

import asyncio
import logging
import sys
from typing import TYPE_CHECKING, Any

from textual import work
from textual.containers import Container

from subtitle_rag.domain import AppError, FetchError
from subtitle_rag.installation import PICTURES, missing_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

    from subtitle_rag.config import Settings
    from subtitle_rag.fetching import Picture
    from subtitle_rag.retrieval.search.scenes import Scene

logger = logging.getLogger(__name__)

REST_S = 0.4
"""Time a scene is highlighted before its picture is fetched."""
MOST_PIXELS = 20_000_000
"""Largest sheet; real ones have a million."""
FORMATS = ("JPEG", "WEBP", "PNG")


def prepare_pictures(settings: "Settings") -> AppError | None:
    """Get ready to draw pictures, if the settings ask for them. Returns the reason if that fails."""
    if not settings.tui.pictures:
        return None
    try:
        import textual_image.widget  # noqa: F401 - it asks the terminal on import
    except ImportError:
        logger.info("pictures cannot be drawn", exc_info=True)
        return missing_extra(PICTURES)
    return None


class ScenePicture(Container):
    """Without a picture it takes no room; while the next one comes, it keeps that of the one before."""

    def __init__(self, find: "Callable[[Scene], Picture | None] | None") -> None:
        """`find` fetches the picture of a scene, in a thread; None without pictures."""
        super().__init__(id="picture")
        self._find = find
        self._scene: Scene | None = None
        self._image: Any = None

    def on_mount(self) -> None:
        can_draw = "textual_image.widget" in sys.modules and not self.app.no_color
        if self._find and can_draw:
            from textual_image.widget import Image

            self._image = Image()
            self.mount(self._image)

    def show(self, scene: "Scene | None") -> None:
        before, self._scene = self._scene, scene
        key = (scene.video.id, scene.at_ms) if scene else None
        if self._image is None or key == ((before.video.id, before.at_ms) if before else None):
            return
        self._image.image = None
        if scene is None:
            self.remove_class("-shown")
        else:
            self._draw(scene)

    @work(group="picture", exclusive=True, exit_on_error=False)
    async def _draw(self, scene: "Scene") -> None:
        await asyncio.sleep(REST_S)
        image = None
        try:
            image = await asyncio.to_thread(self._read, scene)
        finally:  # whatever fails
            if self._scene is scene and self.is_attached:
                self._image.image = image
                self.set_class(image is not None, "-shown")

    def _read(self, scene: "Scene") -> "Image | None":
        try:
            picture = self._find(scene) if self._find else None
            return read(picture) if picture else None
        except (AppError, FetchError, OSError):  # no message: the scene is complete without it
            logger.info("no picture", exc_info=True)
            return None


def read(picture: "Picture") -> "Image | None":
    """Return the part of a sheet; None if the sheet is no readable picture.

    Raises:
        OSError: The file cannot be read.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(picture.sheet, formats=FORMATS) as sheet:
            if sheet.width * sheet.height > MOST_PIXELS:
                return None
            return sheet.crop(picture.box).convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, ValueError, SyntaxError):
        logger.info("a sheet is no picture that can be read", exc_info=True)
        return None
