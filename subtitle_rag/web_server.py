"""The app in a browser: every open page runs an app of its own, on the same library.

The only importer of `textual_serve` and `aiohttp`. A visitor of the page can use the whole app. So its address has a
random key, and the server answers only to host names that no other site can take, and to its own pages: no other web
site can speak to it from the user's browser. The page loads nothing from elsewhere; the one of `textual_serve` asks a
font service.
"""

import asyncio
import hmac
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.browser_page import DRIVER
from subtitle_rag.i18n import _
from subtitle_rag.installation import WEB, missing_extra
from subtitle_rag.platforms import command_line
from subtitle_rag.redaction import register_secret
from subtitle_rag.web_place import ListenAddress, is_same_origin, listen

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Middleware
    from textual_serve.app_service import AppService

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PAGE = Path(__file__).with_name("web_page")
NAME = "subtitle-rag"
SHUTDOWN_S = 3.0
"""Timeout for a page and its app when the server ends."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The terminal in the page sets its own styles; opened links do not get the key."""


def serve(arguments: Sequence[str], *, host: str, port: int, started: Callable[[str, ListenAddress], object]) -> None:
    """Serve until SIGINT or SIGTERM. `arguments` go to the command line of each app, `started` gets the page's address.

    Port 0 takes a free one.

    Raises:
        AppError: `web_missing` without `textual_serve`, `web_address` if the address cannot be listened on.
    """
    try:
        from aiohttp import web
        from textual_serve import server as textual_server
    except ImportError as error:
        raise missing_extra(WEB) from error
    listening, listen_address, address = listen(host, port)
    key = secrets.token_urlsafe(16)
    register_secret(key)
    command = command_line([sys.executable, "-m", "subtitle_rag", *arguments])
    if sys.platform != "win32":
        command = f"exec {command}"  # replaces the shell, so that a signal stops the app itself
    textual_server.AppService = _app_process()  # type: ignore[attr-defined]  # `Server` takes no class

    class PageServer(textual_server.Server):
        """Its pages speak to the address under which the browser knows them."""

        async def handle_index(self, request: web.Request) -> web.StreamResponse:
            self.public_url = f"http://{request.host}"  # the guard has judged it
            return await super().handle_index(request)

    server = PageServer(command, listen_address.name, listen_address.port, NAME, address, templates_path=PAGE)

    stdout = sys.stdout

    async def announce(_app: web.Application) -> None:
        with redirect_stdout(stdout):
            started(f"{address}/{key}/", listen_address)

    async def application() -> web.Application:
        page = await server._make_app()
        page.router.add_static("/page", PAGE)
        page.on_startup.clear()  # it prints a banner on stdout
        page.on_startup.append(announce)
        root = web.Application(middlewares=[_guard(listen_address, key)])
        root.add_subapp(f"/{key}", page)
        return root

    with redirect_stdout(sys.stderr):  # textual_serve prints what an app left on its stderr
        web.run_app(application(), sock=listening, print=None, access_log=None, shutdown_timeout=SHUTDOWN_S)


def _app_process() -> "type[AppService]":
    from textual_serve.app_service import AppService

    class AppProcess(AppService):
        """An app whose process ends when it is stopped, even if it does not answer."""

        def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
            return super()._build_environment(width, height) | {"TEXTUAL_DRIVER": DRIVER}

        async def stop(self) -> None:
            process = self._process
            if process is None:
                return
            # not `wait_for`: the task that stops it swallows a cancellation
            leaving = {asyncio.ensure_future(super().stop()), asyncio.ensure_future(process.wait())}
            _ended, late = await asyncio.wait(leaving, timeout=SHUTDOWN_S)
            if late and process.returncode is None:
                process.kill()
            await asyncio.gather(*leaving)

    return AppProcess


def _guard(listen_address: ListenAddress, key: str) -> "Middleware":
    """Let a request pass only for an own address, with the key, and from no other site's page."""
    from aiohttp import web

    @web.middleware
    async def guard(request: web.Request, handler: "Handler") -> web.StreamResponse:
        request_key = request.path.split("/")[1]
        origin = request.headers.get("Origin")
        socket_without_origin = request.path.endswith("/ws") and "Origin" not in request.headers
        if not listen_address.answers(request.headers.get("Host", "")):
            sentence = _("This name is not answered. Open the page by the address that subtitle-rag serve has printed.")
            raise web.HTTPForbidden(text=sentence)
        if socket_without_origin or (origin is not None and not is_same_origin(origin, request.host)):
            raise web.HTTPForbidden
        if not hmac.compare_digest(request_key.encode(), key.encode()):
            sentence = _("The address ends with a key: open all of what subtitle-rag serve has printed.")
            raise web.HTTPNotFound(text=sentence)
        response = await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    return guard
