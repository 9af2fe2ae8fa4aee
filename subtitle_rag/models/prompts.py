"""What precedes queries and passages, as a part of an encoder's id: vectors of other prompts are others.

An id is `NAME@DIGEST`, then `?query=…&document=…` where the prompts come from outside of the model's own files, and
then the options of `retrieval.named_vectors`. Stored vectors are so asked with the prompts that they were made with.
"""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode

from subtitle_rag.i18n import N_

NO_PROMPTS = N_("no prompts are known for it")
_MARK = "?"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Put in front of every query, and of every passage."""

    query: str = ""
    document: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.document)

    @classmethod
    def of(cls, encoder_id: str) -> "Prompts | None":
        """Return the prompts that an id names; None if it leaves them to the model's files."""
        _base, mark, rest = encoder_id.partition(_MARK)
        if not mark:
            return None
        values = parse_qs(rest.partition("/")[0], keep_blank_values=True)
        return cls(values.get("query", [""])[0], values.get("document", [""])[0])

    def added_to(self, id: str) -> str:
        """Return the id with these prompts, in place of others."""
        base, values = without_prompts(id), {"query": self.query, "document": self.document}
        return f"{base}{_MARK}{urlencode(values, safe=':,')}" if self else base


def without_prompts(encoder_id: str) -> str:
    """Return the id without prompts, as people read it: `multilingual-e5-small@761b726d`."""
    base, _mark, rest = encoder_id.partition(_MARK)
    _prompts, slash, options = rest.partition("/")
    return base + slash + options
