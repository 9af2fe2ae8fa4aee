"""`serve`, `mcp`: the app for browsers, the library for other assistants on this computer."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from subtitle_rag import output
from subtitle_rag.commands.options import pass_runtime
from subtitle_rag.i18n import N_, _

if TYPE_CHECKING:
    from subtitle_rag.config import Settings
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.web_place import ListenAddress


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help=N_("0 picks a free port."))
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help=N_("With another of this computer's addresses, others can reach the app."),
)
@click.pass_context
def serve_(ctx: click.Context, host: str, port: int) -> int:
    from subtitle_rag import web_server

    settings: Settings = ctx.obj
    frame_options = ctx.find_root().params
    arguments = ["--language", settings.language]
    if frame_options["home"]:
        arguments = ["--home", str(settings.paths.config.parent), *arguments]
    if frame_options["debug"]:
        arguments = ["--debug", *arguments]

    def started(address: str, listen_address: "ListenAddress") -> None:
        if not listen_address.is_loopback:
            output.say(_("Anyone who knows this address can use the app, and the connection is not encrypted."))
        output.data(address)
        if listen_address.is_any:
            output.say(
                _("From elsewhere, with this computer's address in the place of {name}.").format(
                    name=urlsplit(address).hostname
                )
            )
        output.say(_("Ctrl+C ends it."))

    web_server.serve(arguments, host=host, port=port, started=started)
    return 0


@click.command("mcp")
@pass_runtime
def mcp_(runtime: "Runtime") -> int:
    from subtitle_rag import mcp_server

    mcp_server.serve(runtime)
    return 0
