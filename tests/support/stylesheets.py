"""One parse of each stylesheet, shared by all apps of a test process.

Textual keeps parsed rules only for one app, but the tests start hundreds of apps with the same rules.
"""

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


def share_parsed_rules() -> None:
    """Let the stylesheets of this process share their parsed rules if their variables are equal."""
    parse = Stylesheet._parse_rules
    parsed: dict[tuple[object, ...], list[RuleSet]] = {}

    def shared(sheet: Stylesheet, *source: Any, **options: Any) -> list[RuleSet]:
        key = (frozenset(sheet._variables.items()), source, frozenset(options.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *source, **options)
        return parsed[key]

    Stylesheet._parse_rules = shared  # type: ignore[assignment, method-assign]
