"""`serve`: the page in a real Chromium, searched in Hangul, and whom the server answers."""

import asyncio
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from textual_serve.download_manager import DownloadManager

from subtitle_rag import web_server
from subtitle_rag.browser_page import DRIVER
from subtitle_rag.config import settings as config
from subtitle_rag.installation.extras import WEB
from subtitle_rag.installation.package_installer import install_steps
from subtitle_rag.runtime import Runtime
from tests.support.invented import alive, end_hosts
from tests.web.browser import Tab, tab

SAMPLE = Path(str(files("subtitle_rag") / "sample"))
STARTING_S = 30.0
KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS", "3"))
SEED = os.environ.get("SUBTITLE_RAG_SEED", "1")


def command(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "subtitle_rag", "--home", str(home), "--language", "ko", "serve", *arguments]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the sample indexed, and no models."""
    home = tmp_path_factory.mktemp("served")
    (home / "config.toml").write_text('[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n')
    with Runtime(config.load(home=home)) as runtime:
        list(runtime.indexer.index([SAMPLE]))
    return home


@pytest.fixture
def page(home: Path) -> Iterator[str]:
    """The address of the page, as the command prints it; the server ends well when it is interrupted."""
    environment = {**os.environ, "SUBTITLE_RAG_HOST_LINGER": "0.5"}
    with subprocess.Popen(
        command(home, "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    ) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)
            rest, told = server.communicate(timeout=STARTING_S)
    assert server.returncode == 0, told
    assert rest == ""
    assert "Traceback" not in told


@asynccontextmanager
async def app_of(page: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """The socket of a page's app, as the page opens it."""
    own = urlsplit(page)
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{page}ws?width=100&height=30", origin=f"{own.scheme}://{own.netloc}") as socket,
    ):
        yield socket


async def searched(tab: Tab, page: str, query: str) -> None:
    await tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)
    await tab.open(page)
    await tab.until(lambda: "구간 75" in tab.received and "도움말" in tab.received)
    await tab.type(query)
    await tab.until(lambda: "20+장면" in tab.received)


@pytest.mark.campaign(part="browser")
@pytest.mark.programs("sh", "chromium", "chromium-browser", "google-chrome")  # a shell starts the app
async def test_a_search_in_the_browser_finds_and_plays_a_scene(page: str) -> None:
    async with tab() as opened:
        await searched(opened, page, "소스에 찍어 먹는 치킨")
        assert "맵단짠 치킨" in opened.received
        await opened.press("Enter", 13)
        await opened.until(lambda: opened.opened)
        assert urlsplit(opened.opened[0]).hostname == "youtu.be"
        hosts = {urlsplit(address).netloc for address in opened.requests if not address.startswith("data:")}
        assert hosts == {urlsplit(page).netloc}


@pytest.mark.campaign(part="browser")
@pytest.mark.programs("sh", "chromium", "chromium-browser", "google-chrome")  # a shell starts the app
async def test_hangul_is_composed_in_a_page_that_gets_the_focus_later(page: str) -> None:
    async with tab() as opened:
        await opened.open(page)
        await opened.until(lambda: "구간 75" in opened.received)
        await opened.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        await opened.compose("ㅊ", "치")
        await opened.compose("ㅋ", "키", "킨")
        await opened.until(lambda: re.search(r"치킨 .*\d장면", opened.received, re.DOTALL))
        async with asyncio.timeout(STARTING_S):
            while not opened.opened:  # an Enter while the last syllable is being searched only searches
                await opened.press("Enter", 13)
                await asyncio.sleep(0.5)


async def test_nobody_else_is_answered(page: str) -> None:
    place = urlsplit(page)
    whole = f"http://{place.netloc}"
    async with aiohttp.ClientSession() as session:

        async def status(address: str, **headers: str) -> int:
            async with session.get(address, headers=headers) as answer:
                return answer.status

        assert await status(page) == 200
        assert await status(page, Origin=whole) == 200
        assert await status(f"{whole}/") == 404
        assert await status(f"{whole}/{'x' * 22}/") == 404
        assert await status(f"{whole}/ws") == 403
        assert await status(page, Host="rebound.example") == 403
        assert await status(page, Host="localhost:9000", Origin="http://localhost:9000") == 200
        assert await status(page, Host="localhost:9000", Origin=whole) == 403
        assert await status(page, Host="LOCALHOST", Origin="http://localhost.:80") == 200
        assert await status(page, Host="localhost@rebound.example") == 403
        assert await status(page, Origin="null") == 403
        async with session.get(page, headers={"Host": "localhost:9000"}) as answer:  # a forwarded port
            assert f'data-session-websocket-url="ws://localhost:9000{place.path}ws"' in await answer.text()
        async with session.get(page, headers={"Host": "rebound.example"}) as answer:
            assert "subtitle-rag serve" in await answer.text()
            assert place.path.strip("/") not in await answer.text()
        assert await status(page, Origin="https://elsewhere.example") == 403
        assert await status(f"{page}ws") == 403  # a browser always tells the page from which it opens a socket
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{page}ws", origin="https://elsewhere.example")
        async with session.get(page) as answer:
            assert "http:" not in answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_without_the_extra_the_command_says_how_to_get_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "textual_serve.py").write_text("raise ImportError('not here')")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}"}
    ended = subprocess.run(command(home), capture_output=True, text=True, env=environment, timeout=STARTING_S)
    assert ended.returncode == 1
    assert install_steps(WEB) in ended.stderr


