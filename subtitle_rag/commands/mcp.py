"""`mcp`: the library for other assistants on this computer."""

import click

from subtitle_rag.config import Settings
from subtitle_rag.i18n import N_
from subtitle_rag.runtime import Runtime


@click.command(
    "mcp",
    help=N_("Offer search, ask, transcript and library to other assistants, by the Model Context Protocol on stdio."),
)
@click.pass_obj
def mcp_(settings: Settings) -> int:
    from subtitle_rag import mcp_server

    with Runtime(settings) as runtime:
        mcp_server.serve(runtime)
    return 0
