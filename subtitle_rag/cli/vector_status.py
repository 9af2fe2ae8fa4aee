"""The vectors in `status`: made, due and waiting."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import pick_json
from subtitle_rag.base.i18n import _, n_

if TYPE_CHECKING:
    from subtitle_rag.models.neural.protocols import Encoder
    from subtitle_rag.runtime import Runtime


def vector_status(runtime: "Runtime") -> tuple[dict[str, Any], list[str]]:
    """Return the searched and the missing vectors for `status --json`, and as lines."""
    encoder = None
    with suppress(AppError):  # `doctor` reports its errors
        encoder = runtime.neural.encoder() if runtime.settings.models.encoder else None
    stored = runtime.library.vectors
    active = stored.active()
    counts = stored.counts(active)
    coming = stored.counts(encoder.id) if encoder and active and encoder.id != active else None
    current = encoder.id if encoder else active
    waiting_count = _waiting_count(runtime, current) if current else 0
    pieces, lines = _pieces(runtime, encoder)
    if encoder and active and coming:
        from subtitle_rag.models.prompts import without_prompts

        sentence = _("Searched: vectors of {encoder}. Taking over: {coming}, with {made} of {windows} windows.")
        names = {"encoder": without_prompts(active), "coming": without_prompts(encoder.id)}
        lines.append(sentence.format(**names, made=f"{coming.made:,}", windows=f"{coming.windows:,}"))
    if waiting_count:
        lines.append(
            n_(
                "{n} window waits for its context before it gets vectors.",
                "{n} windows wait for their contexts before they get vectors.",
                waiting_count,
                n=f"{waiting_count:,}",
            )
        )
    values = {
        **pick_json(counts, done="made", due="due"),
        "waiting": waiting_count,
        "encoder": active,
        "coming": {"encoder": encoder.id, "done": coming.made, "due": coming.due} if encoder and coming else None,
        "pieces": pieces,
    }
    return values, lines


def _waiting_count(runtime: "Runtime", encoder: str) -> int:
    from subtitle_rag.index.encoding import waiting

    return len(waiting(runtime.library, encoder))


def _pieces(runtime: "Runtime", encoder: "Encoder | None") -> tuple[dict[str, Any] | None, list[str]]:
    """Return state and cost of the vectors of pieces for `--json`, and a line about the state."""
    if encoder is None:
        return None, []
    from subtitle_rag.base.vectors.named_vectors import piece_id
    from subtitle_rag.index.encoding import piece_cost

    cost = piece_cost(runtime.library, encoder)
    if cost is None:
        return None, []
    counts = runtime.library.vectors.counts(piece_id(encoder.id))
    sentence = _("With vectors of their pieces: {made} of {windows} windows.")
    values = {
        **pick_json(counts, done="made", due="due"),
        "per_window": round(cost.pieces, 2),
        "bytes_per_1000": cost.bytes,
        "encoding_ratio": round(cost.letters, 2),
    }
    return values, [sentence.format(made=f"{counts.made:,}", windows=f"{counts.windows:,}")]
