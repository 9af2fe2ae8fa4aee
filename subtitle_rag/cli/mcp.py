"""`mcp`: the library for other assistants on this computer."""

from typing import TYPE_CHECKING

import click

from subtitle_rag.cli.options import pass_runtime

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


@click.command("mcp")
@pass_runtime
def mcp_(runtime: "Runtime") -> int:
    from subtitle_rag import mcp_server

    mcp_server.serve(runtime)
    return 0
