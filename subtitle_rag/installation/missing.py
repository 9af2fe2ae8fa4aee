"""The refusal to go on without an extra, with the line that installs it into this copy."""

from subtitle_rag.errors import AppError
from subtitle_rag.installation.advice import instruction
from subtitle_rag.installation.extras import Extra


def require(extra: Extra) -> None:
    """Refuse to go on without an extra.

    Raises:
        AppError: `neural_missing`, `server_missing`, `eval_missing`, `web_missing`, `pictures_missing` or
            `mcp_missing`, with what the user types to install it.
    """
    if not extra.is_installed:
        raise missing(extra)


def missing(extra: Extra) -> AppError:
    """The failure that tells how an extra that is not here is installed."""
    return AppError(extra.code, line=instruction(extra))
