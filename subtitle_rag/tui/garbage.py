"""Collects garbage when nobody waits for a frame.

Each search makes some 15,000 small objects that hold each other, most of them in the drawing of its scenes. Python
looks for such garbage whenever it has made 700, and through all objects in every hundredth of those: 5 to 30 ms, in the
middle of answering a key. The measure is `scripts/bench_app`, "key to repainted list": this module stays as long as its
p95 would not be below 60 ms without it.
"""

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.message_pump import MessagePump
    from textual.timer import Timer

REST_S = 2.0
"""Nothing was searched for so long: there is time to look through everything."""
UNTIL = 20_000
"""Objects; more than a search makes."""
SEARCHES = 100
"""So many without a rest between them, before Python looks through everything on its own. Each `collect` counts towards
this as one, and the tenth search would hold the event loop for 100 to 200 ms in the middle of a frame."""


class Garbage:
    def __init__(self) -> None:
        self._later: Timer | None = None

    def begin(self) -> None:
        """Before anything of the app is loaded, which is no garbage."""
        gc.set_threshold(UNTIL, gc.get_threshold()[1], SEARCHES)

    def keep(self) -> None:
        """What is there at this moment stays until the end: it is never looked through again."""
        gc.freeze()

    def collect(self, at: "MessagePump") -> None:
        """A frame was drawn, and the next key is some time away; later look through everything, by a timer of `at`."""
        gc.collect(1)
        if self._later:
            self._later.stop()
        self._later = at.set_timer(REST_S, gc.collect)
