"""`mcp`: the library for other assistants on this computer."""

import click

from subtitle_rag.commands.options import pass_runtime
from subtitle_rag.i18n import N_
from subtitle_rag.runtime import Runtime


@click.command(
    "mcp",
    help=N_("Offer search, ask, transcript and library to other assistants, by the Model Context Protocol on stdio."),
)
@pass_runtime
def mcp_(runtime: Runtime) -> int:
    from subtitle_rag import mcp_server

    mcp_server.serve(runtime)
    return 0
