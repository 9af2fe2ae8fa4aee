"""What completes arguments and options in a shell: names in the library, in the settings and in the program.

Each is cheap and silent: nothing is opened for writing or made, and what cannot be read completes nothing.
"""

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click
    from click.shell_completion import CompletionItem

    from subtitle_rag.config import Settings

    Items = list[CompletionItem[str]]


def channels(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """The channels of the library."""
    from subtitle_rag.library.peeking import channel_names

    return _items(channel_names(_settings(ctx).paths.library), incomplete)


def videos(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Ids of videos and, once something is typed, titles."""
    from subtitle_rag.library.peeking import video_names

    known = video_names(_settings(ctx).paths.library)
    titles = [(title, id) for id, title in known] if incomplete else []
    return _items([*known, *titles], incomplete)


def channels_and_videos(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
    return [*channels(ctx, param, incomplete), *videos(ctx, param, incomplete)]


def context_models(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Models of Ollama: those that are offered, named in the config, or have written contexts. Nobody is asked."""
    from subtitle_rag import models
    from subtitle_rag.library import peeking

    settings = _settings(ctx)
    written = [name for name, _about in peeking.context_models(settings.paths.library)]
    names = [settings.llm.model, *settings.llm.cloud, *written, *(one.name for one in models.offered())]
    return _items([(name, "") for name in names], incomplete)


def neural_models(_ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Encoders and rerankers that are offered."""
    from subtitle_rag import models

    return _items([(one.name, one.kind) for one in (*models.encoders(), *models.rerankers())], incomplete)


def all_models(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
    return [*neural_models(ctx, param, incomplete), *context_models(ctx, param, incomplete)]


def players(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """The built-in players, and those of the config."""
    from subtitle_rag import player

    return _items([(name, "") for name in player.names(_settings(ctx).players)], incomplete)


def config_keys(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Tables and settings of the config."""
    from subtitle_rag import config
    from subtitle_rag.configuring.origins import in_force

    own = ctx.find_root().params
    names = [each.key for each in in_force(config.read(own.get("home"), own.get("language")))]
    tables = dict.fromkeys(name.partition(".")[0] for name in names)
    return _items([(name, "") for name in (*tables, *names)], incomplete)


def key_ids(_ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Ids of the app's keys."""
    from subtitle_rag.tui import keymap
    from subtitle_rag.tui.text import key_help

    return _items([(id, key_help.meaning(id)) for id in keymap.declared()], incomplete)


def topics(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Topics of the help, and commands."""
    import click

    from subtitle_rag.i18n import _
    from subtitle_rag.manual.topics import TOPICS

    root = ctx.find_root().command
    verbs = root.list_commands(ctx) if isinstance(root, click.Group) else []
    return _items([*((topic.name, _(topic.title)) for topic in TOPICS), *((verb, "") for verb in verbs)], incomplete)


def files(_ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Files and folders, which shells complete themselves."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _settings(ctx: "click.Context") -> "Settings":
    """The settings as far as they can be read; the frame's own callback does not run while completing."""
    from subtitle_rag import config

    own = ctx.find_root().params
    return config.read(own.get("home"), own.get("language")).settings


def _items(names: "Iterable[tuple[str, str]]", begun: str) -> "Items":
    """The names that begin so, each once. What shells and terminals would take for a command is left out."""
    from click.shell_completion import CompletionItem

    wanted = unicodedata.normalize("NFC", begun).casefold()
    fitting = {name: about for name, about in reversed(list(names)) if name and name.casefold().startswith(wanted)}
    return [
        CompletionItem(name, help=" ".join(about.split()) or None)
        for name, about in reversed(fitting.items())
        if name.isprintable() and about.isprintable()
    ]
