from .background import BackgroundController as BackgroundController, ContextPause as ContextPause
from .context import AppContext as AppContext
from .dialogue import Dialogue as Dialogue
from .downloads import (
    ModelDownloadController as ModelDownloadController,
)
from .jobs import JobController as JobController
from .library_opening import LibraryOpening as LibraryOpening
from .marks import MarkController as MarkController
from .other_run import OtherRunWatch as OtherRunWatch
from .playback import PlaybackController as PlaybackController
from .removals import RemovalController as RemovalController
