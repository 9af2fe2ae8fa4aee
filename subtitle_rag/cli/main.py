"""The command line: arguments → use case → output. Each verb has a module beside this one.

Nothing heavy is imported before a verb needs it, so `--help` takes no longer than click itself.
"""

import contextlib
import copy
import io
import logging
import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from subtitle_rag import __version__
from subtitle_rag.base import i18n, log_file, output
from subtitle_rag.base.config import settings as config_settings
from subtitle_rag.base.config.settings import Paths
from subtitle_rag.base.domain.errors import SCARCE, AppError, BusyError, UsageError, localize_reason, scarcity_error
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.output import ExitCode, exit_code_for

logger = logging.getLogger(__name__)


class Verb(NamedTuple):
    module: str
    """Module of the verb, in `cli` or another package."""
    help: str
    """Its first sentence is shown in the program's help."""


VERB_GROUPS: dict[str, dict[str, Verb]] = {
    N_("Bring captions in"): {
        "index": Verb(
            "index_videos", N_("Import captions from YouTube (channel, playlist, video) or from files and folders.")
        ),
        "listen": Verb("listen", N_("Transcribe videos that have no captions, on this machine.")),
        "sync": Verb("index_videos", N_("Check followed channels for new videos, and retry videos that are due.")),
    },
    N_("Find and play scenes"): {
        "search": Verb(
            "find_scenes", N_('Find scenes. "a phrase", -word, channel:NAME, after:2026-01-01, before:2026-12-31.')
        ),
        "ask": Verb("ask", N_("Have a local model answer a question from the library's scenes, and show them.")),
        "show": Verb("show", N_("Print a video's transcript, or the part of it around a time.")),
        "overview": Verb(
            "overview_videos",
            N_("Show what a video or channel is about: summary, chapters, key terms, names, most-replayed moments."),
        ),
        "open": Verb("open", N_("Play a scene: its NUMBER in the last search, SCENE (its id) or VIDEO@TIME.")),
        "play": Verb(
            "export",
            N_("Play scenes one after another in mpv, each from its start to its end. SCENE is as for export."),
        ),
        "marks": Verb("mark_scenes", N_("Keep scenes, with a note and a tag.")),
        "export": Verb(
            "export",
            N_(
                "Write scenes for other programs. SCENE is a number of the last search, VIDEO@TIME, "
                "VIDEO@TIME-TIME, or VIDEO."
            ),
        ),
        "clip": Verb(
            "export",
            N_(
                "Cut scenes out of their videos. SCENE is a number of the last search, VIDEO@TIME or "
                "VIDEO@TIME-TIME. Without the video's file, only that section is downloaded from YouTube."
            ),
        ),
    },
    N_("The library"): {
        "list": Verb("library", N_("Show the channels and videos of the library.")),
        "status": Verb("library", N_("Show how much of the library is ready, and what failed.")),
        "remove": Verb(
            "library", N_("Remove videos, channels or playlists from the library. Caption files are not deleted.")
        ),
        "doctor": Verb("doctor", N_("Check what is installed, what is missing, and how to fix it.")),
        "config": Verb("config", N_("Show, check and edit settings.")),
        "demo": Verb("demo", N_("Open the sample library: nine invented videos of a channel that does not exist.")),
    },
    N_("More"): {
        "contexts": Verb("contexts", N_("Have a local model describe each window, so that more scenes are found.")),
        "vectors": Verb("vectors", N_("Make vectors with a local model, so that scenes are found by meaning.")),
        "models": Verb("models", N_("The local models: those that write contexts, and those that search by meaning.")),
        "self": Verb("self_", N_("Install extras of the program.")),
        "rebuild": Verb(
            "library", N_("Rebuild the search index from the library; nothing is read or downloaded again.")
        ),
        "mcp": Verb(
            "mcp",
            N_(
                "Offer search, ask, transcript and library to other assistants, by the Model Context Protocol on stdio."
            ),
        ),
        "eval": Verb("subtitle_rag.evaluation.verbs.evaluate", N_("Measure how well scenes are found.")),
    },
}
"""Title → verb, in the order of the help. Importing the modules for their texts would double `--help`'s time."""
VERBS = {name: verb for verbs in VERB_GROUPS.values() for name, verb in verbs.items()}

