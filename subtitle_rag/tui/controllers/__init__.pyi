from .background import BackgroundController as BackgroundController
from .context_pause import ContextPause as ContextPause
from .dialogue import Dialogue as Dialogue
from .extractor_updates import ExtractorUpdateController as ExtractorUpdateController
from .index_restore import IndexRestoreController as IndexRestoreController
from .jobs import JobController as JobController, sample_refusal as sample_refusal
from .library_opening import LibraryOpening as LibraryOpening
from .marks import MarkController as MarkController
from .model_download import ModelDownloadController as ModelDownloadController
from .playback import PlaybackController as PlaybackController
from .removals import RemovalController as RemovalController
from .terminal import TerminalController as TerminalController
