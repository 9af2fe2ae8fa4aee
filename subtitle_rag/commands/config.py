"""`config`: the settings in force, the mistakes in the file, its schema, and the file itself."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import config, output
from subtitle_rag.commands import completing, json_option
from subtitle_rag.config_file import Mistake, bad_config, did_you_mean, nearest
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _, n_

if TYPE_CHECKING:
    from subtitle_rag.config import Reading
    from subtitle_rag.configuring.origins import InForce


@click.group("config", help=N_("The settings: what is in force, what is wrong in the file, and the file itself."))
def config_() -> None:
    """The verbs of the config."""


@config_.command(
    "show",
    help=N_(
        "Print every setting in force, its value, and what has set it: a flag, an environment variable, a line of the"
        " config file, or the default. KEY narrows it: youtube, search.limit. Passwords are not shown."
    ),
)
@click.argument("keys", metavar="[KEY]...", nargs=-1, shell_complete=completing.config_keys)
@json_option
@click.pass_context
def config_show(ctx: click.Context, keys: Sequence[str], as_json: bool) -> int:
    from subtitle_rag.configuring.origins import in_force

    reading = _reading(ctx)
    every = list(in_force(reading))
    shown = [each for each in every if not keys or any(_is_within(each.key, key) for key in keys)]
    for key in keys:
        if not any(_is_within(each.key, key) for each in every):
            raise UsageError("unknown_setting", name=key, near=did_you_mean(nearest(key, _names(every))))
    mistakes = _mistakes(reading)
    entries = [output.error_entry(bad_config(mistake)) for mistake in mistakes]
    for entry in entries:
        output.say_error(entry)
    code = output.ExitCode.USAGE if mistakes else output.ExitCode.DONE
    path = reading.settings.paths.config
    if as_json:
        result = {"file": str(path) if path.exists() else None, "settings": [asdict(each) for each in shown]}
        output.envelope("config show", output.Outcome(result, entries, code))
        return code
    for line in output.table(
        [(each.key, json.dumps(each.value, ensure_ascii=False), _said_by(each)) for each in shown]
    ):
        output.data(line)
    output.say(
        (_("The config file: {path}") if path.exists() else _("There is no config file: {path}")).format(path=path)
    )
    return code


def _is_within(key: str, wanted: str) -> bool:
    return key == wanted or key.startswith(f"{wanted}.")


def _names(every: "Sequence[InForce]") -> list[str]:
    """Settings, and the tables that they are in."""
    return list(dict.fromkeys([*(each.key for each in every), *(each.key.partition(".")[0] for each in every)]))


def _said_by(each: "InForce") -> str:
    if each.source == "default":
        return _("default")
    if each.source == "file":
        return _("config file, line {line}").format(line=each.line) if each.line else _("config file")
    return str(each.place)


def _reading(ctx: click.Context, path: Path | None = None) -> "Reading":
    """The settings and their mistakes, by the frame's own options."""
    own = ctx.find_root().params
    return config.read(own.get("home"), own.get("language"), path)


def _mistakes(reading: "Reading") -> list[Mistake]:
    """All mistakes, those of keys and themes too, of which the app knows what there is; in the file's order."""
    found = list(reading.mistakes)
    settings = reading.settings
    if settings.keys or settings.themes or settings.tui.theme:
        from subtitle_rag.tui import keymap, themes

        own = replace(settings, paths=replace(settings.paths, config=reading.file.path))
        told = {mistake.key for mistake in found}
        more = [*keymap.mistakes(own.keys, reading.file.path), *themes.mistakes(own)]
        found += [mistake for mistake in more if mistake.key not in told]
    return sorted(found, key=lambda mistake: mistake.line or 0)


@config_.command("validate", help=N_("Tell all that is wrong in the config, or in FILE, by line and key."))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@json_option
@click.pass_context
def config_validate(ctx: click.Context, file: Path | None, as_json: bool) -> int:
    reading = _reading(ctx, file)
    path = reading.file.path
    if file is not None and not path.exists():
        raise UsageError("no_config_file", path=str(file))
    mistakes = _mistakes(reading)
    code = output.ExitCode.USAGE if mistakes else output.ExitCode.DONE
    if as_json:
        entries = [output.error_entry(bad_config(mistake)) for mistake in mistakes]
        for entry in entries:
            output.say_error(entry)
        result = {"file": str(path), "valid": not mistakes, "mistakes": [_mistake_values(each) for each in mistakes]}
        output.envelope("config validate", output.Outcome(result, entries, code))
    else:
        _tell(mistakes, path)
    return code


def _mistake_values(mistake: Mistake) -> dict[str, Any]:
    return {
        "file": mistake.place,
        "line": mistake.line,
        "key": mistake.key or None,
        "message": mistake.message,
        "nearest": mistake.nearest or None,
    }


def _tell(mistakes: Sequence[Mistake], path: Path) -> None:
    """The mistakes, one a line as compilers tell them, and how many there are."""
    for mistake in mistakes:
        output.data(f"{mistake.where}: {mistake.reason}")
    if mistakes:
        said = n_("{n} mistake in the config.", "{n} mistakes in the config.", len(mistakes))
        output.say(said.format(n=len(mistakes)))
    elif path.exists():
        output.say(_("✓ {path} is as it should be.").format(path=path))
    else:
        output.say(_("There is no config file, so that everything has its default: {path}").format(path=path))


@config_.command(
    "schema",
    help=N_("Print the JSON Schema of the config, by which editors check and complete it (Taplo, Even Better TOML)."),
)
@json_option
def config_schema(as_json: bool) -> int:
    from subtitle_rag.configuring.schema import schema
    from subtitle_rag.tui import keymap
    from subtitle_rag.tui.text import key_help

    usual = {id: (key_help.meaning(id), binding.key) for id, (_kind, binding) in keymap.declared().items()}
    made = schema(usual)
    if as_json:
        output.envelope("config schema", output.Outcome(made))
    else:
        output.document(made)
    return 0


@config_.command("init", help=N_("Write a config file that tells every setting and its default; never over another."))
@json_option
@click.pass_context
def config_init(ctx: click.Context, as_json: bool) -> int:
    path = _begun(_reading(ctx))
    if as_json:
        output.envelope("config init", output.Outcome({"file": str(path)}))
    else:
        output.data(str(path))
    return 0


def _begun(reading: "Reading") -> Path:
    """Write the file to begin with, and return its place."""
    from subtitle_rag.configuring.template import template, write_new

    path = reading.settings.paths.config
    write_new(path, template(reading.settings.language))
    return path


@config_.command(
    "edit",
    help=N_("Open the config file in your editor ($VISUAL, $EDITOR), and tell what is wrong in it afterwards."),
)
@click.pass_context
def config_edit(ctx: click.Context) -> int:
    reading = _reading(ctx)
    path = reading.settings.paths.config
    if not path.exists():
        _begun(reading)
    try:
        click.edit(filename=str(path))
    except (click.ClickException, ValueError) as error:  # the latter: a quote in $EDITOR that is never closed
        raise AppError("no_editor", reason=str(error)) from error
    mistakes = _mistakes(_reading(ctx))
    _tell(mistakes, path)
    return output.ExitCode.USAGE if mistakes else output.ExitCode.DONE
