"""The actions of the app's own commands, and their conditions. Keys and sentences are in `commands`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from subtitle_rag.tui.text import IN_PROCESS, THROUGH_OLLAMA

if TYPE_CHECKING:
    from subtitle_rag.tui.connections import Connections


class AppCommand(NamedTuple):
    run: Callable[[], object]
    """May return an awaitable."""
    is_enabled: Callable[[], bool] = lambda: True


def app_commands(connections: "Connections") -> dict[str, AppCommand]:
    """Return the app's commands by their ids."""
    context, navigation, search = connections.context, connections.navigation, connections.search
    background, jobs, models, removals = context.background, context.jobs, context.models, context.removals

    def download_models() -> None:
        """Download missing packages and models, or stop that; ask before packages are installed."""
        if models.needs_consent and context.app.offer:
            navigation.confirm_install(
                context.app.offer, {IN_PROCESS: models.start, THROUGH_OLLAMA: models.start_through_ollama}
            )
        else:
            models.toggle()

    return {
        "app.help": AppCommand(navigation.open_help, lambda: navigation.can_open_help),
        "app.library": AppCommand(navigation.show_library, lambda: navigation.can_show_library),
        "app.checks": AppCommand(navigation.open_checks, lambda: navigation.can_open_checks),
        "app.ask": AppCommand(
            navigation.open_answers, lambda: navigation.can_open_answers and search.page.error is None
        ),
        "app.history": AppCommand(
            navigation.open_history, lambda: navigation.can_open_history and search.page.error is None
        ),
        "app.marks": AppCommand(navigation.open_marks, lambda: navigation.can_open_marks and search.page.error is None),
        "app.transcript": AppCommand(navigation.open_transcript, lambda: navigation.can_open_transcript),
        "app.overview": AppCommand(navigation.open_overview, lambda: navigation.can_open_overview),
        "app.quit": AppCommand(navigation.leave),
        "library.sample": AppCommand(navigation.switch_library, lambda: navigation.can_switch_library),
        "library.sync": AppCommand(jobs.sync, lambda: jobs.can_sync(search.page.counts) and search.page.error is None),
        "library.stop": AppCommand(jobs.stop, lambda: jobs.is_running and not navigation.in_form),
        "library.undo": AppCommand(removals.undo, lambda: removals.can_undo and navigation.allows_undo),
        "library.background": AppCommand(context.toggle_background, lambda: background.can_toggle),
        "models.fetch": AppCommand(
            download_models, lambda: models.is_running or (models.can_start and navigation.shows_offer)
        ),
        "models.dismiss": AppCommand(models.dismiss, lambda: models.can_dismiss and navigation.shows_offer),
        "packages.update": AppCommand(
            lambda: connections.updates.start(busy=jobs.busy), lambda: connections.updates.can_start
        ),
    }
