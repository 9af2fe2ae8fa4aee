from .answer_pane import AnswerPane as AnswerPane
from .check_list import CheckList as CheckList, ProbeEnded as ProbeEnded
from .empty_state_page import (
    EmptyStatePage as EmptyStatePage,
    ReadyQueryList as ReadyQueryList,
    StartOffers as StartOffers,
)
from .filter_bar import FilterBar as FilterBar
from .footer import CommandTexts as CommandTexts, KeyBar as KeyBar
from .grouped_scenes import GroupedSceneList as GroupedSceneList
from .library_tables import ChannelTable as ChannelTable, LibraryTables as LibraryTables, VideoTable as VideoTable
from .panel import label_panel as label_panel
from .preview import Preview as Preview
from .preview_pane import (
    WIDE as WIDE,
    PreviewPane as PreviewPane,
    PreviewPlacement as PreviewPlacement,
    choose_preview_room as choose_preview_room,
)
from .recent_answers import RecentAnswers as RecentAnswers
from .result_pane import ResultPane as ResultPane
from .row_list import Row as Row, RowList as RowList
from .row_table import RowParts as RowParts, RowTable as RowTable
from .scene_list import SceneList as SceneList
from .status_bars import (
    STAGE_BRIEFS as STAGE_BRIEFS,
    JobBar as JobBar,
    LineBar as LineBar,
    StageBar as StageBar,
    watch_stage as watch_stage,
)
from .text_field import (
    QueryBar as QueryBar,
    SourceInput as SourceInput,
    TextField as TextField,
    after_typing as after_typing,
)
from .transcript_list import TranscriptList as TranscriptList
