from . import answer_lines as answer_lines, search_text as search_text
from .answer_lines import (
    META as META,
    recent_answer_row as recent_answer_row,
)
from .confirmations import (
    Confirmation as Confirmation,
    context_confirmation as context_confirmation,
    deletion_confirmation as deletion_confirmation,
    leave_confirmation as leave_confirmation,
    list_confirmation as list_confirmation,
    listening_confirmation as listening_confirmation,
    mark_confirmation as mark_confirmation,
    recents_confirmation as recents_confirmation,
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
    short_name as short_name,
    time_head as time_head,
)
from .failure_reasons import (
    age_text as age_text,
    failure_words as failure_words,
    retry_text as retry_text,
)
from .job_lines import (
    job_brief as job_brief,
    job_line as job_line,
    job_outcome as job_outcome,
    sample_refusal as sample_refusal,
)
from .key_help import key_meaning as key_meaning, key_rows as key_rows
from .library_text import (
    beginning as beginning,
    blocked as blocked,
    failed_video as failed_video,
    field_line as field_line,
    is_silent as is_silent,
    listening_state as listening_state,
    progress_briefs as progress_briefs,
    shortfalls as shortfalls,
    stage_notices as stage_notices,
)
from .model_lines import (
    IN_PROCESS as IN_PROCESS,
    THROUGH_OLLAMA as THROUGH_OLLAMA,
    InstallWay as InstallWay,
    download_brief as download_brief,
    download_line as download_line,
    download_size as download_size,
    install_ways as install_ways,
    offer_line as offer_line,
)
from .overview_rows import OverviewRow as OverviewRow, channel_rows as channel_rows, video_rows as video_rows
from .quotes import quote_answer as quote_answer, quote_scene as quote_scene
from .scene_rows import (
    header_row as header_row,
    more_row as more_row,
    scene_row as scene_row,
)
from .search_text import (
    notice_line as notice_line,
    result_note as result_note,
    result_title as result_title,
)
from .setting_rows import setting_note as setting_note, setting_row as setting_row, value_text as value_text
from .stage_lines import (
    context_brief as context_brief,
    has_news as has_news,
    listening_brief as listening_brief,
    listening_line as listening_line,
    vector_brief as vector_brief,
)
from .timeline import (
    CHAPTER as CHAPTER,
    CURRENT as CURRENT,
    FURTHER as FURTHER,
    LISTED as LISTED,
    Timeline as Timeline,
    draw_timeline as draw_timeline,
    scene_timeline as scene_timeline,
)
from .transcript import (
    HEAD_CELLS as HEAD_CELLS,
    TranscriptLines as TranscriptLines,
    scene_lines as scene_lines,
    video_lines as video_lines,
)
