"""The exported page in a real Chromium, opened as a local file."""

import asyncio
from pathlib import Path

import pytest

from subtitle_rag.domain import Cue, Video
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.exporting.html_page import html_page
from tests.web.browser import STARTING_S, Tab, tab

pytestmark = [
    pytest.mark.campaign(part="browser"),
    pytest.mark.programs("chromium", "chromium-browser", "google-chrome"),
]
ATTACK = '<script>document.title="taken"</script><img src="https://evil.invalid/x" onerror="document.title=1">'


def scene(id: str, title: str, line: str) -> ExportedScene:
    video = Video(id, title, "channel", f"느린 부엌 {ATTACK}", f"https://youtu.be/{id}")
    return ExportedScene(video, 0, 5000, 0, (Cue(0, 5000, line),), note=ATTACK)


async def evaluated(page: Tab, expression: str) -> object:
    answer = await page.ask("Runtime.evaluate", expression=expression, returnByValue=True)
    return answer["result"].get("value")


async def shown(page: Tab) -> object:
    return await evaluated(
        page, "[...document.querySelectorAll('article')].filter(a => a.offsetParent).map(a => a.innerText).join('|')"
    )


async def test_the_page_searches_itself_and_asks_nothing_of_the_network(tmp_path: Path) -> None:
    path = tmp_path / "장면.html"
    scenes = [scene("aaaaaaaaaaa", "국수 편", "국수를 삶아요"), scene("bbbbbbbbbbb", "만두 편", "Python 만두를 빚어요")]
    path.write_text(html_page(scenes, f"모음 {ATTACK}"), encoding="utf-8")
    async with tab() as page:
        await page.open(path.as_uri())
        async with asyncio.timeout(STARTING_S):
            while await evaluated(page, "document.readyState") != "complete":
                pass
        assert await evaluated(page, "document.getElementById('count').textContent") == "2 / 2"
        assert await evaluated(page, "document.querySelectorAll('img').length") == 0
        assert str(await evaluated(page, "document.title")).startswith("모음 <script>")

        await evaluated(page, "document.getElementById('query').focus()")
        await page.type("만두 python")
        assert await evaluated(page, "document.getElementById('count').textContent") == "1 / 2"
        text = str(await shown(page))
        assert "Python 만두를 빚어요" in text
        assert "국수를" not in text
        href = await evaluated(page, "document.querySelector('section:not([hidden]) .time a').href")
        assert href == "https://youtu.be/bbbbbbbbbbb?t=0"

        assert await evaluated(page, "getComputedStyle(document.querySelector('.bar')).position") == "sticky"
        assert page.requests == [path.as_uri()]


async def marked(page: Tab) -> object:
    return await evaluated(page, "[...document.querySelectorAll('mark')].map(each => each.textContent).join('|')")


async def searched(page: Tab, query: str) -> object:
    await evaluated(page, "field.value = ''; field.dispatchEvent(new Event('input'))")
    await page.type(query)
    return await evaluated(page, "document.getElementById('count').textContent")


async def test_words_are_found_where_they_begin_and_marked(tmp_path: Path) -> None:
    path = tmp_path / "장면.html"
    lines = ("소스를 찍어요 (A+B)", "리소스를 늘려요", "양념치킨을 먹어요", f"소스 {ATTACK} 소스")
    path.write_text(
        html_page([scene(f"{n}" * 11, "영상", line) for n, line in enumerate(lines)], "모음"), encoding="utf-8"
    )
    async with tab() as page:
        await page.open(path.as_uri())
        async with asyncio.timeout(STARTING_S):
            while await evaluated(page, "document.readyState") != "complete":
                pass
        await evaluated(page, "document.getElementById('query').focus()")
        assert await searched(page, "소스") == "2 / 4"
        assert await marked(page) == "소스|소스|소스"
        assert await searched(page, "치킨") == "1 / 4"  # it begins no word
        assert await marked(page) == "치킨"
        assert await searched(page, "(a+b)") == "1 / 4"
        assert await marked(page) == "(A+B)"
        await page.press("Enter", 13)
        assert await searched(page, "") == "4 / 4"
        assert await evaluated(page, "document.querySelectorAll('mark, img').length") == 0
        assert ATTACK in str(await shown(page))
