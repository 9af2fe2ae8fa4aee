"""Sentences about an answer, shared by app and commands."""

from collections.abc import Iterator

from subtitle_rag.base.domain.answer_values import Answer, Citation, Evidence, UnfoundedClaim
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import _, n_

CLAIM = 60
"""Maximum characters of a quoted claim."""


def reading_plan(evidence: Evidence) -> str:
    """Return the line shown while the model reads; the evidence has at least one scene."""
    title = evidence.sources[0].video.title
    if evidence.kind == "transcript":
        return _("Reading all captions of “{title}”: {cost}…").format(title=title, cost=cost(evidence))
    if evidence.kind == "library":
        return _("Reading all captions of {videos}: {cost}…").format(videos=video_count(evidence), cost=cost(evidence))
    if evidence.kind == "map":
        return _("Reading the contexts of all scenes of “{title}”…").format(title=title)
    count = len(evidence.sources)
    return n_("Reading {n} scene…", "Reading {n} scenes…", count)


def video_count(evidence: Evidence) -> str:
    """Return the number of videos in the evidence, in words."""
    count = len({source.video.id for source in evidence.sources})
    return n_("{n} video", "{n} videos", count)


def cost(evidence: Evidence) -> str:
    """Return the size of captions that are read whole, and the memory they need."""
    tokens = _("about {n:,} tokens").format(n=evidence.tokens)
    if not evidence.cache_bytes:
        return tokens
    return _("{tokens}, {size} of memory").format(tokens=tokens, size=byte_size(evidence.cache_bytes))


def citation_fault(text: str, citation: Citation) -> str:
    """Return the fault of an unsupported citation in the text of an answer."""
    if citation.missing:
        return _("Not in this scene: {words}.").format(words=", ".join(citation.missing))
    if citation.otherwise:
        return _("This scene says it otherwise: {words}.").format(words=", ".join(citation.otherwise))
    if citation.at_ms is None:
        return _("No scene of this number was given.")
    return _("Not in the words of this scene: {claim}").format(claim=_quoted(text, citation.claim))


def unfounded_fault(text: str, unfounded: UnfoundedClaim) -> str:
    """Return the fault of a claim without a citation in the text of an answer."""
    if unfounded.missing:
        return _("In none of the scenes: {words}.").format(words=", ".join(unfounded.missing))
    if unfounded.otherwise:
        return _("The scenes say it otherwise: {words}.").format(words=", ".join(unfounded.otherwise))
    return _("No scene says this: {claim}").format(claim=_quoted(text, unfounded.claim))


def unchecked() -> str:
    """Return the remark on a citation that cannot be compared with its scene."""
    return _("Not checked: it is in another language than the captions, or claims nothing.")


def other_language() -> str:
    """Return the remark on an answer in another language than its question."""
    return _("The answer is in another language than the question.")


def _quoted(text: str, span: tuple[int, int]) -> str:
    claim = " ".join(text[slice(*span)].replace("|", " ").split())  # the cells of a table
    return claim if len(claim) <= CLAIM else f"{claim[:CLAIM].rstrip()}…"


def answer_remarks(answer: Answer) -> Iterator[str]:
    """Yield remarks on how the answer was made."""
    yield from _ending_remark(answer)
    if answer.is_in_other_language:
        yield other_language()
    yield from _support_remarks(answer)
    yield from _deletion_remarks(answer)
    yield from _evidence_remarks(answer.evidence)
    if answer.save_error:
        yield _("The answer could not be saved: {reason}").format(reason=answer.save_error.message)


def _ending_remark(answer: Answer) -> Iterator[str]:
    if answer.ending == "no_scenes":
        yield _("No scenes found. Fewer or shorter words find more.")
    elif answer.ending == "no_model":
        yield _("There is no model to answer; these are the scenes.")
    elif answer.ending == "whole" and answer.model and not answer.text:
        yield _("No usable answer came. Ask again, or try another model.")
    elif answer.ending == "cut":
        yield _("The answer reached its maximum length and was cut off.")
    elif answer.ending == "loop":
        yield _("The model repeated itself without end: it was stopped, and the repetition was cut.")
    elif answer.ending == "stopped":
        yield _("Stopped; what had come by then stays.") if answer.text else _("Stopped.")


def _support_remarks(answer: Answer) -> Iterator[str]:
    """Yield remarks on claims that the scenes do not support."""
    if answer.ending in ("whole", "cut", "loop") and answer.citations and not answer.grounded:
        yield _("The cited scenes do not say this in such words. Look at them before you rely on it.")
    elif answer.unfounded and not answer.citations and len(answer.unfounded) == len(answer.uncited):
        yield _("No scene bears any of this out: the library may not hold the answer.")
    elif answer.uncited:
        count = len(answer.uncited)
        yield n_("{n} sentence cites no scene.", "{n} sentences cite no scene.", count)
    if answer.unsaid and not (answer.grounded or answer.declined):
        yield _("No scene says {words}: the library may not hold the answer.").format(words=", ".join(answer.unsaid))


def _deletion_remarks(answer: Answer) -> Iterator[str]:
    """Yield remarks on text removed from the model's answer."""
    if answer.dropped:
        count = len(answer.dropped)
        yield n_(
            "{n} citation of a scene that was not given was left out.",
            "{n} citations of scenes that were not given were left out.",
            count,
        )
    if answer.repeated:
        yield n_(
            "{n} sentence was left out, as it repeats another one.",
            "{n} sentences were left out, as they repeat others.",
            answer.repeated,
        )
    if answer.recited:
        yield n_(
            "{n} sentence was left out, as it is an instruction to the model.",
            "{n} sentences were left out, as they are instructions to the model.",
            answer.recited,
        )


def _evidence_remarks(evidence: Evidence) -> Iterator[str]:
    """Yield remarks on gaps in the scenes given to the model."""
    if evidence.left_out:
        yield n_(
            "{n} more scene was found; the model has no room for it.",
            "{n} more scenes were found; the model has no room for them.",
            evidence.left_out,
        )
    for name in evidence.missing_sides:
        yield _("No scene was found for one side of the comparison: {name}").format(name=name)
    if evidence.shortened:
        yield _("The video is long: what its scenes are about was shortened for the model.")