LENIENT = ("config", "self")
"""Verbs that run with a faulty config, because they need little of it or report its mistakes."""


class Verbs(click.Group):
    """Loads verbs on demand, and translates help into the user's language."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command = copy.copy(_load(cmd_name))
        command.help = VERBS[cmd_name].help
        return localized(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the verb that may have been meant; click only compares loaded ones."""
        if not args[0].startswith("-") and not ctx.resilient_parsing and args[0] not in VERBS:
            raise click.exceptions.NoSuchCommand(args[0], possibilities=VERBS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, VERBS))
        for title, verbs in VERB_GROUPS.items():
            with formatter.section(_(title)):
                formatter.write_dl([(f"{name:{width}}", _first_sentence(_(verb.help))) for name, verb in verbs.items()])


def _load(name: str) -> click.Command:
    module = VERBS[name].module
    command: click.Command = getattr(
        import_module(module if "." in module else f"subtitle_rag.cli.{module}"), f"{name}_"
    )
    return command


METAVARS = (
    *(N_("ARGS"), N_("CHANNEL"), N_("COMMAND"), N_("DATE"), N_("DIR"), N_("EXTRA"), N_("FILE"), N_("INTEGER RANGE")),
    *(N_("KIND"), N_("LIST"), N_("MODEL"), N_("NAME"), N_("NAMES"), N_("NUMBER"), N_("OPTIONS"), N_("QUERIES")),
    *(N_("QUERY"), N_("QUESTION"), N_("REGEX"), N_("SCENE"), N_("SECONDS"), N_("SOURCE"), N_("TABS"), N_("TEXT")),
    *(N_("TIME"), N_("URL"), N_("VIDEO")),
)
"""Words for values in the help."""
_METAVAR = re.compile(r"[A-Z]+(?: RANGE)?")


def _metavar(param: click.Parameter, context: click.Context) -> str:
    """Return the word for a parameter's value; click translates its own only once, at import."""
    if isinstance(param.type, click.Path | click.File) and not param.metavar and isinstance(param, click.Option):
        return _("FILE")
    return _localized_metavar(param.make_metavar(context))


def _localized_metavar(metavar: str) -> str:
    words = _METAVAR.sub(lambda match: _(match[0]) if match[0] in METAVARS else match[0], metavar)
    return words.replace("INTEGER RANGE", "N")  # click's own English


