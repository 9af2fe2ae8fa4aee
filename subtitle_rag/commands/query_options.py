"""Options of several verbs that choose videos and models, and the query narrowed by them."""

from collections.abc import Sequence
from dataclasses import replace

import click

from subtitle_rag.commands import completing
from subtitle_rag.domain import tidy
from subtitle_rag.i18n import N_
from subtitle_rag.retrieval.query import Query, day, kind_named, parse

channel_option = click.option(
    "--channel", multiple=True, shell_complete=completing.channels, help=N_("Only channels whose name holds this.")
)
video_option = click.option(
    "--video",
    multiple=True,
    shell_complete=completing.videos,
    help=N_("Only this video: its id, or a part of its title."),
)
after_option = click.option("--after", metavar="DATE", help=N_("Only videos published on this day or later."))
before_option = click.option("--before", metavar="DATE", help=N_("Only videos published on this day or earlier."))
model_option = click.option(
    "--model",
    shell_complete=completing.context_models,
    help=N_("Use this Ollama model instead of the one in the config."),
)


def parse_query(
    text: str,
    channels: Sequence[str],
    videos: Sequence[str],
    after: str | None,
    before: str | None,
    kinds: Sequence[str] = (),
) -> Query:
    """Parse the text, and add the options' filters to its own; raises UsageError."""
    query = parse(text)
    return replace(
        query,
        channels=(*query.channels, *map(tidy, channels)),
        videos=(*query.videos, *map(tidy, videos)),
        after=query.after if after is None else day("after", after),
        before=query.before if before is None else day("before", before),
        kinds=(*query.kinds, *map(kind_named, kinds)),
    )
