"""The stage of contexts: a local model writes one for every window.

Each host takes one video at a time and its windows in order, so that all of a video's prompts share the server's cache
of the first. The thread of a host stores each context at once: a crash loses only the current one. The search index
follows, and catches up after a crash.
"""

import logging
import queue
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Protocol

from subtitle_rag.contexts.hosts import FINAL, ContextHostRun, ModelShare, summary_recipe
from subtitle_rag.contexts.planning import Planner, largest_num_ctx, prompt_sizes
from subtitle_rag.contexts.prompt_layout import ContextPrompt, ContextPrompts
from subtitle_rag.domain import AppError, ContextEvent, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.library import Context, Library, Recipe, WindowSelection, hold_lock
from subtitle_rag.llm import Llm, hosts_with
from subtitle_rag.log_file import counts_of, logged_stage

logger = logging.getLogger(__name__)

PAUSE_S = 5.0
"""First wait before a failed request is repeated; it doubles."""


class ContextIndexer(Protocol):
    """Adds contexts to an index."""

    def add_contexts(self, late: Mapping[str, Collection[str]]) -> None:
        """Add contexts (video id → window ids)."""


@dataclass(slots=True)
class Writer:
    """Writes contexts into a library; one at a time works on a library."""

    library: Library
    indexer: ContextIndexer
    hosts: Sequence[Llm]
    model: str
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by another thread, it ends a run at once."""
    _: KW_ONLY
    by_channel: bool = False
    """Channels whose model was chosen are written by that one, and all others by `model`."""
    pause: float = PAUSE_S
    answered: Callable[[Context], object] | None = None
    """Gets every answer, also one that is asked for again, from the threads of the hosts."""
    prompts: ContextPrompts = field(default_factory=ContextPrompts)
    summaries: bool = False
    """Each video is summarised after its windows, and those whose windows are done at last."""

    def run(self, selection: WindowSelection | None = None) -> Iterator[ContextEvent]:
        """Write the missing contexts. The last event is the `ContextReport`.

        Models take turns only once each, for changing one costs a server a minute.

        Raises:
            BusyError: `contexts_busy`, and those of the library and the index.
            AppError: those of `Llm.check`, if no host has any of the models.
        """
        selection = selection or WindowSelection()
        report = ContextReport()
        # a second run would ask for the same windows
        with hold_lock(self.library.path.parent, "contexts"), logged_stage(logger, "contexts") as counts:
            if late := self.library.contexts.unindexed():
                self.indexer.add_contexts(late)
            shares, refusal = self._shares(selection)
            yield self._due(shares, selection.limit)
            for event in self._write_shares(shares, selection.limit, report):
                report.count(event)
                counts.update(counts_of(report))
                yield event
            report.blocked = report.blocked or refusal
        yield report

    def _write_shares(
        self, shares: Iterable[ModelShare], limit: int | None, report: ContextReport
    ) -> Iterator[ContextEvent]:
        """Write one share after the other; set in `report` what ends it early."""
        try:
            model, num_ctx = "", 0
            for share in shares:
                run = ContextHostRun(
                    self.library,
                    share,
                    self.stop,
                    self.pause,
                    limit,
                    self.answered,
                    num_ctx=num_ctx if share.model == model else 0,
                    with_summaries=self.summaries,
                )
                yield from self._collect(run)
                limit = run.limit
                model, num_ctx = share.model, run.num_ctx
                if run.videos:
                    report.blocked = run.blocked
                    if run.blocked is None or run.blocked.code not in FINAL:  # else another model may do
                        return
        finally:
            self.stop.clear()

    def _shares(self, selection: WindowSelection) -> tuple[list[ModelShare], AppError | None]:
        """Divide the work among the models; return also why one that should write cannot.

        Contexts are queued for replacement only if their model can run.
        """
        shares: list[ModelShare] = []
        failure: AppError | None = None
        contexts = self.library.contexts
        for model, keeps, channels in self._models(selection):
            try:
                ready = hosts_with(self.hosts, model)
            except AppError as error:
                logger.warning("%s cannot write", model, exc_info=True)
                failure = failure or error
                continue
            if selection.redo:
                of_model = replace(selection, channels=tuple(channels))
                contexts.redo(of_model)
                if self.summaries:
                    self.library.summaries.redo(of_model)
            for prompt, group in self._prompt_groups(channels, selection):
                recipe = Recipe(ready[0][1].digest, prompt.version, keeps)
                of_prompt = replace(selection, channels=group)
                work = contexts.work(recipe, of_prompt)
                replaced = contexts.count_replaced(recipe, of_prompt)
                summaries: Collection[str] = ()
                if self.summaries:
                    summaries = self.library.summaries.missing(summary_recipe(recipe), of_prompt)
                    work |= dict.fromkeys([id for id in summaries if id not in work], 0)
                shares.append(ModelShare(model, ready, recipe, prompt, work, len(summaries), replaced))
        if failure and not shares:
            raise failure
        return shares, failure

    def _prompt_groups(
        self, channels: Sequence[str], selection: WindowSelection
    ) -> list[tuple[ContextPrompt, tuple[str, ...]]]:
        """Divide channels (none: all) by their prompts."""
        by_channel = bool(self.prompts.by_channel)
        groups = self.prompts.groups(channels or self._selected_channels(selection)) if by_channel else []
        return groups or [(self.prompts.usual, tuple(channels))]

    def _due(self, shares: Sequence[ModelShare], limit: int | None) -> ContextsDue:
        """Return the scope of the run, with the expected time."""
        windows = sum(sum(share.windows.values()) for share in shares)
        windows = windows if limit is None else min(windows, limit)
        ms, rest = 0.0, windows
        for share in shares:
            count = min(rest, sum(share.windows.values()))
            rest -= count
            ms += count * (self.library.contexts.mean_ms(share.recipe.digest) or 0.0)
        return ContextsDue(
            sum(len(share.windows) for share in shares),
            windows,
            self._sections_due(shares, windows),
            min(windows, sum(share.by_other_prompts for share in shares)),
            round(ms / 1000),
            sum(share.summaries for share in shares) if limit is None else 0,
        )

    def _sections_due(self, shares: Iterable[ModelShare], windows: int) -> int:
        """Count the requests for overviews before `windows` windows have their contexts."""
        sections = 0
        for share in shares:
            host, info = share.ready[0]
            # fewer characters fit by any vocabulary's ratio for Korean: these videos need no plan
            long = self.library.contexts.long_videos(largest_num_ctx(info) // 4)
            sizes = prompt_sizes(host, info) if long else None
            planner = Planner(self.library, share.recipe, share.prompt, info, sizes)
            for video_id, missing in share.windows.items():
                if windows <= 0:
                    return sections
                windows -= missing
                if video_id in long:
                    sections += planner.missing_sections(video_id)
        return sections

    def _models(self, selection: WindowSelection) -> list[tuple[str, bool, tuple[str, ...]]]:
        """List the models that write: name, whether others' contexts are kept, and the channels (none: all).

        The usual one comes first, so that it is loaded once.
        """
        by_channel = self.library.contexts.models() if self.by_channel else {}
        channel_ids = self._selected_channels(selection) if by_channel else ()
        models: list[tuple[str, bool, tuple[str, ...]]] = []
        if rest := tuple(id for id in channel_ids if id not in by_channel):
            models.append((self.model, False, rest))
        for model in sorted({by_channel[id] for id in channel_ids if id in by_channel}):
            of_model = tuple(id for id in channel_ids if by_channel.get(id) == model)
            models.append((model or self.model, True, of_model))  # the usual one, chosen again, has no name
        return models or [(self.model, False, selection.channels)]

    def _selected_channels(self, selection: WindowSelection) -> Sequence[str]:
        """List the channels for which contexts are to be written."""
        if selection.channels:
            return selection.channels
        if selection.videos:
            videos = [self.library.video(id) for id in selection.videos]
            return tuple(dict.fromkeys(video.channel_id for video in videos if video))
        return [id for id, _name in self.library.channels()]

    def _collect(self, run: ContextHostRun) -> Iterator[ContextEvent]:
        """Pass on the events of all hosts, and index each context as it comes."""
        threads = [threading.Thread(target=run.work, args=pair, daemon=True) for pair in run.share.ready]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) or not run.events.empty():
                try:
                    event = run.events.get(timeout=0.1)
                except queue.Empty:
                    continue
                if isinstance(event, BaseException):
                    raise event
                if isinstance(event, ContextWritten) and (event.text or event.left_out):
                    self.indexer.add_contexts({event.video: [event.window]})
                yield event
        finally:
            if any(thread.is_alive() for thread in threads):
                self.stop.set()
            for thread in threads:
                thread.join()
