"""Settings of one channel or playlist: tabs and languages to fetch, its names, and the model of its contexts.

Everything here reads the library: for worker threads.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.captions import parse_address
from subtitle_rag.contexts import count_by_others, format_list, likely_channel_names, parse_list
from subtitle_rag.domain import TABS, AppError, UsageError
from subtitle_rag.llm import local_models

if TYPE_CHECKING:
    from subtitle_rag.library import FollowedSource, Library
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChannelChoices:
    tabs: tuple[str, ...] = ()
    """Tabs to fetch, in the order of `TABS`; empty without a choice."""
    languages: tuple[str, ...] = ()
    """Best first; empty without sources."""
    names: tuple[str, ...] = ()
    model: str = ""
    """Empty: the usual one."""

    @classmethod
    def typed(cls, tabs: Iterable[str], languages: str, names: str, model: str) -> "ChannelChoices":
        """Read the fields: languages with commas between, and one name a line."""
        parts = (part.strip() for part in languages.split(","))
        return cls(tuple(tabs), tuple(dict.fromkeys(filter(None, parts))), parse_list(names), model)

    @property
    def language_text(self) -> str:
        return ", ".join(self.languages)

    @property
    def name_text(self) -> str:
        return format_list(self.names)


@dataclass(frozen=True, slots=True)
class ChannelForm:
    """The current choices and their context."""

    channel_id: str | None
    """None for a playlist, which has neither names nor a model."""
    name: str
    sources: tuple["FollowedSource", ...]
    choices: ChannelChoices
    usual: str
    """The model of channels without one of their own."""
    counts_by_model: dict[str, int]
    """Model → number of its contexts."""

    def contexts_of_others(self, model: str) -> int:
        """Count the contexts that neither this model wrote nor, where it is empty, the usual one."""
        return count_by_others(self.counts_by_model, model or self.usual)

    @property
    def has_tabs(self) -> bool:
        return bool(self.choices.tabs)


def read_channel_form(
    runtime: "Runtime", id: str | None, name: str = "", source_ids: Collection[int] = ()
) -> ChannelForm:
    """Read the settings of a channel, or of a playlist without an id. Raises the errors of `Library`."""
    library, contexts = runtime.library, runtime.library.contexts
    sources = tuple(source for source in library.sources.followed() if source.id in source_ids)
    choices = ChannelChoices(
        _tabs(sources, runtime.settings.youtube.tabs),
        sources[0].options.languages if sources else (),
        contexts.glossary(id) if id else (),
        contexts.models().get(id, "") if id else "",
    )
    counts_by_model = contexts.by_model().get(id, {}) if id else {}
    return ChannelForm(id, name, sources, choices, runtime.context_model, counts_by_model)


def _tabs(sources: tuple["FollowedSource", ...], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tabs of the first source with a choice."""
    for source in sources:
        if _tabs_open(source):
            tabs = source.options.tabs or usual
            return tuple(tab for tab in TABS if tab in tabs)
    return ()


def _tabs_open(source: "FollowedSource") -> bool:
    """Return whether the source is a channel whose address names no tab."""
    try:
        address = parse_address(source.url)
    except UsageError:
        return False
    return address.kind == "channel" and not address.tabs


@dataclass(frozen=True, slots=True)
class ChannelChanges:
    fetching: bool = False
    """Tabs or languages."""
    names: bool = False
    model: bool = False
    contexts_of_others: int = 0
    """Contexts by models other than the new one."""


def save_channel_form(library: "Library", form: ChannelForm, choices: ChannelChoices) -> ChannelChanges:
    """Write the changes. Raises the errors of `Library`."""
    before = form.choices
    changes = ChannelChanges(
        fetching=bool(form.sources) and (choices.tabs, choices.languages) != (before.tabs, before.languages),
        names=bool(form.channel_id) and choices.names != before.names,
        model=choices.model != before.model,
    )
    for source in form.sources if changes.fetching else ():
        options = replace(source.options, languages=choices.languages)
        if choices.tabs != before.tabs and _tabs_open(source):
            options = replace(options, tabs=choices.tabs)
        if options != source.options:
            library.sources.follow(source.url, name=source.name, channel_id=source.channel_id, options=options)
    if form.channel_id and changes.names:
        library.contexts.put_glossary(form.channel_id, choices.names)
    if form.channel_id and changes.model:
        library.contexts.put_model(form.channel_id, choices.model)
        changes = replace(changes, contexts_of_others=form.contexts_of_others(choices.model))
    return changes


def propose_names(runtime: "Runtime", channel_id: str) -> list[str]:
    """Return likely names of the channel, by its captions. Raises the errors of `Library`."""
    return likely_channel_names(runtime.library, channel_id, dictionary=runtime.words)


def add_names(text: str, names: Sequence[str]) -> tuple[str, int]:
    """Return the typed list with these names, as far as they are new and there is room, and the number of new ones."""
    typed = parse_list(text)
    glossary = parse_list("\n".join((*typed, *names)))
    count = len(glossary) - len(typed)
    return (format_list(glossary), count) if count else (text, 0)


def installed_models(runtime: "Runtime") -> list[str]:
    """Return the local models of Ollama that write; none if no host answers."""
    try:
        with runtime.llms() as hosts:
            local = local_models(hosts)
            return [name for name in local.sizes if name not in local.embedders]
    except AppError:
        logger.info("Ollama's models are not known", exc_info=True)
        return []
