from .clip_files import (
    CLIP_SUFFIXES as CLIP_SUFFIXES,
    ClipFile as ClipFile,
    ClipMaker as ClipMaker,
    ClipOptions as ClipOptions,
    clip_of as clip_of,
    padded_span as padded_span,
)
from .exported_scene import ExportedScene as ExportedScene
from .formats import (
    ExportFormat as ExportFormat,
    ExportText as ExportText,
    format_of_file as format_of_file,
    is_binary as is_binary,
    render_export as render_export,
    write_export as write_export,
)
from .markdown import standalone_markdown as standalone_markdown
from .player_clips import make_clips as make_clips
from .scene_reader import (
    marked_spans as marked_spans,
    read_scenes as read_scenes,
    scene_span as scene_span,
    span_at as span_at,
)
