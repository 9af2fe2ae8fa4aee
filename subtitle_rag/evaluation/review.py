"""Keep, edit or drop made questions. Each decision is on the disk before the next question is shown."""

from collections import Counter
from pathlib import Path

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation import generate_questions, question_filters
from subtitle_rag.evaluation.json_lines import Entry, Records

OPEN = "open"
DROPPED = "dropped"


class Review:
    """The questions of one file, and the decisions on them."""

    def __init__(self, path: Path) -> None:
        """Read the file; raises UsageError `no_questions`, `unreadable`, `not_own_file`."""
        records = generate_questions.read(path)
        if records is None:
            raise UsageError("no_questions", path=str(path))
        self._records: Records = records

    @property
    def open(self) -> list[Entry]:
        """The questions without a decision."""
        questions = (entry for entry in self._records.entries if {"id", "query"} <= entry.keys())
        return [entry for entry in questions if entry.get("review") == OPEN and "refused" not in entry]

    def counts(self) -> dict[str, int]:
        """Return how many questions are open, kept, edited and dropped."""
        counts = Counter(dict.fromkeys((OPEN, "kept", "edited", DROPPED), 0))
        for entry in self._records.entries:
            if "refused" not in entry:
                counts[str(entry.get("review"))] += 1
            elif entry["refused"] == DROPPED:
                counts[DROPPED] += 1
        return dict(counts)

    def keep(self, id: str) -> None:
        self._put(id, {"review": "kept"})

    def edit(self, id: str, query: str) -> None:
        """Put another question in place of the model's, which stays beside it.

        Raises:
            UsageError: `not_plain` if the search would read a part of it as a filter, a phrase or an exclusion.
        """
        if not question_filters.is_plain(query):
            raise UsageError("not_plain", query=query)
        before = next(entry for entry in self._records.entries if entry.get("id") == id)
        self._put(id, {"review": "edited", "query": query, "made_query": before.get("made_query", before["query"])})

    def drop(self, id: str) -> None:
        """Drop a question; `eval make` makes another one of other windows."""
        self._put(id, {"refused": DROPPED})

    def _put(self, id: str, changes: Entry) -> None:
        self._records.replace(
            {**entry, **changes} if entry.get("id") == id else entry for entry in self._records.entries
        )
