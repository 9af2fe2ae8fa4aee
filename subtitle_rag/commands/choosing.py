"""`index` of a list: its channels in a table, and the choice among them, before anything is fetched."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands.options import pack_options, stoppable, wants_json
from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.i18n import N_, _, n_

if TYPE_CHECKING:
    from subtitle_rag.captions import AddressList, Source
    from subtitle_rag.channel_choices import ChannelChoice
    from subtitle_rag.runtime import Runtime

STDIN = "-"
MAX_STDIN = 2**25
"""Bytes that are read of it; a longer list is refused."""


@dataclass(frozen=True, slots=True)
class ChoiceOptions:
    """How `index` chooses among the channels of a list."""

    choose: str | None
    count: bool
    yes: bool


choice_options = pack_options(
    "choice",
    ChoiceOptions,
    click.option(
        "--choose",
        metavar="LIST",
        help=N_("Of a list of channels: fetch these, by number or name (1,3-5,cooking), or all of them (all)."),
    ),
    click.option("--count", is_flag=True, help=N_("Of a list of channels: ask YouTube how many videos each has.")),
    click.option(
        "--yes",
        is_flag=True,
        help=N_("Do not ask: of a list of channels, fetch all that are not followed yet; with --listen, listen."),
    ),
)


def names_list(text: str) -> bool:
    """Whether an argument is a list of channels: stdin, or a file of one."""
    from subtitle_rag.captions import is_address_list

    return text == STDIN or is_address_list(Path(text).expanduser())


def choose_sources(runtime: "Runtime", texts: Sequence[str], options: ChoiceOptions) -> "tuple[Source, ...]":
    """Return the sources that the user chooses of a list, or of the one that was left; print it where none is chosen.

    Raises:
        UsageError: those of the list, `unknown_choice`, and `no_choice` without a list.
    """
    from subtitle_rag import channel_choices
    from subtitle_rag.captions import AddressList

    library = runtime.library
    if texts:
        address_list = _read(texts)
        choices = channel_choices.begin_choice(library, address_list)
    else:
        address_list, choices = AddressList(), channel_choices.kept_choice(library)
    if not choices:
        raise UsageError("no_choice")
    refusal = None
    if options.count:
        choices, refusal = _counted(runtime, choices)
    choice = options.choose or ("all" if options.yes else "")
    if not choice or options.count:
        _print_choice(runtime, choices, address_list, refusal, is_over=bool(choice))
    if not choice and sys.stdin.isatty() and not wants_json():
        question = _("Which ones? Numbers as 1,3-5, a part of a name, or all; Enter keeps the list for later")
        choice = output.ask(question)
    if not choice:
        return ()
    return channel_choices.take_choice(library, channel_choices.choose(choices, choice))


def _read(texts: Sequence[str]) -> "AddressList":
    """Read all lists as one."""
    from subtitle_rag.captions import AddressList

    lists = [_read_one(text) for text in texts]
    entries = {each.source.url: each for listed in lists for each in listed.entries}
    other_addresses = sum(listed.others for listed in lists)
    return AddressList(tuple(entries.values()), other_addresses, any(listed.is_cut for listed in lists))


def _read_one(text: str) -> "AddressList":
    from subtitle_rag.captions import parse_address_list, read_address_list

    if text == STDIN:
        return parse_address_list(sys.stdin.buffer.read(MAX_STDIN), "stdin")
    return read_address_list(Path(text).expanduser())


def _counted(runtime: "Runtime", choices: "list[ChannelChoice]") -> "tuple[list[ChannelChoice], AppError | None]":
    """Ask YouTube for the numbers of videos that are unknown; each is kept as it comes."""
    from subtitle_rag import channel_choices

    library, settings = runtime.library, runtime.settings.youtube
    uncounted = sum(choice.videos is None for choice in choices)
    with output.progress() as bar, stoppable() as stop:
        task = bar.add_task(_("Channels"), total=uncounted)
        for counted in channel_choices.count_videos(library, settings, choices, stop):
            choices = channel_choices.with_count(choices, counted)
            channel_choices.keep_choice(library, choices)
            bar.advance(task)
            if counted.is_last:
                return choices, AppError(counted.failure, title=counted.name, reason="")
    return choices, None


def _print_choice(
    runtime: "Runtime",
    choices: "Sequence[ChannelChoice]",
    address_list: "AddressList",
    refusal: AppError | None,
    *,
    is_over: bool,
) -> None:
    """Print the list, unless it is a JSON document's, and what can be done with it."""
    if wants_json():
        return
    for line in choice_lines(runtime, choices):
        output.data(line)
    for note in _notes(runtime, choices, address_list, is_over=is_over):
        output.say(note)
    if refusal:
        output.say_error(refusal)


def choice_lines(runtime: "Runtime", choices: "Sequence[ChannelChoice]") -> Iterator[str]:
    from subtitle_rag import channel_choices
    from subtitle_rag.fetching import time_text

    settings = runtime.settings.youtube
    unknown = _("unknown")
    rows = [
        (
            str(number),
            choice.label,
            _("followed") if choice.is_followed else "",
            unknown if choice.videos is None else n_("{n} video", "{n} videos", choice.videos),
            "" if choice.videos is None else time_text(channel_choices.fetch_seconds(choice.videos, settings)),
            choice.url,
        )
        for number, choice in enumerate(choices, 1)
    ]
    return output.table(rows, right=frozenset({0, 3}))


def _notes(
    runtime: "Runtime", choices: "Sequence[ChannelChoice]", address_list: "AddressList", *, is_over: bool
) -> Iterator[str]:
    from subtitle_rag import channel_choices

    if address_list.others:
        yield n_(
            "{n} other address is left out: it names no channel, playlist or video.",
            "{n} other addresses are left out: they name no channel, playlist or video.",
            address_list.others,
        )
    if address_list.is_cut:
        yield _("The list is longer: these are its first {n}.").format(n=len(address_list.entries))
    if estimate := channel_choices.estimate(choices, runtime.settings.youtube):
        yield _("All that are counted: {estimate}").format(estimate=estimate)
    if not is_over:
        if any(choice.videos is None for choice in choices):
            yield _("Nothing is fetched yet. --count asks YouTube how many videos each has.")
        yield _("subtitle-rag index --choose 1,3-5 fetches these of the list, --yes all that are not followed.")


def choice_values(runtime: "Runtime") -> dict[str, Any]:
    """Return the list that is kept."""
    from subtitle_rag import channel_choices

    settings = runtime.settings.youtube
    return {
        "choice": [
            {
                "number": number,
                "name": choice.label,
                "kind": choice.source.kind,
                "url": choice.url,
                "followed": choice.is_followed,
                "videos": choice.videos,
                "failure": choice.failure or None,
                "seconds": None if choice.videos is None else channel_choices.fetch_seconds(choice.videos, settings),
            }
            for number, choice in enumerate(channel_choices.kept_choice(runtime.library), 1)
        ]
    }
