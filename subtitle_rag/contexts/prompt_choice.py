"""The prompts of contexts that the settings name: one for the library, and others for channels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.config import Settings
from subtitle_rag.config_file import Mistake
from subtitle_rag.contexts.prompt_layout import BUILT_IN, ContextPrompt, check
from subtitle_rag.domain import nfc


@dataclass(frozen=True, slots=True)
class ContextPrompts:
    """The prompt of each channel."""

    usual: ContextPrompt = BUILT_IN
    by_channel: Mapping[str, ContextPrompt] = field(default_factory=dict)
    """Channel id → prompt."""

    @classmethod
    def read(cls, settings: Settings, channels: Sequence[tuple[str, str]]) -> "ContextPrompts":
        """Read all prompt files; `channels` are the library's, by id and name.

        Raises:
            UsageError: `bad_prompt`.
        """
        names = settings.prompts
        usual = ContextPrompt.read(prompt_path(settings, names.contexts)) if names.contexts else BUILT_IN
        by_channel: dict[str, ContextPrompt] = {}
        for name, file in names.channels.items():
            prompt = ContextPrompt.read(prompt_path(settings, file))
            by_channel |= {channel[0]: prompt for channel in channels if is_named(channel, name)}
        return cls(usual, by_channel)

    def of(self, channel_id: str) -> ContextPrompt:
        """Return the prompt of a channel."""
        return self.by_channel.get(channel_id, self.usual)

    def groups(self, channels: Iterable[str]) -> list[tuple[ContextPrompt, tuple[str, ...]]]:
        """Return the channels by their prompts, in the given order."""
        groups: dict[str, tuple[ContextPrompt, list[str]]] = {}
        for id in channels:
            prompt = self.of(id)
            groups.setdefault(prompt.version, (prompt, []))[1].append(id)
        return [(prompt, tuple(ids)) for prompt, ids in groups.values()]


def is_named(channel: tuple[str, str], name: str) -> bool:
    """Return whether a name in the settings is a channel's id or name."""
    key = nfc(name).casefold()
    return key in (part.casefold() for part in channel)


def prompt_path(settings: Settings, name: str) -> Path:
    """Return the path of a prompt file; a relative one is beside the config file.

    A path with `~` of an unknown user stays as it is: no file is there, which is a mistake among the others.
    """
    try:
        path = Path(name).expanduser()
    except RuntimeError:
        path = Path(name)
    return settings.paths.config.parent / path


def mistakes(settings: Settings) -> list[Mistake]:
    """Return all mistakes of the prompt files of contexts."""
    names = settings.prompts
    files = {f"prompts.channels.{name}": file for name, file in names.channels.items()}
    if names.contexts:
        files = {"prompts.contexts": names.contexts, **files}
    return [mistake for key, file in files.items() for mistake in check(prompt_path(settings, file), key).mistakes]
