"""Removal of videos, channels and playlists: names or rows → targets → plan → removal.

A removal is recorded in the library, and its sources are unfollowed, before its first video is deleted. So after a kill
no source brings new videos, and the same request finishes the removal.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.captions.addresses import addresses_in
from subtitle_rag.library.app_state import RemovalNote, put_unfinished_removals, unfinished_removals
from subtitle_rag.library.overview import window_counts
from subtitle_rag.library.resolve import NameMatches, resolve_name, several_named, unknown_video
from subtitle_rag.library.store import Library

if TYPE_CHECKING:
    from subtitle_rag.index.indexing import Indexer


@dataclass(frozen=True, slots=True)
class RemovalTarget:
    """A video, or a channel or playlist with its videos."""

    name: str
    video: str = ""
    channel_id: str | None = None
    sources: tuple[int, ...] = ()
    """Ids of its followed sources."""


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """Videos and sources to remove."""

    names: tuple[str, ...]
    """As the user gave them."""
    labels: tuple[str, ...]
    """Titles and full names of the targets."""
    titles: dict[str, str]
    """Video id → title, with videos that the same removal deleted before a kill."""
    sources: dict[int, str]
    """Source id → address."""
    unfollowed: frozenset[str]
    """Addresses that the same removal unfollowed before a kill."""

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses that are no longer followed afterwards."""
        return tuple(sorted({*self.sources.values(), *self.unfollowed}))

    def sentence(self, library: Library) -> str:
        """Return the removal in numbers: “3 videos, 41 windows, 2 marks will be removed.”"""
        windows, contexts = window_counts(library, self.titles)
        marks = len(library.marks.of_videos(self.titles))
        return removal_sentence(
            n_("{n} video", "{n} videos", len(self.titles), n=f"{len(self.titles):,}"),
            *([n_("{n} window", "{n} windows", windows, n=f"{windows:,}")] if windows else []),
            *([n_("{n} context", "{n} contexts", contexts, n=f"{contexts:,}")] if contexts else []),
            *([n_("{n} mark", "{n} marks", marks, n=f"{marks:,}")] if marks else []),
        )


def removal_sentence(*counts: str) -> str:
    """Return the question's sentence about the removal."""
    return _("{things} will be removed.").format(things=", ".join(counts))


def mark_removal_sentence(marks: int, notes: int) -> str:
    """Return in numbers the marks to remove, and their notes."""
    counts = [n_("{n} mark", "{n} marks", marks)]
    return removal_sentence(*counts, *([n_("{n} note", "{n} notes", notes)] if notes else []))


def plan_named_removal(library: Library, names: Iterable[str]) -> RemovalPlan:
    """Plan the removal of named targets, and of the rest of a killed removal of the same names.

    Raises:
        UsageError: `unknown`; `several_named` for a part of more than one name.
    """
    names = [tidy(name) for name in names]
    notes = unfinished_removals(library)
    targets: list[RemovalTarget] = []
    titles: dict[str, str] = {}
    urls: set[str] = set()
    for name in names:
        of_name = [note for note in notes if name in note.names]
        for note in of_name:
            titles |= note.titles
            urls.update(note.urls)
        title = next((note.titles[name] for note in notes if name in note.titles), None)
        if title is not None:
            titles[name] = title
        is_noted = bool(of_name) or title is not None
        matches = resolve_name(library, name, addresses_in(name))
        if is_noted and not matches.is_exact:
            continue  # its own videos are deleted, and a similar name belongs to others
        if not matches and not is_noted:
            raise unknown_video(name)
        targets += _named_targets(library, name, matches)
    return _plan(library, names, targets, titles, frozenset(urls))


def plan_removal(library: Library, target: RemovalTarget) -> RemovalPlan:
    """Plan the removal of a library row in its current state: a job may have added videos."""
    return _plan(library, [target.name], [target], {}, frozenset())


def remove(library: Library, indexer: "Indexer", plan: RemovalPlan) -> None:
    """Carry out a plan.

    Records and removes nothing while another process holds the library. Raises the errors of `Indexer.remove`.
    """

    def begin() -> None:
        note = RemovalNote(plan.names, plan.titles, plan.urls)
        put_unfinished_removals(library, [*_others(unfinished_removals(library), plan), note])
        library.sources.unfollow(plan.sources)

    indexer.remove(sorted(plan.titles), begin)
    put_unfinished_removals(library, _others(unfinished_removals(library), plan))


def _others(notes: Iterable[RemovalNote], plan: RemovalPlan) -> list[RemovalNote]:
    """Return the notes of other removals, without the videos and sources of this plan."""
    remaining = [
        RemovalNote(
            note.names,
            {id: title for id, title in note.titles.items() if id not in plan.titles},
            [url for url in note.urls if url not in plan.urls],
        )
        for note in notes
    ]
    return [note for note in remaining if note.titles or note.urls]


def _named_targets(library: Library, name: str, matches: NameMatches) -> list[RemovalTarget]:
    """Return the targets of a name; raises UsageError `several_named` for a part of more than one name."""
    titles = library.videos_by_id(*matches.videos)
    targets = [RemovalTarget(titles[id].title, video=id) for id in matches.videos]
    names = dict(library.channels())
    followed = library.sources.followed()
    leaving = {source.id for source in matches.sources}
    # A channel stays whole while another of its tabs is followed.
    followed_channels = {source.channel_id for source in followed if source.id not in leaving}
    listed = {source.channel_id for source in matches.sources if source.channel_id}
    channels = dict.fromkeys([*matches.channels, *sorted(listed - followed_channels)])
    for id in channels:
        sources = tuple(source.id for source in matches.sources if source.channel_id == id)
        name_of_source = next((source.name for source in matches.sources if source.channel_id == id), "")
        targets.append(RemovalTarget(names.get(id) or name_of_source, "", id, sources))
    targets += [
        RemovalTarget(source.name, sources=(source.id,))
        for source in matches.sources
        if source.channel_id not in channels
    ]
    if len(targets) > 1 and not matches.is_exact:
        raise several_named(name, [target.name for target in targets])
    return targets


def _plan(
    library: Library,
    names: Sequence[str],
    targets: Collection[RemovalTarget],
    titles: dict[str, str],
    unfollowed: frozenset[str],
) -> RemovalPlan:
    """Return the plan of these targets, with the videos and addresses of a killed removal.

    Args:
        library: The library.
        names: As the user gave them.
        targets: Videos, channels and playlists.
        titles: Videos already deleted, id → title.
        unfollowed: Addresses already unfollowed.

    Returns:
        The plan.
    """
    ids = {id for target in targets for id in target.sources}
    followed = library.sources.followed()
    sources = {source.id: source.url for source in followed if source.id in ids or source.url in unfollowed}
    channels = {target.channel_id for target in targets if target.channel_id}
    videos = {target.video for target in targets if target.video} | set(library.sources.only_of(sources))
    titles = titles | {
        state.video.id: state.video.title
        for state in library.videos()
        if state.video.id in videos or state.video.channel_id in channels
    }
    return RemovalPlan(tuple(names), tuple(target.name for target in targets), titles, sources, unfollowed)
