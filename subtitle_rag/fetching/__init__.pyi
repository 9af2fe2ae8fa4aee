from .estimate import cut_short_text as cut_short_text, estimate_text as estimate_text, time_text as time_text
from .fetcher import (
    Fetcher as Fetcher,
    FetchRequest as FetchRequest,
    RunOptions as RunOptions,
    followed_requests as followed_requests,
)
from .lister import compile_pattern as compile_pattern
