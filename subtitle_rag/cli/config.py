"""`config`: the settings in force, the mistakes in the file, and the file itself."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.config.config_file import Mistake, bad_config
from subtitle_rag.base.config.origins import EffectiveSetting, effective_settings
from subtitle_rag.base.config.settings import Settings
from subtitle_rag.base.config.template import config_template, write_new
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.values import pick_json
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli.options import print_outcome, read_config

if TYPE_CHECKING:
    from subtitle_rag.base.config.settings import LoadedConfig


@click.group("config", invoke_without_command=True)
@click.pass_context
@print_outcome
def config_(ctx: click.Context) -> output.Outcome | int:
    if ctx.invoked_subcommand:
        return output.ExitCode.DONE
    reading = read_config()
    settings, path = list(effective_settings(reading)), reading.settings.paths.config
    mistakes = _mistakes(reading)
    values = {
        "file": str(path) if path.exists() else None,
        "settings": [asdict(each) for each in settings],
        "mistakes": [_mistake_values(each) for each in mistakes],
    }
    rows = [(each.key, json.dumps(each.value, ensure_ascii=False), _source_text(each)) for each in settings]
    sentence = _("The config file: {path}") if path.exists() else _("There is no config file: {path}")
    errors = [_failure(mistake, reading.file.path) for mistake in mistakes]
    return output.Outcome(values, output.table(rows), [sentence.format(path=path)], errors)


def _mistake_values(mistake: Mistake) -> dict[str, Any]:
    return {"file": mistake.place, **pick_json(mistake, "line", "key", "message", "nearest")}


def _failure(mistake: Mistake, path: Path) -> UsageError:
    """Return a mistake as a failure: of a prompt file, or of the config at `path`."""
    if not mistake.key.startswith("prompts.") or mistake.place == str(path):
        return bad_config(mistake)
    from subtitle_rag.contexts.prompt_template import bad_prompt

    return bad_prompt(mistake)


def _source_text(each: "EffectiveSetting") -> str:
    if each.source == "default":
        return _("default")
    if each.source == "file":
        return _("config file, line {line}").format(line=each.line) if each.line else _("config file")
    return str(each.place)


def _mistakes(reading: "LoadedConfig") -> list[Mistake]:
    """Return all mistakes in the file's order, including the keys and the theme, which the app checks."""
    mistakes = list(reading.mistakes)
    settings = replace(reading.settings, paths=replace(reading.settings.paths, config=reading.file.path))
    if settings.keys or settings.tui.theme:
        from subtitle_rag.tui import themes
        from subtitle_rag.tui.keys import keymap

        reported_keys = {mistake.key for mistake in mistakes}
        more = [*keymap.mistakes(settings.keys, reading.file.path), *themes.mistakes(settings)]
        mistakes += [mistake for mistake in more if mistake.key not in reported_keys]
    mistakes += _prompt_mistakes(settings)
    return sorted(mistakes, key=lambda mistake: mistake.line or 0)


def _prompt_mistakes(settings: Settings) -> list[Mistake]:
    """Return the mistakes in the prompt files, in the order of their lines."""
    names = settings.prompts
    if not (names.contexts or names.answers):
        return []
    from subtitle_rag.answers.answer_prompt import check_prompt
    from subtitle_rag.contexts.prompt_layout import check_context_prompt, prompt_path

    checks = {"contexts": check_context_prompt, "answers": check_prompt}
    return [
        mistake
        for kind, check in checks.items()
        if (name := getattr(names, kind))
        for mistake in check(prompt_path(settings, name), f"prompts.{kind}").mistakes
    ]


def _print_mistakes(mistakes: Sequence[Mistake], path: Path) -> int:
    """Print one mistake per line, as compilers do, and their number; return the exit code."""
    for mistake in mistakes:
        output.data(f"{mistake.where}: {mistake.reason}")
    if mistakes:
        output.say(n_("{n} mistake in the config.", "{n} mistakes in the config.", len(mistakes)))
    elif path.exists():
        output.say(_("✓ {path} is as it should be.").format(path=path))
    else:
        output.say(_("There is no config file, so that everything has its default: {path}").format(path=path))
    return output.ExitCode.USAGE if mistakes else output.ExitCode.DONE


def _create_file(reading: "LoadedConfig") -> Path:
    """Write a commented file with all defaults, and return its path."""
    path = reading.settings.paths.config
    write_new(path, config_template(reading.settings.language))
    return path


@config_.command("edit", help=N_("Open the config file in your editor ($VISUAL, $EDITOR), then check it for mistakes."))
def config_edit() -> int:
    reading = read_config()
    path = reading.settings.paths.config
    if not path.exists():
        _create_file(reading)
    try:
        click.edit(filename=str(path))
    except (click.ClickException, ValueError) as error:  # ValueError: an open quote in $EDITOR
        raise AppError("no_editor", reason=str(error)) from error
    return _print_mistakes(_mistakes(read_config()), path)