@pytest.mark.programs("sh")  # a shell starts the app
def test_a_late_focus_leads_to_the_search_line_and_input_that_holds_nothing_ends_nothing(page: str) -> None:
    """A browser sends it where an input method begins a syllable anew."""
    drawn = asyncio.run(typed(page, ["focus"], ["stdin", ""], ["stdin", "물회"]))
    assert "물회" in drawn


@pytest.mark.programs("sh")  # a shell starts the app
async def test_the_app_of_a_page_ends_when_its_server_is_killed(home: Path) -> None:
    with subprocess.Popen(command(home, "--port", "0"), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        async with app_of(server.stdout.readline().strip()) as socket:
            await socket.receive_bytes()  # it has started
            log = (home / "log" / "subtitle-rag.log").read_text()
            app = int(re.findall(r" app\[(\d+)\]", log)[-1])
            server.kill()
    async with asyncio.timeout(STARTING_S):
        while alive(app):
            await asyncio.sleep(0.05)


@pytest.mark.hosts
@pytest.mark.campaign(part="kills")
@pytest.mark.programs("sh", "ps")  # a shell starts the app
def test_a_server_that_is_killed_at_any_moment_leaves_no_process(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its apps learn it from their pipes; the index host that they have started lingers and ends."""
    moments = random.Random(SEED)
    environment = {**os.environ, "SUBTITLE_RAG_HOST_LINGER": "0.5"}
    longest = 0.0
    end_hosts([home / "data" / "index"])  # those of this process
    for _number in range(KILLS):
        with subprocess.Popen(
            command(home, "--port", "0"), stdout=subprocess.PIPE, text=True, env=environment
        ) as server:
            assert server.stdout
            assert processes_of(home)
            asyncio.run(killed(server, server.stdout.readline().strip(), moments.uniform(0, 3)))
        ended = time.monotonic()
        while processes_of(home):
            assert time.monotonic() < ended + STARTING_S, processes_of(home)
            time.sleep(0.05)
        longest = max(longest, time.monotonic() - ended)
    with capsys.disabled():
        print(f"\nserve killed {KILLS} times, processes left behind 0, the last ended after {longest:.1f} s")  # noqa: T201


async def killed(server: subprocess.Popen[str], page: str, after_s: float) -> None:
    """Open two pages, type into one of them, and kill the server."""
    async with app_of(page) as socket, app_of(page):
        await asyncio.sleep(after_s)
        with suppress(ConnectionError):
            await socket.send_json(["stdin", "물회"])
        server.kill()


def processes_of(home: Path) -> list[str]:
    """Command lines of the processes that work for this home."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "command"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(home) in line]


@pytest.mark.parametrize("reason", ["stuck", "leaving"])
def test_an_app_that_is_stuck_ends_with_its_server(reason: str) -> None:
    code = f"""
import os, time
from textual.app import App
from subtitle_rag.tui import page_driver
page_driver.LEAVING_S = 0.2
class Stuck(App):
    def on_ready(self):
        os.write(1, b"ready\\n")
        time.sleep(600 * {reason == "stuck"})
    def on_unmount(self):
        time.sleep(600)
Stuck().run()
"""
    environment = {**os.environ, "TEXTUAL_DRIVER": DRIVER}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as app:
        assert app.stdout
        assert app.stdin
        while b"ready" not in app.stdout.readline():
            """Begin once it runs."""
        app.stdin.close()
        try:
            app.stdout.read()  # until it ends
            assert app.wait(STARTING_S) == 1
        finally:
            app.kill()


@pytest.mark.programs("sh")
async def test_an_app_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "SHUTDOWN_S", 0.1)
    code = "import time; print('__GANGLION__', flush=True); time.sleep(600)"

    async def nothing(*_given: object) -> None:
        """Stands for the page."""

    app = web_server._app_process()(
        f"exec {shlex.join([sys.executable, '-c', code])}",
        write_bytes=nothing,
        write_str=nothing,
        close=nothing,
        download_manager=DownloadManager(),
    )
    await app.start(80, 24)
    await app.stop()
    assert app._process
    assert app._process.returncode == -signal.SIGKILL


async def typed(page: str, *packets: list[str]) -> str:
    """Send these packets to the app of a new page; return its drawing once that shows the text of the last one."""
    drawn = b""
    async with app_of(page) as socket, asyncio.timeout(STARTING_S):
        while "구간 75".encode() not in drawn:
            drawn += await socket.receive_bytes()
        drawn = b""
        for packet in packets:
            await socket.send_json(packet)
        while packets[-1][-1].encode() not in drawn:
            drawn += await socket.receive_bytes()
    return drawn.decode("utf-8", "replace")


@pytest.mark.programs("sh")  # a shell starts the app
async def test_a_page_shows_the_sample_and_the_users_library_again(page: str) -> None:
    """Ctrl+D opens the other library in the same process: the page stays, and takes keys."""
    async with app_of(page) as socket, asyncio.timeout(3 * STARTING_S):  # for three apps
        screen = b""

        async def drawn(words: str) -> None:
            nonlocal screen
            while words.encode() not in screen:
                message = await socket.receive()
                assert message.type is aiohttp.WSMsgType.BINARY, message
                screen += message.data
            screen = screen.partition(words.encode())[2]

        await drawn("구간 75")
        await socket.send_json(["stdin", "\x1bOS"])  # the library
        await drawn("채널 1 ·")
        for mark in ("예제 보관함", "보관함을 여는 중"):
            screen = b""
            await socket.send_json(["stdin", "\x04"])
            await drawn(mark)
            await drawn("구간 75")
        await socket.send_json(["stdin", "물회"])
        await drawn("물회")
