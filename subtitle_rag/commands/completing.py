"""Completions of arguments and options in a shell: names in the library, in the settings and in the program.

Each is cheap and silent: it opens nothing for writing, and completes nothing if it cannot read.
"""

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import click
    from click.shell_completion import CompletionItem

    from subtitle_rag.config import EffectiveSetting, LoadedConfig, Settings

    Items = list[CompletionItem[str]]


def channels(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete the channels of the library."""
    from subtitle_rag.library import channel_names

    return _items(channel_names(_settings(ctx).paths.library), incomplete)


def videos(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete ids of videos and, behind a typed letter, titles."""
    from subtitle_rag.library import video_names

    names = video_names(_settings(ctx).paths.library)
    titles = [(title, id) for id, title in names] if incomplete else []
    return _items([*names, *titles], incomplete)


def channels_and_videos(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
    return [*channels(ctx, param, incomplete), *videos(ctx, param, incomplete)]


def context_models(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete models of Ollama: offered, named in the config, or used for contexts. Ollama is not asked."""
    from subtitle_rag import library, models

    settings = _settings(ctx)
    used_names = [name for name, _about in library.context_models(settings.paths.library)]
    names = [settings.llm.model, *settings.llm.cloud, *used_names, *(model.name for model in models.context_models())]
    return _items([(name, "") for name in names], incomplete)


def neural_models(_ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete the offered encoders and rerankers."""
    from subtitle_rag import models

    return _items([(model.name, model.kind) for model in (*models.encoders(), *models.rerankers())], incomplete)


def all_models(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
    from subtitle_rag import models

    through_ollama = _items([(model.name, models.ENCODER) for model in models.ollama_encoders()], incomplete)
    return [*neural_models(ctx, param, incomplete), *through_ollama, *context_models(ctx, param, incomplete)]


def players(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete the built-in players, and those of the config."""
    from subtitle_rag import player

    return _items([(name, "") for name in player.names(_settings(ctx).players)], incomplete)


def config_keys(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete tables and settings of the config."""
    from subtitle_rag.config import effective_settings

    return _items([(name, "") for name in names_of_settings(effective_settings(read_config(ctx)))], incomplete)


def key_ids(_ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete ids of the app's keys."""
    from subtitle_rag.tui.keys import keymap
    from subtitle_rag.tui.text import key_meaning

    return _items([(id, key_meaning(id)) for id in keymap.declared()], incomplete)


def topics(ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Complete topics of the help, and commands."""
    import click

    from subtitle_rag.i18n import _
    from subtitle_rag.manual import TOPICS

    root = ctx.find_root().command
    verbs = root.list_commands(ctx) if isinstance(root, click.Group) else []
    return _items([*((topic.name, _(topic.title)) for topic in TOPICS), *((verb, "") for verb in verbs)], incomplete)


def files(_ctx: "click.Context", _param: "click.Parameter", incomplete: str) -> "Items":
    """Have the shell complete files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def names_of_settings(settings: "Iterable[EffectiveSetting]") -> list[str]:
    """Return the names of the settings' tables, then their own."""
    names = [setting.key for setting in settings]
    return list(dict.fromkeys([*(name.partition(".")[0] for name in names), *names]))


def _settings(ctx: "click.Context") -> "Settings":
    return read_config(ctx).settings


def read_config(ctx: "click.Context", path: "Path | None" = None) -> "LoadedConfig":
    """Read settings and mistakes by the options of the root command, whose callback does not run for completions."""
    from subtitle_rag import config

    options = ctx.find_root().params
    return config.read(options.get("home"), options.get("language"), path)


def _items(names: "Iterable[tuple[str, str]]", prefix: str) -> "Items":
    """Return the names with this prefix, each once; leave out any with control characters."""
    from click.shell_completion import CompletionItem

    folded_prefix = unicodedata.normalize("NFC", prefix).casefold()
    matches = {
        name: about for name, about in reversed(list(names)) if name and name.casefold().startswith(folded_prefix)
    }
    return [
        CompletionItem(name, help=" ".join(about.split()) or None)
        for name, about in reversed(matches.items())
        if name.isprintable() and about.isprintable()
    ]
