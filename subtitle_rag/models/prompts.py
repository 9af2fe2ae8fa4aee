"""Prompts before queries and passages, as part of an encoder's id: other prompts make other vectors.

An id is `NAME@DIGEST`, then `?query=…&document=…` unless the prompts come from the model's own files, then the options
of `base.vectors.named_vectors`. So queries get the prompts that the stored vectors were made with.
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from subtitle_rag.base.i18n import N_

NO_PROMPTS = N_("no prompts are known for it")
_MARK = "?"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Texts in front of every query and every passage."""

    query: str = ""
    document: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.document)

    @classmethod
    def of(cls, encoder_id: str) -> "Prompts | None":
        """Return the prompts in an id; None if it leaves them to the model's files."""
        _base, mark, rest = encoder_id.partition(_MARK)
        if not mark:
            return None
        values = parse_qs(rest.partition("/")[0], keep_blank_values=True)
        return cls(values.get("query", [""])[0], values.get("document", [""])[0])

    def added_to(self, id: str) -> str:
        """Return the id with these prompts in place of others."""
        base, values = without_prompts(id), {"query": self.query, "document": self.document}
        return f"{base}{_MARK}{urlencode(values, safe=':,')}" if self else base


def without_prompts(encoder_id: str) -> str:
    """Return the id without prompts, for display: `multilingual-e5-small@761b726d`."""
    base, _mark, rest = encoder_id.partition(_MARK)
    _prompts, slash, options = rest.partition("/")
    return base + slash + options
