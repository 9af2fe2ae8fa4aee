from . import onboarding as onboarding, picture as picture
from .answer_pane import AnswerPane as AnswerPane
from .answer_view import AnswerView as AnswerView, SourceList as SourceList
from .calm_page import CalmPage as CalmPage
from .channel_table import ChannelTable as ChannelTable
from .check_list import CheckList as CheckList, ProbeEnded as ProbeEnded
from .filter_bar import FilterBar as FilterBar
from .footer import KeyBar as KeyBar
from .late_text import LateText as LateText
from .library_tables import LibraryTables as LibraryTables
from .preview import Preview as Preview
from .progress_bars import StageRows as StageRows
from .query_bar import QueryBar as QueryBar
from .ready_queries import ReadyQueryList as ReadyQueryList
from .result_pane import ResultPane as ResultPane
from .row_list import Row as Row, RowList as RowList
from .row_table import RowTable as RowTable
from .scene_list import SceneList as SceneList
from .source_input import SourceInput as SourceInput
from .status_bars import Counter as Counter, JobBar as JobBar, RemovalBar as RemovalBar, StageBar as StageBar
from .text_field import TextField as TextField, after_typing as after_typing
from .transcript_list import TranscriptList as TranscriptList
from .video_table import VideoTable as VideoTable
