"""Shared parts of the verbs: runtime and outcome, shell completion, common options, and query filters."""

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

from subtitle_rag.base import output
from subtitle_rag.base.config import settings as config_settings
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.platforms import set_from_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from click.shell_completion import CompletionItem

    from subtitle_rag.base.config.settings import LoadedConfig, Settings
    from subtitle_rag.search.query import Query

    Completions = list[CompletionItem[str]]


def pass_runtime(verb: "Callable[..., int]") -> "Callable[..., int]":
    """Give the verb a runtime from the settings, closed when the verb ends."""

    @click.pass_obj
    @wraps(verb)
    def run(settings: "Settings", /, *args: Any, **kwargs: Any) -> int:
        from subtitle_rag.runtime import Runtime

        with Runtime(settings) as runtime:
            return verb(runtime, *args, **kwargs)

    return run


def print_outcome(verb: "Callable[..., output.Outcome | int]") -> "Callable[..., int]":
    """Add `--json`, and print the outcome that the verb returns, as JSON or as text.

    A verb that prints by itself returns its exit code instead.
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
    """Give the verb a runtime, add `--json`, and print the outcome that the verb returns."""
    return pass_runtime(print_outcome(verb))


@contextmanager
def stoppable() -> "Iterator[threading.Event]":
    """Set the event at the first Ctrl+C, and end the program at the second."""
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


# --- completions: fast and silent; they never write, and are empty if they cannot read ---


def complete_channels(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete the channels of the library."""
    from subtitle_rag.library.names import channel_names

    return completions(channel_names(_settings(ctx).paths.library), incomplete)


def complete_videos(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete video ids and, after a typed letter, titles."""
    from subtitle_rag.library.names import video_names

    names = video_names(_settings(ctx).paths.library)
    titles = [(title, id) for id, title in names] if incomplete else []
    return completions([*names, *titles], incomplete)


def complete_channels_and_videos(ctx: click.Context, param: click.Parameter, incomplete: str) -> "Completions":
    return [*complete_channels(ctx, param, incomplete), *complete_videos(ctx, param, incomplete)]


def complete_context_models(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete Ollama's models, without asking Ollama: offered, configured, or already used for contexts."""
    from subtitle_rag.library import names
    from subtitle_rag.models.manifest import context_models

    settings = _settings(ctx)
    used_names = [name for name, _about in names.context_models(settings.paths.library)]
    offered = [settings.llm.model, *settings.llm.cloud, *used_names, *(model.name for model in context_models())]
    return completions([(name, "") for name in offered], incomplete)


def complete_files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Let the shell complete files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _settings(ctx: click.Context) -> "Settings":
    return read_config(ctx).settings


def read_config(ctx: click.Context | None = None) -> "LoadedConfig":
    """Read settings and mistakes using the root command's options.

    Completions have their own click context, and the root command's callback does not run for them.
    """

    options = (ctx or click.get_current_context()).find_root().params
    return config_settings.read(options.get("home"), options.get("language"))


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether `--yes` was given or the user agrees. Raises click.UsageError without a terminal."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError(_("Without a terminal to ask on, --yes is needed."))
    return output.confirm(question)


def removal_confirmed(names: "Iterable[str]", sentence: str, *, yes: bool) -> bool:
    """Ask before removing `names`; `sentence` says how much is removed. Raises like `confirmed`."""
    question = _("{names}: {sentence} Remove?").format(names=", ".join(names), sentence=sentence)
    return confirmed(question, yes=yes)


def file_to_write(file: str, example: str, *, force: bool) -> Path:
    """Return the path of a file to write.

    Raises:
        UsageError: `is_folder`, with a file called `example` in it; `export_exists` if it exists, unless `force`.
    """
    path = Path(file).expanduser()
    if path.is_dir() or file.endswith(SEPARATORS):
        raise UsageError("is_folder", path=file, example=str(path / example))
    if not force and os.path.lexists(path):
        raise UsageError("export_exists", path=str(path))
    return path


def completions(names: "Iterable[tuple[str, str]]", prefix: str) -> "Completions":
    """Return the names with this prefix, without duplicates and names with control characters."""
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


# --- options shared by several verbs ---

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
SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))
FILE_PATH = click.Path(path_type=Path)
"""Type of a file argument."""


def pack_options(
    name: str, kind: "Callable[..., object]", *options: "Callable[..., Any]"
) -> "Callable[[Callable[..., int]], Callable[..., int]]":
    """Add options in the order of the help. The verb gets their values as one `kind`, in the argument `name`."""

    def decorate(verb: "Callable[..., int]") -> "Callable[..., int]":
        @wraps(verb)
        def run(*args: Any, **values: Any) -> int:
            packed = {field: values.pop(field) for field in signature(kind).parameters if field in values}
            return verb(*args, **{name: kind(**packed)}, **values)

        return reduce(lambda decorated, option: option(decorated), reversed(options), run)

    return decorate


class QueryCommand(click.Command):
    """Command whose argument is a query: `-word` excludes a word and is not an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments with excluded words moved after `--`."""
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
    """Query filters given as options."""

    channel: "Sequence[str]"
    video: "Sequence[str]"
    after: str | None = None
    before: str | None = None
    speaker: "Sequence[str]" = ()

    def query(self, text: str, kinds: "Sequence[str]" = ()) -> "Query":
        """Parse the text, and add these filters to its own. Raises UsageError."""
        from subtitle_rag.search.query import parse_filtered

        return parse_filtered(text, self.channel, self.video, self.after, self.before, kinds, self.speaker)


query_filters = pack_options(
    "filters",
    QueryFilters,
    channel_option,
    video_option,
    click.option("--after", metavar="DATE", help=N_("Only videos published on this day or later.")),
    click.option("--before", metavar="DATE", help=N_("Only videos published on this day or earlier.")),
    click.option(
        "--speaker", multiple=True, metavar="NAME", help=N_("Only scenes with a speaker whose name contains NAME.")
    ),
)
