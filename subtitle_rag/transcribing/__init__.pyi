from .gaps import (
    duration_text as duration_text,
    estimate_lines as estimate_lines,
    gap_line as gap_line,
    pace_text as pace_text,
)
from .listener import Listener as Listener
from .listening_plan import (
    ListeningEstimate as ListeningEstimate,
    ListeningPlan as ListeningPlan,
    cancel_listening as cancel_listening,
    estimate_listening as estimate_listening,
    plan_listening as plan_listening,
    request_listening as request_listening,
    videos_to_fetch as videos_to_fetch,
)
