"""Sentences about contexts, for commands and app."""

from subtitle_rag.base.domain.answer_values import AnswerRequest
from subtitle_rag.base.domain.progress import NOTABLE_S
from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _
from subtitle_rag.contexts.grounding import UNGROUNDED
from subtitle_rag.library.context_store import Context, ModelCost

SAME = "same"
"""Kind of doubt: the same words as another window's context, so it distinguishes neither."""
COPY = "copy"
"""Kind of doubt: only repeats captions, title or prompt."""
UNRELATED = "unrelated"
"""Kind of doubt: no word of the video, so it is about the task or something else."""
ELSEWHERE = "elsewhere"
"""Kind of doubt: far more words of another window than of its own."""
OPPOSITE = "opposite"
"""Kind of doubt: a predicate of which the captions say the opposite."""
GENERAL = "general"
"""Kind of doubt: would fit any window of the video."""


def reading_text(tokens: int, seconds: int = 0, attempt: int = 1) -> str:
    """Return what a model is reading; `seconds` is the expected time, 0 if unknown."""
    parts = [_("reading {n} tokens").format(n=f"{tokens:,}")]
    if seconds:
        parts.append(_("about {time}").format(time=clock(seconds * 1000)))
    if attempt > 1:
        parts.append(_("attempt {n}").format(n=attempt))
    return ", ".join(parts)


def reading_notes(request: AnswerRequest, elapsed_s: float) -> list[str]:
    """Return what the model has been reading for `elapsed_s`; [] if it is almost done."""
    if elapsed_s < NOTABLE_S and request.attempt == 1:
        return []
    return [reading_text(request.tokens, attempt=request.attempt), clock(round(elapsed_s * 1000))]


def model_cost(cost: ModelCost) -> str:
    """Return the cost of a model's contexts: time, tokens, and the cached part of its prompts."""
    parts = [
        _("{seconds:.1f} s a window").format(seconds=cost.seconds_a_window),
        _("{n} tokens a video").format(n=f"{cost.tokens_a_video:,}"),
    ]
    if cost.saved_share is not None:
        parts.append(_("the cache saved about {share:.0%} of the reading").format(share=cost.saved_share))
    return f"{cost.model}: {', '.join(parts)}"


def left_out_reason(context: Context) -> str:
    """Return why the search ignores an answer."""
    if not context.doubts:
        return _("it has no sentence about the scene")
    if any(kind == SAME for kind, _text in context.doubts):
        return _("it says the same as another scene's context")
    if any(kind == COPY for kind, _text in context.doubts):
        return _("it only repeats the captions, the title or the instructions")
    if any(kind == UNRELATED for kind, _text in context.doubts):
        return _("it has hardly a word of the video")
    if any(kind == ELSEWHERE for kind, _text in context.doubts):
        return _("it is about another scene of the video")
    if any(kind == GENERAL for kind, _text in context.doubts):
        return _("it says nothing that tells the scene from others")
    if words := ", ".join(dict.fromkeys(text for kind, text in context.doubts if kind == OPPOSITE)):
        return _("it says the opposite of the captions: {words}").format(words=words)
    words = ", ".join(dict.fromkeys(text for _kind, text in context.doubts))
    return _("it names what the video does not: {words}").format(words=words)


def doubt_reason(context: Context) -> str:
    """Return what is doubtful about a context in the search."""
    kinds = dict.fromkeys(kind for kind, _text in context.doubts)
    words = ", ".join(dict.fromkeys(text for kind, text in context.doubts if kind in UNGROUNDED))
    reasons = [_("it names what the video does not: {words}").format(words=words)] if words else []
    reasons += [_("it retells the captions of its window")] if "echo" in kinds else []
    reasons += [_("it is nearly the context of the window before")] if "repeat" in kinds else []
    return " · ".join(reasons)
