"""`mcp`: the library for other assistants on this computer."""

import click

from subtitle_rag.commands.options import pass_runtime
from subtitle_rag.runtime import Runtime


@click.command("mcp")
@pass_runtime
def mcp_(runtime: Runtime) -> int:
    from subtitle_rag import mcp_server

    mcp_server.serve(runtime)
    return 0
