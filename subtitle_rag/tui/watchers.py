"""Removes watchers of closed widgets from reactive values.

Textual 8.2.8 does so when the value changes next (`Reactive._check_watchers`); some change once a day, and until then a
closed screen would stay with thousands of rows.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.dom import DOMNode


def forget_closed(watched: "DOMNode") -> None:
    for watchers in getattr(watched, "__watchers", {}).values():
        watchers[:] = [(who, told) for who, told in watchers if not who._closing]
