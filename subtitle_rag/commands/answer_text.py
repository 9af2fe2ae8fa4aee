"""Answers as the command line shows them, and as JSON has them; times in seconds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from subtitle_rag import output
from subtitle_rag.answers import wording
from subtitle_rag.domain import clock, watch_url
from subtitle_rag.events import Answer, Citation, EvidenceSource
from subtitle_rag.i18n import _

if TYPE_CHECKING:
    from subtitle_rag.library.answers import KeptAnswer

LINE = 100
"""Characters of what is said in a scene."""
SHOWN = 12
"""Scenes that are listed where an answer cites none."""


def source_lines(answer: Answer) -> Iterator[str]:
    """The scenes that an answer cites, with what is wrong with a citation; all of them where it cites none."""
    cited = {citation.number for citation in answer.citations}
    chosen = [source for source in answer.evidence.sources if source.number in cited]
    for source in chosen or answer.evidence.sources[:SHOWN]:
        own = [citation for citation in answer.citations if citation.number == source.number]
        best = next((citation for citation in own if citation.status == "supported"), None)
        yield from _lines(source, best.at_ms if best and best.at_ms is not None else source.at_ms)
        for citation in (each for each in own if each.status == "unsupported"):
            yield f"{'?':>15}  {wording.fault(answer, citation)}"
    unknown = _("No scene of this number was given.")
    for number in sorted({c.number for c in answer.citations if c.status == "unknown"}):
        yield f"{f'[{number}]':>5}  {'?':>8}  {unknown}"


def _lines(source: EvidenceSource, at_ms: int) -> Iterator[str]:
    """What is said at a time, where it is from, and the link."""
    video, said = source.video, source.line(at_ms)
    said = said if len(said) <= LINE else f"{said[:LINE].rsplit(' ', 1)[0]} …"
    yield f"{f'[{source.number}]':>5}  {clock(at_ms):>8}  {said}"
    yield f"{'':>15}  {' · '.join(filter(None, (video.channel, video.title, str(video.published or ''))))}"
    yield f"{'':>15}  {_link(source, at_ms) or video.source or video.id}"


def remarks(answer: Answer) -> Iterator[str]:
    """What a reader should know about how the answer came about, and how to ask better."""
    yield from wording.remarks(answer)
    if answer.evidence.nameless:
        yield _("This seems to be about a whole video. Name it with --video to have all of it read.")


def values(answer: Answer) -> dict[str, Any]:
    """An answer as `--json` tells it."""
    evidence = answer.evidence
    scenes = {source.number: source for source in evidence.sources}
    return {
        "question": answer.question,
        "answer": answer.text if answer.model else None,
        "ending": answer.ending,
        "declined": answer.declined,
        "grounded": answer.grounded,
        "model": answer.model or None,
        "no_model": output.error_entry(answer.error) if answer.ending == "no_model" and answer.error else None,
        "way": evidence.way,
        "citations": [_citation_values(citation, scenes.get(citation.number)) for citation in answer.citations],
        "uncited": [list(span) for span in answer.uncited],
        "scenes": [_source_values(source) for source in evidence.sources],
        "left_out": evidence.left_out,
        "shortened": evidence.shortened,
        "nameless": evidence.nameless,
        "tokens": {
            "prompt": answer.prompt_tokens,
            "cached": answer.cached_tokens,
            "answer": answer.tokens,
            "window": answer.num_ctx,
        },
        "took_ms": answer.took_ms,
    }


def _citation_values(citation: Citation, source: EvidenceSource | None) -> dict[str, Any]:
    at = citation.at_ms
    return {
        "number": citation.number,
        "status": citation.status,
        "scene": source.scene if source else None,
        "jump": {"at": at / 1000, "url": _link(source, at)} if source and at is not None else None,
        "span": list(citation.span),
        "claim": list(citation.claim),
        "missing": list(citation.missing),
    }


def _source_values(source: EvidenceSource) -> dict[str, Any]:
    return {
        "number": source.number,
        "scene": source.scene,
        "video": source.video.values(),
        "start": source.start_ms / 1000,
        "end": source.end_ms / 1000,
        "url": _link(source, source.start_ms),
        "jump": {"at": source.at_ms / 1000, "url": _link(source, source.at_ms)},
        "text": source.text,
        "context": source.context,
    }


def _link(source: EvidenceSource, at_ms: int) -> str | None:
    return watch_url(source.video.id, at_ms) if source.video.url else None


def kept_lines(kept: "KeptAnswer") -> Iterator[str]:
    """A kept answer as a person reads it."""
    yield f"{kept.id:>4}  {output.local_time(kept.asked_at)}  {kept.question}"
    for line in kept.text.splitlines():
        yield f"      {line}"
    for source in kept.sources:
        if any(citation.number == source.number for citation in kept.citations):
            yield f"      [{source.number}] {source.title} {clock(source.at_ms)}"


def kept_values(kept: "KeptAnswer") -> dict[str, Any]:
    """A kept answer as `--json` tells it."""
    return {
        "id": kept.id,
        "asked": output.moment(kept.asked_at),
        "question": kept.question,
        "answer": kept.text,
        "model": kept.model,
        "prompt": kept.prompt,
        "way": kept.way,
        "ending": kept.ending,
        "citations": [{"number": each.number, "status": each.status} for each in kept.citations],
        "scenes": [
            {
                "number": source.number,
                "scene": source.scene,
                "video": source.video,
                "title": source.title,
                "at": source.at_ms / 1000,
                "text": source.line,
            }
            for source in kept.sources
        ],
    }
