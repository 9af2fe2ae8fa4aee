"""Answers as text and as JSON; times in seconds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from subtitle_rag.base import output
from subtitle_rag.base.domain.answer_values import Answer, Citation, EvidenceSource
from subtitle_rag.base.domain.values import clock, differs_in_language, pick_json, place_json, to_json
from subtitle_rag.base.i18n import _
from subtitle_rag.base.terminal_text import line_text

if TYPE_CHECKING:
    from subtitle_rag.library.answers import StoredAnswer

LINE = 100
"""Characters of a scene's speech."""
UNCITED_SCENES = 12
"""Scenes listed for an answer without citations."""


def source_lines(answer: Answer) -> Iterator[str]:
    """Yield the cited scenes with the faults of their citations; if there are no citations, the first scenes."""
    from subtitle_rag.answers.wording import citation_fault, unchecked, unfounded_fault

    cited = {citation.number for citation in answer.citations}
    sources = [source for source in answer.evidence.sources if source.number in cited]
    for source in sources or answer.evidence.sources[:UNCITED_SCENES]:
        citations = [citation for citation in answer.citations if citation.number == source.number]
        best = next((citation for citation in citations if citation.status == "supported"), None)
        yield from _lines(source, best.at_ms if best and best.at_ms is not None else source.at_ms)
        for citation in (each for each in citations if each.status == "unsupported"):
            yield f"{'?':>15}  {citation_fault(answer.text, citation)}"
        if citations and all(each.status == "unchecked" for each in citations):
            yield f"{'–':>15}  {unchecked()}"
    for unfounded in answer.unfounded:
        yield f"{'?':>15}  {unfounded_fault(answer.text, unfounded)}"


def _lines(source: EvidenceSource, at_ms: int) -> Iterator[str]:
    """Yield the speech at a time, its video, and the link."""
    video, text = source.video, source.line(at_ms)
    text = text if len(text) <= LINE else f"{text[:LINE].rsplit(' ', 1)[0]} …"
    yield f"{f'[{source.number}]':>5}  {clock(at_ms):>8}  {text}"
    yield f"{'':>15}  {' · '.join(filter(None, (video.channel, video.title, str(video.published or ''))))}"
    yield f"{'':>15}  {source.video.link(at_ms) or line_text(video.source or video.id)}"


def remarks(answer: Answer) -> Iterator[str]:
    """Yield notes on how the answer was made, and a hint for a better question."""
    from subtitle_rag.answers.wording import answer_remarks

    yield from answer_remarks(answer)
    if answer.evidence.nameless:
        yield _("This seems to be about a whole video. Name it with --video to have all of it read.")


def values(answer: Answer) -> dict[str, Any]:
    """Return an answer for `--json`."""
    evidence = answer.evidence
    scenes = {source.number: source for source in evidence.sources}
    return {
        "question": answer.question,
        "answer": answer.text if answer.model else None,
        **pick_json(answer, "ending", "declined", "grounded", "model"),
        "no_model": output.error_entry(answer.error) if answer.ending == "no_model" and answer.error else None,
        "way": evidence.kind,
        "citations": [_citation_values(citation, scenes.get(citation.number)) for citation in answer.citations],
        **pick_json(answer, "uncited", other_language="is_in_other_language", unfounded="unfounded"),
        **pick_json(answer, unsaid_words="unsaid", dropped_citations="dropped"),
        **pick_json(answer, repeated_sentences="repeated", recited_sentences="recited"),
        "scenes": [_source_values(source) for source in evidence.sources],
        **pick_json(evidence, "left_out", "shortened", "nameless", "missing_sides"),
        "counts": to_json(answer.counts),
        "tokens": pick_json(answer, prompt="prompt_tokens", cached="cached_tokens", answer="tokens", window="num_ctx"),
        "took_ms": answer.took_ms,
    }


def _citation_values(citation: Citation, source: EvidenceSource | None) -> dict[str, Any]:
    at = citation.at_ms
    return {
        **pick_json(citation, "number", "status"),
        "scene": source.scene if source else None,
        "jump": {"at": at / 1000, "url": source.video.link(at)} if source and at is not None else None,
        **pick_json(citation, "span", "claim", "missing", "otherwise"),
    }


def _stored_citation_values(citation: Citation) -> dict[str, Any]:
    return pick_json(citation, "number", "status", "missing", "otherwise")


def _source_values(source: EvidenceSource) -> dict[str, Any]:
    place = place_json(source.video, source.start_ms, source.end_ms, source.at_ms)
    return {**pick_json(source, "number", "scene"), **place, **pick_json(source, "text", "context")}


def stored_lines(answer: "StoredAnswer") -> Iterator[str]:
    """Yield a stored answer as text."""
    from subtitle_rag.answers.wording import citation_fault, other_language, unchecked, unfounded_fault

    yield f"{answer.id:>4}  {output.local_time(answer.asked_at)}  {answer.question}"
    for line in answer.text.splitlines():
        yield f"      {line}"
    for source in answer.sources:
        citations = [citation for citation in answer.citations if citation.number == source.number]
        if citations:
            yield f"      [{source.number}] {source.title} {clock(source.at_ms)}"
        for citation in (each for each in citations if each.status == "unsupported"):
            yield f"      ? {citation_fault(answer.text, citation)}"
        if citations and all(each.status == "unchecked" for each in citations):
            yield f"      – {unchecked()}"
    for unfounded in answer.unfounded:
        yield f"      ? {unfounded_fault(answer.text, unfounded)}"
    if differs_in_language(answer.question, answer.text):
        yield f"      {other_language()}"


def stored_values(answer: "StoredAnswer") -> dict[str, Any]:
    """Return a stored answer for `--json`."""
    return {
        **pick_json(answer, "id", asked="asked_at", question="question", answer="text"),
        **pick_json(answer, "model", "prompt", "way", "ending"),
        "citations": [_stored_citation_values(citation) for citation in answer.citations],
        "other_language": differs_in_language(answer.question, answer.text),
        "unfounded": to_json(answer.unfounded),
        "scenes": [
            pick_json(source, "number", "scene", "video", "title", "at", text="line") for source in answer.sources
        ],
    }
