from . import conversation as conversation, source_field as source_field
from .clean_text import clean as clean, visible as visible
from .conversation import (
    SIGNS as SIGNS,
    CitationRef as CitationRef,
    QuestionTurn as QuestionTurn,
    scene_of as scene_of,
    turn_of_answer as turn_of_answer,
)
from .export_source import (
    ExportSource as ExportSource,
    export_text as export_text,
    exported_scene as exported_scene,
    file_name as file_name,
    playable_clips as playable_clips,
    scene_markdown as scene_markdown,
    with_suffix as with_suffix,
)
from .filter_options import (
    MOST as MOST,
    FilterCatalogue as FilterCatalogue,
    FilterOption as FilterOption,
    FilterOptions as FilterOptions,
)
from .job import Job as Job
from .job_queue import (
    JobQueue as JobQueue,
    request_name as request_name,
)
from .marked_scenes import MarkedScenes as MarkedScenes
from .offers import (
    ModelDownload as ModelDownload,
    StepOffer as StepOffer,
    find_download as find_download,
    find_through_ollama as find_through_ollama,
    missing_models as missing_models,
    missing_packages as missing_packages,
    sized_download as sized_download,
)
from .query_filters import (
    Chip as Chip,
    filter_label as filter_label,
    filter_value_text as filter_value_text,
    filter_word as filter_word,
    in_video as in_video,
    query_chips as query_chips,
    transfer_filters as transfer_filters,
    with_filter as with_filter,
    without_filter as without_filter,
    without_filters as without_filters,
)
from .removal import (
    LibraryRow as LibraryRow,
    Removal as Removal,
)
from .source_field import (
    FieldCheck as FieldCheck,
    pasted_address as pasted_address,
    pasted_line as pasted_line,
    typed_url as typed_url,
)
from .spoken_lines import (
    Span as Span,
    SpokenLines as SpokenLines,
    Surroundings as Surroundings,
    VideoMoment as VideoMoment,
    find_query_words as find_query_words,
    find_spoken as find_spoken,
    line_at as line_at,
    read_gap_lines as read_gap_lines,
    read_spoken_lines as read_spoken_lines,
    read_surroundings as read_surroundings,
    scene_of_line as scene_of_line,
)
from .stage_progress import (
    ContextProgress as ContextProgress,
    ListeningProgress as ListeningProgress,
    StageName as StageName,
    StageProgress as StageProgress,
    Stages as Stages,
    StageState as StageState,
    VectorProgress as VectorProgress,
    WindowProgress as WindowProgress,
)
from .video_groups import SHOWN as SHOWN, VideoGroup as VideoGroup, group_by_video as group_by_video
