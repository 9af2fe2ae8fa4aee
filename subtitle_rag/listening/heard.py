"""Transcribed stretches, and the reasons for gaps in them."""

from collections.abc import Mapping
from types import MappingProxyType

from subtitle_rag.base.domain.values import GapReason
from subtitle_rag.base.i18n import N_

GAP_SENTENCES: Mapping[GapReason, str] = MappingProxyType(
    {
        GapReason.LOOP: N_("The model repeated itself here."),
        GapReason.TOO_FEW_WORDS: N_("The model understood hardly a word here."),
        GapReason.INVENTED: N_("The model wrote here what nobody says."),
        GapReason.UNREADABLE: N_("The file is damaged here."),
    }
)
"""Message ids to show for a gap."""
