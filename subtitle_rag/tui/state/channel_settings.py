"""What can be set for one channel or playlist: what is fetched of it, the names in it, and who writes its contexts.

All of this asks the library, and is for workers.
"""

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.captions.addresses import parse
from subtitle_rag.contexts import glossary, model_choice
from subtitle_rag.domain import TABS
from subtitle_rag.errors import AppError, UsageError

if TYPE_CHECKING:
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.sources import FollowedSource
    from subtitle_rag.library.store import Library
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelChoices:
    """What the user can change."""

    tabs: tuple[str, ...] = ()
    """Those that are fetched, in the order of `TABS`; empty where there is no choice."""
    languages: tuple[str, ...] = ()
    """Best first; empty where nothing is fetched."""
    names: tuple[str, ...] = ()
    model: str = ""
    """Empty: the usual one."""


@dataclass(frozen=True, slots=True)
class ChannelForm:
    """What is set now, and what that goes with."""

    channel_id: str | None
    """None of a playlist, which has neither names nor a model."""
    name: str
    sources: tuple["FollowedSource", ...]
    choices: ChannelChoices
    usual: str
    """The model that writes the contexts of channels without one of their own."""
    written: dict[str, int]
    """Model → contexts that are there."""

    @property
    def has_tabs(self) -> bool:
        return bool(self.choices.tabs)


def languages_of(text: str) -> tuple[str, ...]:
    """Of a list with commas."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def read(runtime: "Runtime", channel: "ChannelState") -> ChannelForm:
    """Raises what `Library` raises."""
    library, contexts = runtime.library, runtime.library.contexts
    sources = tuple(source for source in library.sources.followed() if source.id in channel.sources)
    id = channel.channel_id
    choices = ChannelChoices(
        _tabs(sources, runtime.settings.youtube.tabs),
        sources[0].options.languages if sources else (),
        contexts.glossary(id) if id else (),
        contexts.models().get(id, "") if id else "",
    )
    written = contexts.by_model().get(id, {}) if id else {}
    return ChannelForm(id, channel.name, sources, choices, runtime.context_model, written)


def _tabs(sources: tuple["FollowedSource", ...], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Of the first source whose tabs can be chosen."""
    for source in sources:
        if _tabs_open(source):
            wanted = source.options.tabs or usual
            return tuple(tab for tab in TABS if tab in wanted)
    return ()


def _tabs_open(source: "FollowedSource") -> bool:
    """It is a channel, and its address names no tab."""
    try:
        named = parse(source.url)
    except UsageError:
        return False
    return named.kind == "channel" and not named.tabs


@dataclass(frozen=True, slots=True)
class ChannelChanges:
    """What was changed, and what stays as it is."""

    fetching: bool = False
    """Tabs or languages."""
    names: bool = False
    model: bool = False
    contexts_of_others: int = 0
    """Contexts that other models than the new one have written."""


def save(library: "Library", form: ChannelForm, chosen: ChannelChoices) -> ChannelChanges:
    """Write what has changed. Raises what `Library` raises."""
    before = form.choices
    changes = ChannelChanges(
        fetching=bool(form.sources) and (chosen.tabs, chosen.languages) != (before.tabs, before.languages),
        names=bool(form.channel_id) and chosen.names != before.names,
        model=chosen.model != before.model,
    )
    if changes.fetching:
        _follow(library, form, chosen)
    if form.channel_id and changes.names:
        library.contexts.put_glossary(form.channel_id, chosen.names)
    if form.channel_id and changes.model:
        library.contexts.put_model(form.channel_id, chosen.model)
        changes = replace(
            changes, contexts_of_others=model_choice.count_by_others(form.written, chosen.model or form.usual)
        )
    return changes


def _follow(library: "Library", form: ChannelForm, chosen: ChannelChoices) -> None:
    for source in form.sources:
        options = replace(source.options, languages=chosen.languages)
        if chosen.tabs != form.choices.tabs and _tabs_open(source):
            options = replace(options, tabs=chosen.tabs)
        if options != source.options:
            library.sources.follow(source.url, name=source.name, channel_id=source.channel_id, options=options)


def propose(runtime: "Runtime", channel_id: str) -> list[str]:
    """Likely names of the channel, by its captions. Raises what `Library` raises."""
    return glossary.proposed(runtime.library, channel_id, dictionary=runtime.analyzer)


def here(runtime: "Runtime") -> list[str]:
    """The models that Ollama has here; none where it cannot be asked."""
    found: dict[str, None] = {}
    try:
        with runtime.llms() as hosts:
            for host in hosts:
                found |= {info.name: None for info in host.models() if not info.remote_host}
    except AppError:
        logger.info("Ollama's models are not known", exc_info=True)
    return list(found)
