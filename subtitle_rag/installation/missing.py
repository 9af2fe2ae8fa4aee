"""The failure for want of an extra, with the line that installs it into this copy."""

from subtitle_rag.domain import AppError
from subtitle_rag.installation.extras import Extra


def require(extra: Extra) -> None:
    """Raise unless the extra is installed.

    Raises:
        AppError: `neural_missing`, `server_missing`, `eval_missing`, `web_missing`, `pictures_missing` or
            `mcp_missing`, with the line that installs it.
    """
    if not extra.is_installed:
        raise missing_extra(extra)


def missing_extra(extra: Extra) -> AppError:
    """Return the failure for want of an extra, with the line that installs it."""
    from subtitle_rag.installation.advice import instruction

    return AppError(extra.code, line=instruction(extra))
