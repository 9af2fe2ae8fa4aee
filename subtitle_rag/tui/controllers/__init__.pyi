from .background import BackgroundController as BackgroundController, ContextPause as ContextPause
from .dialogue import Dialogue as Dialogue
from .extractor_updates import ExtractorUpdateController as ExtractorUpdateController
from .jobs import JobController as JobController, sample_refusal as sample_refusal
from .library_opening import IndexRestoreController as IndexRestoreController, LibraryOpening as LibraryOpening
from .marks import MarkController as MarkController
from .model_download import ModelDownloadController as ModelDownloadController
from .playback import PlaybackController as PlaybackController
from .removals import RemovalController as RemovalController
from .terminal import TerminalController as TerminalController
