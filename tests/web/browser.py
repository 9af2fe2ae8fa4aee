"""Chromium without a window, spoken to by the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/)."""

import asyncio
import base64
import codecs
import os
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.hermetic import program

CHROMIUM = program("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,800",
    "--remote-debugging-port=0",
)
STARTING_S = 30.0
STEERING = re.compile(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")


class Tab:
    """One page: what it has asked the network for, what its socket has received, and what it opened."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.requests: list[str] = []
        self.opened: list[str] = []
        self.received = ""
        """What the app wrote to its terminal, without what steers one."""

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        return await asyncio.wait_for(answer, STARTING_S)

    async def listen(self) -> None:
        async for message in self._socket:
            told = message.json()
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told.get("result", told))
            else:
                self._take(told["method"], told["params"])

    def _take(self, method: str, told: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(told["url"])
        elif method == "Page.windowOpen":
            self.opened.append(told["url"])
        elif method == "Network.webSocketFrameReceived" and told["response"]["opcode"] == 2:
            self.received += STEERING.sub("", self._decode(base64.b64decode(told["response"]["payloadData"])))

    async def open(self, address: str) -> None:
        for domain in ("Network", "Page"):
            await self.ask(f"{domain}.enable")
        await self.ask("Page.navigate", url=address)

    async def type(self, text: str) -> None:
        """As an input method commits it."""
        for letter in text:
            await self.ask("Input.insertText", text=letter)

    async def compose(self, *stages: str) -> None:
        """Write one syllable as an input method does: each stage replaces the one before, the last is committed."""
        for stage in stages:
            await self.ask("Input.imeSetComposition", text=stage, selectionStart=len(stage), selectionEnd=len(stage))
        await self.ask("Input.insertText", text=stages[-1])

    async def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            await self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    async def picture(self) -> bytes:
        return base64.b64decode((await self.ask("Page.captureScreenshot"))["data"])

    async def until(self, holds: Callable[[], object], seconds: float = STARTING_S) -> None:
        async with asyncio.timeout(seconds):
            while not holds():
                await asyncio.sleep(0.05)


@asynccontextmanager
async def tab() -> AsyncIterator[Tab]:
    assert CHROMIUM, "no Chromium is installed: apt install chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = await asyncio.create_subprocess_exec(
            CHROMIUM,
            *ARGUMENTS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            async with aiohttp.ClientSession() as session:
                address = await _page(session, await _port(Path(profile)))
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    found = Tab(socket)
                    listening = asyncio.create_task(found.listen())
                    yield found
                    listening.cancel()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(browser.pid, 9)
            await browser.wait()


async def _port(profile: Path) -> int:
    async with asyncio.timeout(STARTING_S):
        while True:
            with suppress(FileNotFoundError, IndexError, ValueError):
                return int((profile / "DevToolsActivePort").read_text().split("\n")[0])
            await asyncio.sleep(0.05)


async def _page(session: aiohttp.ClientSession, port: int) -> str:
    async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
        targets = await answer.json()
    return next(str(target["webSocketDebuggerUrl"]) for target in targets if target["type"] == "page")
