"""Searches that one may come back to, each with the scene that was chosen and where its row stood."""

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.domain import tidy
from subtitle_rag.library import LAST_SEARCH

if TYPE_CHECKING:
    from subtitle_rag.library import Library

MOST_PLACES = 50


@dataclass(frozen=True, slots=True)
class SearchPlace:
    query: str
    scene: str = ""
    """The id of the chosen scene; empty for the first."""
    line: int = 0
    """The line of the screen's list at which its row began."""


def read_last_place(library: "Library") -> SearchPlace | None:
    """Return the search with which the app was left; None without one."""
    text = library.database.get_setting(LAST_SEARCH)
    if not text:
        return None
    values = json.loads(text)
    return SearchPlace(tidy(values["query"]), values["scene"], values["line"])


def store_last_place(library: "Library", place: SearchPlace | None) -> None:
    """Note the search with which the app is left."""
    library.database.put_setting(LAST_SEARCH, json.dumps(asdict(place), ensure_ascii=False) if place else None)


@dataclass(slots=True)
class SearchTrail:
    """The places in the order in which they were left, and the one where the user is."""

    places: list[SearchPlace] = field(default_factory=list)
    at: int = -1
    """The index of the place of the user; the last one while another query is typed."""

    def visit(self, place: SearchPlace) -> None:
        """Note a place. A query that is there already at this point keeps its index; another ends the way forth."""
        if self.places and self.places[self.at].query == place.query:
            self.places[self.at] = place
            return
        self.places = [*self.places[: self.at + 1], place][-MOST_PLACES:]
        self.at = len(self.places) - 1

    def go(self, step: int, here: SearchPlace | None) -> SearchPlace | None:
        """Return the place before (-1) or after (1) `here`; None at the end of the way. Without `here`, the last
        place comes first."""
        if here is not None:
            self.visit(here)
            step_from = self.at
        else:
            step_from = self.at + 1
        target = step_from + step
        if not 0 <= target < len(self.places):
            return None
        self.at = target
        return self.places[target]
