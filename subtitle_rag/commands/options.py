"""The frame of the verbs: their runtime and outcome, the completions in a shell and the options that several have, and
the query narrowed by these."""

import os
import signal
import sys
import threading
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.config import settings as config_settings
from subtitle_rag.domain.errors import UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.platforms import set_from_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from click.shell_completion import CompletionItem

    from subtitle_rag.config.settings import LoadedConfig, Settings
    from subtitle_rag.retrieval.search.query import Query

    Completions = list[CompletionItem[str]]


def pass_runtime(verb: "Callable[..., int]") -> "Callable[..., int]":
    """Give the verb a runtime of the settings, which is closed when the verb ends."""

    @click.pass_obj
    @wraps(verb)
    def run(settings: "Settings", /, *args: Any, **kwargs: Any) -> int:
        from subtitle_rag.runtime import Runtime

        with Runtime(settings) as runtime:
            return verb(runtime, *args, **kwargs)

    return run


def print_outcome(verb: "Callable[..., output.Outcome | int]") -> "Callable[..., int]":
    """Add `--json`, and print the outcome that the verb returns: as JSON, or its lines and notes.

    A verb that has printed by itself returns its exit code.
    """

    @click.option("--json", "as_json", is_flag=True, help=N_("Print one JSON document."))
    @wraps(verb)
    def run(*args: Any, as_json: bool, **kwargs: Any) -> int:
        if as_json and click.get_current_context().params.get("jsonl"):
            raise click.UsageError(_("--json and --jsonl cannot be used together."))
        outcome = verb(*args, **kwargs)
        if isinstance(outcome, int):
            return outcome
        command = click.get_current_context().command_path.partition(" ")[2]
        return output.finish(command, outcome, as_json=as_json)

    return run


def runtime_outcome(verb: "Callable[..., output.Outcome | int]") -> "Callable[..., int]":
    """Give the verb a runtime, and print the outcome that it returns; adds `--json`."""
    return pass_runtime(print_outcome(verb))


@contextmanager
def stoppable() -> "Iterator[threading.Event]":
    """Let the first Ctrl+C set the event, and the second end the program."""
    stop = threading.Event()

    def on_interrupt(*_signal: object) -> None:
        set_from_signal(stop)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def wants_json() -> bool:
    """Whether the running command prints one JSON document."""
    return bool(click.get_current_context().params["as_json"])


# --- completions: cheap and silent; they open nothing for writing, and are empty if they cannot read ---


