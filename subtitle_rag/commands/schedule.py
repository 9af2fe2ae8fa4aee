"""`sync --schedule`: shows what the system's scheduler gets, asks, and changes it."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from subtitle_rag import desktop, output, scheduling
from subtitle_rag.commands.options import confirmed, named_home
from subtitle_rag.i18n import _
from subtitle_rag.platforms import command_line

if TYPE_CHECKING:
    from subtitle_rag.scheduling import Change, Interval


def schedule(interval: "Interval | None", *, yes: bool) -> output.Outcome:
    """Have `sync` run regularly; None takes the schedule away.

    Raises:
        UsageError: `no_scheduler`, `foreign_file`, `unwritable`.
        AppError: `schedule_failed`.
    """
    home = named_home(click.get_current_context())
    command = [*desktop.start_command(sys.argv[0]), *(["--home", home] if home else []), "sync", "--no-wait"]
    scheduler = scheduling.scheduler()
    change = scheduler.addition(interval, command) if interval else scheduler.removal()
    if change is None:
        return _outcome(None, None, _("There is no schedule of subtitle-rag."))
    for line in _change_lines(change):
        output.say(line)
    if not confirmed(_("Change this?"), yes=yes):
        return _outcome(None, None, _("Nothing was changed."))
    scheduling.apply(change)
    sentences = {
        "daily": _("New videos of what is followed are fetched every day."),
        "weekly": _("New videos of what is followed are fetched every week."),
    }
    sentence = sentences[interval] if interval else _("New videos are no longer fetched by themselves.")
    return _outcome(interval, change, sentence)


def _outcome(interval: "Interval | None", change: "Change | None", sentence: str) -> output.Outcome:
    result = {
        "schedule": interval,
        "scheduler": change.scheduler if change else None,
        "written": [str(path) for path, text in change.files.items() if text] if change else [],
        "deleted": [str(path) for path, text in change.files.items() if not text] if change else [],
    }
    return output.Outcome(result, notes=[sentence])


def _change_lines(change: "Change") -> Iterator[str]:
    yield from map(_command_line, change.stops)
    for path, text in change.files.items():
        yield (_("{path} will be:") if text else _("{path} will be deleted.")).format(path=path)
        yield from (f"  {line}" for line in text.splitlines())
    if change.crontab is not None:
        yield _("Your crontab will be:")
        yield from (f"  {line}" for line in change.crontab.splitlines())
    yield from map(_command_line, change.commands)


def _command_line(command: Sequence[str]) -> str:
    return _("This will be run: {command}").format(command=command_line(command))
