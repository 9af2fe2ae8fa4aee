"""What is heard, and why a stretch of it is a gap."""

from collections.abc import Mapping
from types import MappingProxyType

from subtitle_rag.domain.values import GapReason
from subtitle_rag.i18n import N_

GAP_SENTENCES: Mapping[GapReason, str] = MappingProxyType(
    {
        GapReason.LOOP: N_("The model repeated itself here."),
        GapReason.TOO_FEW_WORDS: N_("The model understood hardly a word here."),
        GapReason.INVENTED: N_("The model wrote here what nobody says."),
        GapReason.UNREADABLE: N_("The file is damaged here."),
    }
)
"""What is shown of a gap, as message ids."""