def complete_channels(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete the channels of the library."""
    from subtitle_rag.library.names import channel_names

    return completions(channel_names(_settings(ctx).paths.library), incomplete)


def complete_videos(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete ids of videos and, after a typed letter, titles."""
    from subtitle_rag.library.names import video_names

    names = video_names(_settings(ctx).paths.library)
    titles = [(title, id) for id, title in names] if incomplete else []
    return completions([*names, *titles], incomplete)


def complete_channels_and_videos(ctx: click.Context, param: click.Parameter, incomplete: str) -> "Completions":
    return [*complete_channels(ctx, param, incomplete), *complete_videos(ctx, param, incomplete)]


def complete_context_models(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete models of Ollama: offered, named in the config, or used for contexts. Ollama is not asked."""
    from subtitle_rag.library import names
    from subtitle_rag.models.manifest import context_models

    settings = _settings(ctx)
    used_names = [name for name, _about in names.context_models(settings.paths.library)]
    offered = [settings.llm.model, *settings.llm.cloud, *used_names, *(model.name for model in context_models())]
    return completions([(name, "") for name in offered], incomplete)


def complete_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Have the shell complete files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _settings(ctx: click.Context) -> "Settings":
    return read_config(ctx).settings


def read_config(ctx: click.Context | None = None, path: "Path | None" = None) -> "LoadedConfig":
    """Read settings and mistakes by the options of the root command, whose callback does not run for completions.

    These have a context that is not the running command's.
    """

    options = (ctx or click.get_current_context()).find_root().params
    return config_settings.read(options.get("home"), options.get("language"), path)


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether `--yes` was given, or the question is answered so. Raises click.UsageError without a terminal."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError(_("Without a terminal to ask on, --yes is needed."))
    return output.confirm(question)


def removal_confirmed(names: "Iterable[str]", sentence: str, *, yes: bool) -> bool:
    """Ask before something is removed: `names` of it, and a sentence with its numbers. Raises as `confirmed` does."""
    question = _("{names}: {sentence} Remove?").format(names=", ".join(names), sentence=sentence)
    return confirmed(question, yes=yes)


def file_to_write(file: str, *, force: bool) -> Path:
    """Return the path of a file to write; raises UsageError `export_exists` if it is there, unless `force`."""
    path = Path(file).expanduser()
    if not force and os.path.lexists(path):
        raise UsageError("export_exists", path=str(path))
    return path


def completions(names: "Iterable[tuple[str, str]]", prefix: str) -> "Completions":
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


# --- options that several verbs have ---

yes_option = click.option("--yes", is_flag=True, help=N_("Do not ask."))
force_option = click.option("--force", is_flag=True, help=N_("Replace a file that exists."))
newest_option = click.option(
    "--limit", type=click.IntRange(min=1), help=N_("At most this many videos, the newest first.")
)
jsonl_option = click.option("--jsonl", is_flag=True, help=N_("Print every event as a line of JSON while it happens."))
channel_option = click.option(
    "--channel", multiple=True, shell_complete=complete_channels, help=N_("Only channels whose name contains TEXT.")
)
video_option = click.option(
    "--video",
    multiple=True,
    shell_complete=complete_videos,
    help=N_("Only this video: its id, or a part of its title."),
)
model_option = click.option(
    "--model",
    shell_complete=complete_context_models,
    help=N_("Use this Ollama model instead of the one in the config."),
)
retrievers_option = click.option(
    "--retrievers",
    metavar="NAMES",
    help=N_("The retrievers to use, separated by commas: bm25, dense, sparse, pieces."),
)
FILE_PATH = click.Path(path_type=Path)
"""The type of an argument that is a file."""


def pack_options(
    name: str, kind: "Callable[..., object]", *options: "Callable[..., Any]"
) -> "Callable[[Callable[..., int]], Callable[..., int]]":
    """Add options in the order of the help. The verb gets the values as one `kind`, in its argument `name`."""

    def decorate(verb: "Callable[..., int]") -> "Callable[..., int]":
        @wraps(verb)
        def run(*args: Any, **values: Any) -> int:
            packed = {field: values.pop(field) for field in signature(kind).parameters if field in values}
            return verb(*args, **{name: kind(**packed)}, **values)

        return reduce(lambda decorated, option: option(decorated), reversed(options), run)

    return decorate


class QueryCommand(click.Command):
    """A command whose argument is a query: `-word` excludes a word and is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse them with excluded words after `--`."""
        options = {name: param for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
        rest: list[str] = []
        excluded: list[str] = []
        remaining = iter(args)
        for argument in remaining:
            if argument == "--":
                excluded += remaining
            elif argument.startswith("-") and not argument.startswith("--") and argument not in ("-", *options):
                if f"-{argument}" in options:  # -json
                    raise click.NoSuchOption(argument, possibilities=[f"-{argument}"], ctx=ctx)
                excluded.append(argument)
            else:
                rest.append(argument)
                option = options.get(argument)
                if isinstance(option, click.Option) and not (option.is_flag or option.count):
                    rest += [value for _n, value in zip(range(option.nargs), remaining, strict=False)]
        return super().parse_args(ctx, [*rest, "--", *excluded] if excluded else rest)


@dataclass(frozen=True, slots=True)
class QueryFilters:
    """Filters of a query by options."""

    channel: "Sequence[str]"
    video: "Sequence[str]"
    after: str | None = None
    before: str | None = None
    speaker: "Sequence[str]" = ()

    def query(self, text: str, kinds: "Sequence[str]" = ()) -> "Query":
        """Parse the text, and add these filters to its own; raises UsageError."""
        from subtitle_rag.retrieval.search.query import parse_filtered

        return parse_filtered(text, self.channel, self.video, self.after, self.before, kinds, self.speaker)


query_filters = pack_options(
    "filters",
    QueryFilters,
    channel_option,
    video_option,
    click.option("--after", metavar="DATE", help=N_("Only videos published on this day or later.")),
    click.option("--before", metavar="DATE", help=N_("Only videos published on this day or earlier.")),
    click.option(
        "--speaker", multiple=True, metavar="NAME", help=N_("Only scenes in which somebody of this name speaks.")
    ),
)
