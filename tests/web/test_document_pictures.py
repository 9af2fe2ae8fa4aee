"""The pictures of the documents in a real Chromium: every text fills its cells, and the film plays in an `<img>`."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser import STARTING_S, Tab, tab

ROOT = Path(__file__).resolve().parents[2]
PICTURES = sorted((ROOT / "docs").glob("*.svg"))
EXTENTS = """JSON.stringify([...document.querySelectorAll('text')].map(text => {
    const last = text.getNumberOfChars() - 1, box = text.getExtentOfChar(last);
    return {text: text.textContent, shown: getComputedStyle(text).visibility === 'visible', y: text.y.baseVal[0].value,
            x: text.x.baseVal[0].value, cells: Number(text.getAttribute('textLength')),
            left: text.getExtentOfChar(0).x, right: box.x + box.width};
}))"""
AT = "document.getAnimations().forEach(moving => {{ moving.pause(); moving.currentTime = {milliseconds}; }})"
TOLERANCE = 1.0

pytestmark = [
    pytest.mark.campaign(part="browser"),
    pytest.mark.programs("chromium", "chromium-browser", "google-chrome"),
]


async def evaluated(opened: Tab, expression: str) -> Any:
    answer = await opened.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


async def loaded(opened: Tab, address: str) -> None:
    await opened.open(address)
    await evaluated(opened, "new Promise(done => document.readyState === 'complete' ? done() : onload = () => done())")


async def extents(opened: Tab) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(await evaluated(opened, EXTENTS))
    return found


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
async def test_every_text_fills_its_cells_and_none_covers_another(picture: Path) -> None:
    async with tab() as opened:
        await loaded(opened, picture.as_uri())
        texts = await extents(opened)
        assert len(texts) > 100
        wrong = [
            text
            for text in texts
            if max(abs(text["left"] - text["x"]), abs(text["right"] - text["x"] - text["cells"])) > TOLERANCE
        ]
        assert wrong == []
        moments = range(0, 12_000, 250) if "keyframes" in picture.read_text(encoding="utf-8") else range(1)
        for milliseconds in moments:
            await evaluated(opened, AT.format(milliseconds=milliseconds))
            shown = sorted(
                (text for text in await extents(opened) if text["shown"]), key=lambda text: (text["y"], text["x"])
            )
            assert len(shown) > 20
            assert [
                (before, after)
                for before, after in zip(shown, shown[1:], strict=False)
                if before["y"] == after["y"] and before["right"] > after["left"] + TOLERANCE
            ] == []


async def test_the_film_moves_in_an_img_and_asks_for_nothing(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    film = base64.b64encode((ROOT / "docs" / "demo.svg").read_bytes()).decode()
    page.write_text(f'<img width="1200" src="data:image/svg+xml;base64,{film}">')
    async with tab() as opened:
        await loaded(opened, page.as_uri())
        seen: set[bytes] = set()

        async def moves() -> bool:
            seen.add(await opened.picture())
            return len(seen) > 3

        async with asyncio.timeout(STARTING_S):
            while not await moves():
                pass
        assert [address for address in opened.requests if not address.startswith(("file:", "data:"))] == []
