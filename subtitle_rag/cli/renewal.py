"""Unfinished work of earlier runs and versions, completed by the verbs that need the index."""

import logging
from typing import TYPE_CHECKING

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.progress import Meter
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


def renew_index(runtime: "Runtime", *, is_search: bool = False) -> None:
    """Rebuild an index of an earlier version, and say how long it takes; otherwise do nothing.

    A search does not wait for a large index, or for one that cannot be rebuilt now: the old one is still searchable.
    """
    from subtitle_rag.runtime import SMALL_INDEX

    if not runtime.has_outdated_index:
        return
    windows = runtime.library.counts().windows
    if is_search and windows > SMALL_INDEX:
        output.say(
            _("After the update some scenes may be missing: the next sync or index makes the search index again.")
        )
        return
    sentence = n_(
        "After the update the search index is made again, once: {n} window.",
        "After the update the search index is made again, once: {n} windows.",
        windows,
    )
    output.say(sentence)
    try:
        meter = Meter("windows", windows)
        with progress_bar() as show:
            for event in runtime.renew_index():
                show(meter.advance(event.count))
    except BusyError as error:
        logger.info("the index of an earlier version stays for now", exc_info=True)
        output.say(error.message)


def finish_windows(runtime: "Runtime") -> None:
    """Make the windows left by a killed run searchable, and say how many."""
    from subtitle_rag.workflows import pipeline

    counts = runtime.library.counts()
    if counts.searchable == counts.windows:
        return
    try:
        made = sum(event.count for event in pipeline.finish_windows(runtime))
    except BusyError as error:
        logger.info("windows stay without their points for now", exc_info=True)
        output.say(error.message)
        return
    output.say(n_("{n} window became searchable.", "{n} windows became searchable.", made))
