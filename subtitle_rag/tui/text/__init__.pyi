from . import (
    answer_lines as answer_lines,
    failure_reasons as failure_reasons,
    job_lines as job_lines,
    key_help as key_help,
    library_text as library_text,
    model_lines as model_lines,
    quotes as quotes,
    search_text as search_text,
    timeline as timeline,
)
from .answer_lines import META as META
from .answer_tables import lay_out as lay_out
from .confirmations import (
    Confirmation as Confirmation,
    deletion_confirmation as deletion_confirmation,
    leave_confirmation as leave_confirmation,
    mark_confirmation as mark_confirmation,
    removal_confirmation as removal_confirmation,
)
from .content import (
    MUTED as MUTED,
    TIME_CELLS as TIME_CELLS,
    Rows as Rows,
    channel_and_date as channel_and_date,
    failure_rows as failure_rows,
    heading as heading,
    mark_label as mark_label,
    paragraphs as paragraphs,
    row as row,
    short_name as short_name,
)
from .explain import explain_rows as explain_rows
from .model_lines import IN_PROCESS as IN_PROCESS, THROUGH_OLLAMA as THROUGH_OLLAMA, install_ways as install_ways
from .overview_rows import OverviewRow as OverviewRow, channel_rows as channel_rows, video_rows as video_rows
from .search_text import describe_result as describe_result, unknown_words_line as unknown_words_line
from .stage_lines import (
    ROWS as ROWS,
    context_brief as context_brief,
    context_line as context_line,
    stage_progress_rows as stage_progress_rows,
    update_line as update_line,
    vector_brief as vector_brief,
    vector_line as vector_line,
)
from .timeline import Timeline as Timeline
from .transcript import (
    HEAD_CELLS as HEAD_CELLS,
    TranscriptLines as TranscriptLines,
    scene_lines as scene_lines,
    video_lines as video_lines,
)
