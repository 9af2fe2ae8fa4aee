from .heard import (
    GAP_SENTENCES as GAP_SENTENCES,
    GapReason as GapReason,
    HeardStretch as HeardStretch,
)
from .transcribers import (
    Transcriber as Transcriber,
    open_transcriber as open_transcriber,
    sound_length_ms as sound_length_ms,
    sound_lengths_ms as sound_lengths_ms,
)
