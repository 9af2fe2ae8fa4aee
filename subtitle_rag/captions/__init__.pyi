from . import files as files, refusals as refusals
from .address_lists import (
    AddressList as AddressList,
    is_address_list as is_address_list,
    parse_address_list as parse_address_list,
    read_address_list as read_address_list,
)
from .addresses import (
    SITE as SITE,
    Source as Source,
    addresses_in as addresses_in,
    find_addresses as find_addresses,
    is_video_id as is_video_id,
    parse_address as parse_address,
    video_url as video_url,
)
from .caption_text import plain_text as plain_text
from .file_names import MEDIA_SUFFIXES as MEDIA_SUFFIXES, SOUND as SOUND
from .films import find_media as find_media, printable_path as printable_path
from .formats import FORMATS as FORMATS, caption_suffixes as caption_suffixes, suffix_list as suffix_list
from .heard_tracks import heard_track as heard_track, join_gaps as join_gaps, read_gaps as read_gaps
from .parse import parse_captions as parse_captions
from .session import (
    Session as Session,
    javascript_runtimes as javascript_runtimes,
)
from .sounds import fetch_sound as fetch_sound, sound_url as sound_url
from .speech import selection_notes as selection_notes
from .track_selection import TrackSelecting as TrackSelecting
from .typed_sources import TypedSources as TypedSources, read_typed as read_typed
from .windows import (
    OVERLAP_MS as OVERLAP_MS,
    RULE as RULE,
    cut_windows as cut_windows,
    divide_cues as divide_cues,
    window_id as window_id,
)
from .youtube import (
    CLIENTS as CLIENTS,
    UNKNOWN_CHANNEL as UNKNOWN_CHANNEL,
    UNKNOWN_NAME as UNKNOWN_NAME,
    Entry as Entry,
    Listing as Listing,
    Page as Page,
    YouTube as YouTube,
)