def localized(command: click.Command) -> click.Command:
    """Return a copy of the command with its help in the current language."""
    copied = copy.copy(command)
    copied.options_metavar = _localized_metavar(command.options_metavar or "") or None
    copied.help = _(command.help) if command.help else None
    copied.short_help = _first_sentence(copied.help or "")  # click would cut it to the width of a line
    copied.params = [copy.copy(param) for param in command.params]
    context = click.Context(command)
    for param in copied.params:
        if isinstance(param, click.Option) and param.help:
            param.help = _(param.help)
        param.metavar = _metavar(param, context)
        if isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
            param.type = copy.copy(param.type)
            is_whole = isinstance(param.type, click.types.IntParamType)
            param.type.name = _("whole number") if is_whole else _("number")
    if isinstance(copied, click.Group):
        copied.subcommand_metavar = _localized_metavar(copied.subcommand_metavar)
        copied.commands = {name: localized(sub) for name, sub in copied.commands.items()}
    return copied


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.])\s", text, maxsplit=1)[0]


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=N_("Find the scene: search the captions of Korean video on your own machine."),
)
@click.option("--home", metavar="DIR", help=N_("Keep config, data, cache and log under this folder."))
@click.option("--language", type=click.Choice(i18n.LANGUAGES), help=N_("The language of messages and screens."))
@click.option("--debug", is_flag=True, help=N_("Log everything, including queries and library text."))
@click.version_option(__version__, prog_name="subtitle-rag", help=N_("Show the version and exit."))
@click.pass_context
def root(ctx: click.Context, home: str | None, language: str | None, debug: bool) -> None:  # noqa: ARG001 - see `run`
    lenient = ctx.invoked_subcommand in LENIENT
    settings = config_settings.read(home, language).settings if lenient else config_settings.load(home, language)
    i18n.activate(settings.language)
    ctx.obj = settings
    if ctx.invoked_subcommand is None:
        from subtitle_rag import tui

        if not output.on_terminal():
            output.say(localized(root).get_help(ctx))
            raise click.exceptions.Exit(ExitCode.USAGE)
        raise click.exceptions.Exit(tui.run(settings))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the console script."""
    output.prepare()
    if "_SUBTITLE_RAG_COMPLETE" in os.environ:
        sys.exit(_complete())
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def _complete() -> int:
    """Answer a shell through click's protocol; on any error complete nothing, silently."""
    logging.disable()
    i18n.activate(_early_language([]))
    with contextlib.redirect_stderr(io.StringIO()):  # a shell would insert any text into the typed line
        try:
            localized(root).main(prog_name="subtitle-rag")
        except SystemExit as end:
            return int(end.code or 0)
        except Exception:  # any failure: an unreadable library, a config with mistakes
            return ExitCode.FAILED


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; no traceback reaches the user."""
    i18n.activate(_early_language(arguments))
    frame_options, rest = _split_frame_options(arguments)
    try:
        paths = Paths.find(frame_options.get("--home"))
    except UsageError as error:
        return _fail(arguments, error)
    in_front = next((at for at, argument in enumerate(rest) if argument in VERBS), len(rest))
    debug = log_file.wants_debug("--debug" in rest[:in_front])
    private = (paths.data, paths.cache, paths.config)
    verb = _command(rest)
    process = verb if verb in ("demo", "mcp") else "cli" if verb else "app"
    with log_file.logging_to(paths.log, process, debug=debug, private=private):
        return _logged_run(arguments, rest)


def _logged_run(arguments: list[str], rest: Sequence[str]) -> int:
    """Run, and log start and end with the options' names, never their values."""
    is_logged = not {"-h", "--help", "--version"} & set(arguments)
    start = time.monotonic()
    if is_logged:
        options = " ".join(each for each in _known_options(rest) if each in {a.partition("=")[0] for a in arguments})
        logger.info("subtitle-rag %s %s begins, options: %s", __version__, _command(rest) or "app", options or "none")
        logger.debug("arguments: %r", arguments)
    status = _run_to_end(arguments)
    if is_logged:
        logger.info("ends with status %d after %.0f ms", status, (time.monotonic() - start) * 1000)
    return status


def _known_options(arguments: Sequence[str]) -> list[str]:
    """Return the command's options; other words that start with two dashes may belong to a query."""
    verb, *sub = _command(arguments).split() or [""]
    commands: list[click.Command] = [root]
    if verb:
        command = _load(verb)
        subcommands = command.commands if isinstance(command, click.Group) else {}
        commands += [command, *(subcommands[name] for name in sub if name in subcommands)]
    return [option for each in commands for param in each.params for option in param.opts if option.startswith("--")]


def _run_to_end(arguments: list[str]) -> int:
    status: int = ExitCode.DONE
    try:
        status = _run(arguments)
        output.flush()  # report a failed write here, not when the interpreter exits
        return status
    except BrokenPipeError:  # the reader has left
        output.discard()
        return status
    except output.StdoutError as error:
        output.discard()
        logger.warning("stdout cannot be written", exc_info=True)
        output.say_error(AppError("output_unwritable", reason=error.strerror or str(error)))
        return ExitCode.FAILED
    finally:
        output.flush_narration()


def _run(arguments: list[str]) -> int:
    try:
        result = localized(root).main(arguments, prog_name="subtitle-rag", standalone_mode=False)
        return int(result or 0)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail(arguments, AppError("interrupted"))
    except click.ClickException as error:
        return _reject_usage(arguments, error)
    except AppError as error:
        return _fail(arguments, error)
    except SystemExit as stop:  # click's answer to a broken pipe
        raise BrokenPipeError from stop
    except (BrokenPipeError, output.StdoutError):
        raise
    except Exception as error:  # last resort: the traceback goes to the log, one sentence to the user
        return _fail(arguments, _as_scarcity(error) or _log_unexpected(error))


def _as_scarcity(error: Exception) -> BusyError | None:
    """Return a shortage of memory, threads or files as a failure, if no other code has."""
    is_scarce = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in SCARCE)
    if not is_scarce and "can't start new thread" not in str(error):
        return None
    logger.warning("the system sets a limit", exc_info=True)
    return scarcity_error(Paths.find().data, str(error) or type(error).__name__)


