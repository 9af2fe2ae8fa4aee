"""`config`: the settings in force, the mistakes in the file, its schema, and the file itself."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import config, output
from subtitle_rag.commands.options import FILE_PATH, completions, print_outcome, read_config, wants_json
from subtitle_rag.config import Mistake, bad_config, did_you_mean, nearest
from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.i18n import N_, _, n_

if TYPE_CHECKING:
    from subtitle_rag.commands.options import Completions
    from subtitle_rag.config import LoadedConfig


config_ = click.Group("config")


def _complete_config_keys(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete tables and settings of the config."""
    names = _names_of_settings(config.effective_settings(read_config(ctx)))
    return completions([(name, "") for name in names], incomplete)


def _names_of_settings(settings: "Iterable[config.EffectiveSetting]") -> list[str]:
    """Return the names of the settings' tables, then their own."""
    names = [setting.key for setting in settings]
    return list(dict.fromkeys([*(name.partition(".")[0] for name in names), *names]))


@config_.command(
    "show",
    help=N_(
        "Print every setting in force, its value, and what has set it: a flag, an environment variable, a line of the"
        " config file, or the default. KEY narrows it: youtube, search.limit. Passwords are not shown."
    ),
)
@click.argument("keys", metavar="[KEY]...", nargs=-1, shell_complete=_complete_config_keys)
@print_outcome
def config_show(keys: Sequence[str]) -> output.Outcome:
    reading = read_config()
    all_settings = list(config.effective_settings(reading))
    selected = [each for each in all_settings if not keys or any(_is_within(each.key, key) for key in keys)]
    for key in keys:
        if not any(_is_within(each.key, key) for each in all_settings):
            raise UsageError(
                "unknown_setting", name=key, near=did_you_mean(nearest(key, _names_of_settings(all_settings)))
            )
    path = reading.settings.paths.config
    values = {"file": str(path) if path.exists() else None, "settings": [asdict(each) for each in selected]}
    rows = [(each.key, json.dumps(each.value, ensure_ascii=False), _source_text(each)) for each in selected]
    sentence = _("The config file: {path}") if path.exists() else _("There is no config file: {path}")
    errors = [_failure(mistake, reading.file.path) for mistake in _mistakes(reading)]
    return output.Outcome(values, output.table(rows), [sentence.format(path=path)], errors)


def _failure(mistake: Mistake, path: Path) -> UsageError:
    """Return a mistake as a failure: of a prompt file, or of the config at `path`."""
    if not mistake.key.startswith("prompts.") or mistake.place == str(path):
        return bad_config(mistake)
    from subtitle_rag.contexts import bad_prompt

    return bad_prompt(mistake)


def _is_within(key: str, prefix: str) -> bool:
    return f"{key}.".startswith(f"{prefix}.")


def _source_text(each: "config.EffectiveSetting") -> str:
    if each.source == "default":
        return _("default")
    if each.source == "file":
        return _("config file, line {line}").format(line=each.line) if each.line else _("config file")
    return str(each.place)


def _mistakes(reading: "LoadedConfig") -> list[Mistake]:
    """Return all mistakes in the file's order, with those of keys and themes, which the app checks."""
    mistakes = list(reading.mistakes)
    settings = replace(reading.settings, paths=replace(reading.settings.paths, config=reading.file.path))
    if settings.keys or settings.themes or settings.tui.theme:
        from subtitle_rag.tui import themes
        from subtitle_rag.tui.keys import keymap

        reported_keys = {mistake.key for mistake in mistakes}
        more = [*keymap.mistakes(settings.keys, reading.file.path), *themes.mistakes(settings)]
        mistakes += [mistake for mistake in more if mistake.key not in reported_keys]
    mistakes += _prompt_mistakes(settings)
    return sorted(mistakes, key=lambda mistake: mistake.line or 0)


def _prompt_mistakes(settings: config.Settings) -> list[Mistake]:
    """Return the mistakes in the prompt files, by their own lines."""
    names = settings.prompts
    if not (names.contexts or names.answers):
        return []
    from subtitle_rag.answers import check_prompt
    from subtitle_rag.contexts import check_context_prompt, prompt_path

    checks = {"contexts": check_context_prompt, "answers": check_prompt}
    return [
        mistake
        for kind, check in checks.items()
        if (name := getattr(names, kind))
        for mistake in check(prompt_path(settings, name), f"prompts.{kind}").mistakes
    ]


@config_.command("validate", help=N_("List every mistake in the config, or in FILE, by line and key."))
@click.argument("file", required=False, type=FILE_PATH)
@print_outcome
def config_validate(file: Path | None) -> output.Outcome | int:
    reading = read_config(path=file)
    path = reading.file.path
    if file is not None and not path.exists():
        raise UsageError("no_config_file", path=str(file))
    mistakes = _mistakes(reading)
    if not wants_json():
        return _print_mistakes(mistakes, path)
    listed = [
        {
            "file": each.place,
            "line": each.line,
            "key": each.key or None,
            "message": each.message,
            "nearest": each.nearest or None,
        }
        for each in mistakes
    ]
    values = {"file": str(path), "valid": not mistakes, "mistakes": listed}
    return output.Outcome(values, errors=[_failure(mistake, path) for mistake in mistakes])


def _print_mistakes(mistakes: Sequence[Mistake], path: Path) -> int:
    """Print the mistakes, one a line as compilers do, and their number; return the exit code."""
    for mistake in mistakes:
        output.data(f"{mistake.where}: {mistake.reason}")
    if mistakes:
        output.say(n_("{n} mistake in the config.", "{n} mistakes in the config.", len(mistakes)))
    elif path.exists():
        output.say(_("✓ {path} is as it should be.").format(path=path))
    else:
        output.say(_("There is no config file, so that everything has its default: {path}").format(path=path))
    return output.ExitCode.USAGE if mistakes else output.ExitCode.DONE


@config_.command(
    "schema",
    help=N_("Print the JSON Schema of the config, by which editors check and complete it (Taplo, Even Better TOML)."),
)
@print_outcome
def config_schema() -> output.Outcome:
    from subtitle_rag.tui.keys import COMMANDS
    from subtitle_rag.tui.text import key_meaning

    usual = {id: (key_meaning(id), command.keys) for id, command in COMMANDS.items()}
    document = config.settings_schema(usual)
    return output.Outcome(document, [output.json_text(document, indent=2)])


@config_.command(
    "init", help=N_("Write a config file with every setting and its default; an existing file is never overwritten.")
)
@print_outcome
def config_init() -> output.Outcome:
    path = str(_create_file(read_config()))
    return output.Outcome({"file": path}, [path])


def _create_file(reading: "LoadedConfig") -> Path:
    """Write the commented file with all defaults, and return its path."""
    path = reading.settings.paths.config
    config.write_new(path, config.config_template(reading.settings.language))
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
