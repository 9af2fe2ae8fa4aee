"""Removes the watchers of closed widgets from reactive values.

Textual 8.2.8 removes them at the next change of the value (`Reactive._check_watchers`). Some values change once a day:
until then a closed screen with thousands of rows would stay in memory.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.dom import DOMNode


def forget_closed(watched: "DOMNode") -> None:
    for watchers in getattr(watched, "__watchers", {}).values():
        watchers[:] = [(node, callback) for node, callback in watchers if not node._closing]