def _early_language(arguments: Sequence[str]) -> str:
    """Return the language before the arguments are parsed, for help and usage errors."""
    frame_options, _rest = _split_frame_options(arguments)
    try:
        return config_settings.read(frame_options.get("--home"), frame_options.get("--language")).settings.language
    except UsageError:  # an unknown home; `run` reports it
        return i18n.system_language()


def _split_frame_options(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Split the root command's options (by name) from the other arguments, unchecked.

    They precede the verb, because a query after it may contain the same words.
    """
    options: dict[str, str] = {}
    rest: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        if name in ("--home", "--language"):
            options[name] = value if equals else next(remaining, "")
            continue
        rest.append(argument)
        if argument == "--" or not argument.startswith("-"):
            break
    return options, [*rest, *remaining]


def _reject_usage(arguments: Sequence[str], error: click.ClickException) -> int:
    message = localize_reason(error.format_message())
    hint = _("subtitle-rag --help lists the commands, subtitle-rag COMMAND --help its options.")
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        output.say(message)
        return ExitCode.USAGE
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = error.ctx.get_usage()
        if isinstance(error, click.NoSuchOption):
            message, hint = _frame_option(error, error.ctx) or (message, _usage_for_dash(arguments, error, error.ctx))
    entry = {"code": "usage", "message": message, "hint": hint, "video": None}
    return _report_failure(arguments, entry, ExitCode.USAGE)


def _frame_option(error: click.NoSuchOption, ctx: click.Context) -> tuple[str, str] | None:
    """Return message and hint for a root option after a verb, which click takes for a mistyped one."""
    if ctx.parent is None or not any(error.option_name in param.opts for param in root.params):
        return None
    message = _("{name} stands in front of the command.").format(name=error.option_name)
    return message, ctx.find_root().get_usage()


def _usage_for_dash(arguments: Sequence[str], error: click.NoSuchOption, ctx: click.Context) -> str:
    """Return the usage, and how to pass a name that begins with a dash, as video ids may."""
    usage = ctx.get_usage()
    name = next((each for each in arguments if each.startswith(error.option_name)), "")
    takes_names = any(isinstance(param, click.Argument) for param in ctx.command.params)
    if not takes_names or name.startswith("--") or len(name) <= len("-x"):
        return usage
    example = f"{ctx.command_path} -- {shlex.quote(name)}"
    return _("{usage}. A name that begins with - stands behind --: {example}").format(usage=usage, example=example)


def _fail(arguments: Sequence[str], error: AppError) -> int:
    if error.code not in ("unexpected", "interrupted"):
        logger.info("failed", exc_info=error)
    return _report_failure(arguments, output.error_entry(error), exit_code_for(error))


def _report_failure(arguments: Sequence[str], entry: dict[str, Any], code: ExitCode) -> int:
    try:
        output.say_error(entry)
        _options, rest = _split_frame_options(arguments)
        # in front of the verb's `--`, since a query may contain the option
        end = next((at for at, argument in enumerate(rest) if at and argument == "--"), len(rest))
        if "--json" in rest[:end]:
            output.envelope(_command(rest), output.Outcome(None, errors=[entry], exit_code=code))
        elif "--jsonl" in rest[:end]:
            output.json_line({"event": "error", **entry})
    except BrokenPipeError:  # the reader has left; the command has failed anyway
        output.discard()
    return code


GROUPS = ("config", "contexts", "eval", "marks", "models", "self")
"""Verbs with subcommands."""


def _command(arguments: Sequence[str]) -> str:
    """Return the verb's name for envelopes."""
    verb = next((argument for argument in arguments if argument in VERBS), "")
    after = arguments[arguments.index(verb) + 1 :] if verb else ()
    return " ".join([verb, *(after[:1] if verb in GROUPS and not "".join(after[:1]).startswith("-") else ())])


def _log_unexpected(error: Exception) -> AppError:
    """Log the traceback; return the error with the path of the log."""
    logger.error("unexpected", exc_info=error)
    path = log_file.log_path()
    return AppError("unexpected", reason=repr(error), log=str(path) if path and path.exists() else "stderr")
