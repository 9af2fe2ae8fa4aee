"""Searches that one may come back to, each with the scene that was chosen and where its row stood."""

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.domain import tidy
from subtitle_rag.library import LAST_SEARCH

if TYPE_CHECKING:
    from subtitle_rag.library import Library

MOST_POSITIONS = 50


@dataclass(frozen=True, slots=True)
class SearchPosition:
    query: str
    scene: str = ""
    """The id of the chosen scene; empty for the first."""
    line: int = 0
    """The line of the screen's list at which its row began."""


def read_last_position(library: "Library") -> SearchPosition | None:
    """Return the search with which the app was left; None without one."""
    text = library.database.get_setting(LAST_SEARCH)
    if not text:
        return None
    values = json.loads(text)
    return SearchPosition(tidy(values["query"]), values["scene"], values["line"])


def store_last_position(library: "Library", position: SearchPosition | None) -> None:
    """Note the search with which the app is left."""
    library.database.put_setting(LAST_SEARCH, json.dumps(asdict(position), ensure_ascii=False) if position else None)


@dataclass(slots=True)
class SearchTrail:
    """The places in the order in which they were left, and the one where the user is."""

    positions: list[SearchPosition] = field(default_factory=list)
    at: int = -1
    """The index of the place of the user; the last one while another query is typed."""

    def visit(self, position: SearchPosition) -> None:
        """Note a place. A query that is there already at this point keeps its index; another ends the way forth."""
        if self.positions and self.positions[self.at].query == position.query:
            self.positions[self.at] = position
            return
        self.positions = [*self.positions[: self.at + 1], position][-MOST_POSITIONS:]
        self.at = len(self.positions) - 1

    def go(self, step: int, current: SearchPosition | None) -> SearchPosition | None:
        """Return the place before (-1) or after (1) `current`; None at the end of the way. Without `current`, the last
        place comes first."""
        if current is not None:
            self.visit(current)
            step_from = self.at
        else:
            step_from = self.at + 1
        target = step_from + step
        if not 0 <= target < len(self.positions):
            return None
        self.at = target
        return self.positions[target]
