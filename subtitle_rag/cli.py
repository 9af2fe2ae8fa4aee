"""The command line: arguments → use case → output. Verbs live in `commands/`; this is their frame.

Nothing heavy is imported before a verb needs it: `--help` costs what click costs.
"""

import copy
import logging
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from subtitle_rag import __version__, config, i18n, output
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.output import ExitCode, exit_code_for

VERBS = {
    "index": "bring",
    "sync": "bring",
    "search": "find",
    "ask": "ask",
    "show": "find",
    "open": "find",
    "contexts": "contexts",
    "vectors": "vectors",
    "models": "models",
    "list": "library",
    "status": "library",
    "remove": "library",
    "rebuild": "library",
    "migrate": "migrate",
    "paths": "care",
    "keys": "keys",
    "doctor": "care",
    "demo": "care",
    "eval": "evaluation",
    "mcp": "mcp",
    "serve": "serve",
}
"""Verb → module of `commands`, in the order in which help lists them."""


class Verbs(click.Group):
    """Finds a verb in its module when it is asked for, and speaks the user's language in help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = import_module(f"subtitle_rag.commands.{VERBS[cmd_name]}")
        return localized(getattr(module, f"{cmd_name}_"))


def localized(command: click.Command) -> click.Command:
    """A copy of the command with its help in the language in force."""
    own = copy.copy(command)
    own.help = _(command.help) if command.help else None
    own.params = [copy.copy(param) for param in command.params]
    for param in own.params:
        if isinstance(param, click.Option) and param.help:
            param.help = _(param.help)
    if isinstance(own, click.Group):
        own.commands = {name: localized(sub) for name, sub in own.commands.items()}
    return own


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=N_("Find the scene: search the captions of Korean video on your own machine."),
)
@click.option("--home", metavar="DIR", help=N_("Keep config, data, cache and log under this folder."))
@click.option("--language", type=click.Choice(i18n.LANGUAGES), help=N_("The language of messages and screens."))
@click.version_option(__version__, prog_name="subtitle-rag", help=N_("Show the version and exit."))
@click.pass_context
def root(ctx: click.Context, home: str | None, language: str | None) -> None:
    settings = config.load(home, language)
    i18n.activate(settings.language)
    ctx.obj = settings
    if ctx.invoked_subcommand is None:
        from subtitle_rag import tui

        if not (output.on_terminal() or tui.in_browser()):
            output.say(localized(root).get_help(ctx))
            raise click.exceptions.Exit(ExitCode.USAGE)
        raise click.exceptions.Exit(tui.run(settings))


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    output.prepare()
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; no traceback reaches the user."""
    i18n.activate(_early_language(arguments))
    try:
        status = _run(arguments)
        sys.stdout.flush()  # what fails to get through fails here, not when the interpreter ends
        return status
    except BrokenPipeError:  # the reader has seen enough
        output.discard()
        return ExitCode.DONE
    except OSError as error:
        output.discard()
        output.say_error(_logged(arguments, error))
        return ExitCode.FAILED


def _run(arguments: list[str]) -> int:
    try:
        result = localized(root).main(arguments, prog_name="subtitle-rag", standalone_mode=False)
        return int(result or 0)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _failed(arguments, AppError("interrupted"))
    except click.ClickException as error:
        return _refused(arguments, error)
    except AppError as error:
        return _failed(arguments, error)
    except SystemExit as stop:  # click's answer to a broken pipe
        raise BrokenPipeError from stop
    except BrokenPipeError:
        raise
    except Exception as error:  # the last resort: the traceback goes to the log, one sentence to the user
        return _failed(arguments, _logged(arguments, error))


def _early_language(arguments: Sequence[str]) -> str:
    """The language before the arguments are parsed, so that help and usage errors speak it too."""
    given, _rest = _divided(arguments)
    try:
        return config.load(given.get("--home"), given.get("--language")).language
    except UsageError:
        return i18n.system_language()


def _divided(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The frame's own options by name, and the other arguments; nothing of them is judged yet."""
    given: dict[str, str] = {}
    rest: list[str] = []
    coming = iter(arguments)
    for argument in coming:
        name, equals, value = argument.partition("=")
        if name in ("--home", "--language"):
            given[name] = value if equals else next(coming, "")
        else:
            rest.append(argument)
    return given, rest


def _refused(arguments: Sequence[str], error: click.ClickException) -> int:
    message = error.format_message()
    hint = _("subtitle-rag --help lists the commands, subtitle-rag COMMAND --help its options.")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = error.ctx.get_usage()
    entry = {"code": "usage", "message": message, "hint": hint, "video": None}
    return _told(arguments, entry, ExitCode.USAGE)


def _failed(arguments: Sequence[str], error: AppError) -> int:
    return _told(arguments, output.error_entry(error), exit_code_for(error))


def _told(arguments: Sequence[str], entry: dict[str, Any], code: ExitCode) -> int:
    output.say_error(entry)
    if "--json" in arguments:
        _given, rest = _divided(arguments)
        output.envelope(_command(rest), output.Outcome(None, [entry], code))
    return code


GROUPS = ("contexts", "eval", "models", "vectors")
"""Verbs that have verbs of their own."""


def _command(arguments: Sequence[str]) -> str:
    """The verb, as envelopes name it."""
    verb = next((argument for argument in arguments if argument in VERBS), "")
    after = arguments[arguments.index(verb) + 1 :] if verb else ()
    return " ".join([verb, *(after[:1] if verb in GROUPS and not "".join(after[:1]).startswith("-") else ())])


def _logged(arguments: Sequence[str], error: Exception) -> AppError:
    given, _rest = _divided(arguments)
    path = config.Paths.find(given.get("--home")).log / "subtitle-rag.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError:
        return AppError("unexpected", reason=repr(error), log="stderr")
    logger = logging.getLogger("subtitle_rag")
    logger.addHandler(handler)
    logger.error("unexpected", exc_info=error)
    logger.removeHandler(handler)
    handler.close()
    return AppError("unexpected", reason=repr(error), log=str(path))
