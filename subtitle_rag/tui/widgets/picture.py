"""The picture of the chosen scene: an extra (`textual-image`), and only where the settings ask for it.

What would surprise: the package asks the terminal what it can draw when it is imported, and the app's own input would
swallow the answer, so `prepare` is called before the app starts.
"""

import asyncio
import logging
import sys
from typing import TYPE_CHECKING, Any

from textual import work
from textual.containers import Container

from subtitle_rag.errors import AppError, FetchError
from subtitle_rag.installation.extras import PICTURES
from subtitle_rag.installation.missing import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

    from subtitle_rag.config import Settings
    from subtitle_rag.fetching.pictures import Picture
    from subtitle_rag.retrieval.scenes import Scene

logger = logging.getLogger(__name__)

REST_S = 0.4
"""How long a scene is chosen before its picture is asked for."""
MOST_PIXELS = 20_000_000
"""Of a sheet; real ones have a million."""
FORMATS = ("JPEG", "WEBP", "PNG")


def prepare(settings: "Settings") -> AppError | None:
    """Get ready to draw pictures, if they are wished for; tells why they cannot be drawn."""
    if not settings.tui.pictures:
        return None
    try:
        import textual_image.widget  # noqa: F401 - for what it finds out of the terminal
    except ImportError:
        logger.info("pictures cannot be drawn", exc_info=True)
        return missing(PICTURES)
    return None


class ScenePicture(Container):
    """Keeps its room, so that nothing jumps while scenes are walked through; without pictures it is not there."""

    def __init__(self, find: "Callable[[Scene], Picture | None] | None") -> None:
        """`find` fetches the picture of a scene, in a thread; None where none are wanted."""
        super().__init__(id="picture")
        self._find = find
        self._scene: Scene | None = None
        self._image: Any = None

    def on_mount(self) -> None:
        if self._find and "textual_image.widget" in sys.modules:
            from textual_image.widget import Image

            self._image = Image()
            self.add_class("-shown")
            self.mount(self._image)

    def show(self, scene: "Scene | None") -> None:
        before, self._scene = self._scene, scene
        key = (scene.video.id, scene.at_ms) if scene else None
        if self._image is None or key == ((before.video.id, before.at_ms) if before else None):
            return
        self._image.image = None
        if scene is not None:
            self._draw(scene)

    @work(group="picture", exclusive=True, exit_on_error=False)
    async def _draw(self, scene: "Scene") -> None:
        await asyncio.sleep(REST_S)
        image = await asyncio.to_thread(self._read, scene)
        if self._scene is scene and self.is_attached:
            self._image.image = image

    def _read(self, scene: "Scene") -> "Image | None":
        try:
            picture = self._find(scene) if self._find else None
            return read(picture) if picture else None
        except (AppError, FetchError, OSError):  # nobody is bothered with the reason: the scene is all there
            logger.info("no picture", exc_info=True)
            return None


def read(picture: "Picture") -> "Image | None":
    """The part of a sheet; None where it is no picture that can be read.

    Raises:
        OSError: where the file cannot be read.
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
