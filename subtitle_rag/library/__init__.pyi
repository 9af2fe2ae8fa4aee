from . import app_state as app_state
from .answers import StoredAnswer as StoredAnswer
from .app_state import (
    EMBEDDED as EMBEDDED,
    LAST_LOOK as LAST_LOOK,
    MODEL_OFFER as MODEL_OFFER,
    PLAYER as PLAYER,
    THEME as THEME,
    FoundScene as FoundScene,
    LastSync as LastSync,
    RemovalNote as RemovalNote,
    fetched_alternatives as fetched_alternatives,
    forget_searches as forget_searches,
    found_scenes as found_scenes,
    index_address as index_address,
    last_place as last_place,
    last_sync as last_sync,
    library_id as library_id,
    listening_rate as listening_rate,
    new_videos as new_videos,
    note_search as note_search,
    put_fetched_alternative as put_fetched_alternative,
    put_found_scenes as put_found_scenes,
    put_index_address as put_index_address,
    put_last_place as put_last_place,
    put_last_sync as put_last_sync,
    put_listening_rate as put_listening_rate,
    put_run_progress as put_run_progress,
    put_unfinished_removals as put_unfinished_removals,
    recent_searches as recent_searches,
    run_progress as run_progress,
    theme_at as theme_at,
    unfinished_removals as unfinished_removals,
)
from .backup import back_up as back_up, backups as backups, quick_check as quick_check
from .connection import (
    backup_folder as backup_folder,
    hold_lock as hold_lock,
    is_locked_elsewhere as is_locked_elsewhere,
    scarcity_error as scarcity_error,
    translate_sqlite_errors as translate_sqlite_errors,
    unwritable as unwritable,
)
from .context_store import (
    GIVEN as GIVEN,
    TRIES as TRIES,
    Context as Context,
    ContextCounts as ContextCounts,
    Contexts as Contexts,
    ModelCost as ModelCost,
    OverviewSection as OverviewSection,
    Recipe as Recipe,
    WindowSelection as WindowSelection,
)
from .listening_store import DueListening as DueListening
from .mark_store import Mark as Mark, MarkStore as MarkStore
from .names import (
    VideoFacets as VideoFacets,
    channel_names as channel_names,
    context_models as context_models,
    undated_videos as undated_videos,
    video_facets as video_facets,
    video_names as video_names,
    videos_of_kinds as videos_of_kinds,
)
from .overview import (
    ChannelState as ChannelState,
    channel_states as channel_states,
    window_counts as window_counts,
)
from .portable_names import (
    all_windows as all_windows,
    file_counts as file_counts,
    portable_name as portable_name,
    windows_by_name as windows_by_name,
)
from .recovery import Recovery as Recovery, repair as repair
from .resolve import (
    NameMatches as NameMatches,
    channel_ids as channel_ids,
    match_channels as match_channels,
    match_videos as match_videos,
    named_channel as named_channel,
    named_sources as named_sources,
    named_video as named_video,
    resolve_name as resolve_name,
    several_named as several_named,
    video_ids as video_ids,
)
from .rows import Counts as Counts, VideoState as VideoState
from .said_words import PlaceCount as PlaceCount, count_places as count_places
from .schema import SCHEMA_VERSION as SCHEMA_VERSION
from .sources import FollowedSource as FollowedSource, SourceOptions as SourceOptions, Stage as Stage
from .store import ALL as ALL, Library as Library
from .summary_store import SummaryCounts as SummaryCounts, VideoSummary as VideoSummary
from .vector_store import (
    OF_PIECES as OF_PIECES,
    DueWindow as DueWindow,
    StoredVector as StoredVector,
    VectorCounts as VectorCounts,
)
