from .background import BackgroundController as BackgroundController, ContextPause as ContextPause
from .dialogue import Dialogue as Dialogue
from .downloads import (
    ExtractorUpdateController as ExtractorUpdateController,
    ModelDownloadController as ModelDownloadController,
)
from .jobs import JobController as JobController, sample_refusal as sample_refusal
from .library_opening import IndexRestoreController as IndexRestoreController, LibraryOpening as LibraryOpening
from .marks import MarkController as MarkController
from .playback import PlaybackController as PlaybackController
from .removals import RemovalController as RemovalController
from .terminal import TerminalController as TerminalController
