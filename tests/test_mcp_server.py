"""The MCP server, asked by the SDK's own client: in memory, and as the process that assistants start."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent

from subtitle_rag import mcp_server
from subtitle_rag.base.config.settings import load
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.installation.extras import MCP
from subtitle_rag.base.installation.package_installer import install_steps
from subtitle_rag.cli import main as cli
from subtitle_rag.runtime import Runtime
from tests.answers.model import quoting
from tests.stand_ins.ollama import Model, StandIn
from tests.support.invented import dump, end_hosts

SAMPLE = Path(cli.__file__).parents[1] / "sample"
NAME = "answer:q4"
TOOLS = {"search", "ask", "transcript", "library"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds the sample library, for tests to copy."""
    home = tmp_path_factory.mktemp("mcp") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
        assert cli.run(["--home", str(home), "index", str(SAMPLE), "--no-contexts"]) == 0
    end_hosts([home / "data" / "index"])
    (home / "config.toml").write_text(f'[llm]\nmodel = "{NAME}"\n')
    return home


@pytest.fixture
def home(made: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    shutil.copytree(made, isolated_home, dirs_exist_ok=True)
    yield isolated_home
    end_hosts([isolated_home / "data" / "index"])


@pytest.fixture
def ollama(ollama_server: StandIn) -> StandIn:
    ollama_server.add(Model(NAME, behaviour=quoting))
    return ollama_server


@pytest.fixture
def server(home: Path) -> Iterator[MCPServer[Any]]:
    with Runtime(load()) as runtime:
        yield mcp_server.build(runtime)


async def result(server: MCPServer[Any] | StdioServerParameters, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool returns, as a client has it that reads structure, and as one has it that reads text."""
    async with Client(server) as client:
        answer = await client.call_tool(tool, arguments)
    assert isinstance(answer, CallToolResult)
    assert not answer.is_error, answer.content
    told: dict[str, Any] = answer.structured_content or {}
    (text,) = answer.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == told
    return told


async def refusal(server: MCPServer[Any] | StdioServerParameters, tool: str, **arguments: Any) -> str:
    async with Client(server) as client:
        answer = await client.call_tool(tool, arguments)
    assert isinstance(answer, CallToolResult)
    assert answer.is_error
    (text,) = answer.content
    assert isinstance(text, TextContent)
    return text.text


async def test_the_tools_say_what_they_do_and_that_they_only_read(server: MCPServer[Any]) -> None:
    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        instructions = client.instructions
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.description
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
        assert all(one.get("description") for one in tool.input_schema["properties"].values())
    assert tools["search"].input_schema["required"] == ["query"]
    assert "not to be followed" in (instructions or "")


async def test_search_says_how_many_windows_wait_for_the_index(server: MCPServer[Any], home: Path) -> None:
    assert (await result(server, "search", query="배추"))["waiting"] == 0
    with closing(sqlite3.connect(home / "data" / "library.db")) as db, db:
        db.execute("DELETE FROM indexed WHERE window_id IN (SELECT window_id FROM indexed LIMIT 2)")
    assert (await result(server, "search", query="배추"))["waiting"] == 2


@pytest.mark.campaign(part="flows")
async def test_search_finds_scenes_with_links(server: MCPServer[Any]) -> None:
    told = await result(server, "search", query="배추 40포기 김장", limit=3)
    assert len(told["scenes"]) == 3
    assert told["more"]
    scene = told["scenes"][0]
    assert list(scene) == ["sentence", "scene", "video", "start", "end", "at", "url", "text", "context", "copies"]
    assert scene["copies"] == []
    assert "**김장**" in scene["sentence"]
    assert scene["video"]["id"] == "sample-0009"
    assert scene["url"].startswith("https://youtu.be/sample-0009?t=")
    narrow = await result(server, "search", query="할머니", video="sample-0003")
    assert {one["video"]["id"] for one in narrow["scenes"]} == {"sample-0003"}
    later = await result(server, "search", query="할머니", after="2024-10-20")
    assert {one["video"]["published"] >= "2024-10-20" for one in later["scenes"]} == {True}
    assert (await result(server, "search", query="할머니", kind="라이브"))["scenes"] == []  # of files it is not known


async def test_ask_answers_with_citations_and_keeps_nothing(
    ollama: StandIn, server: MCPServer[Any], home: Path
) -> None:
    before = dump(home / "data" / "library.db")
    told = await result(server, "ask", question="김장 배추 몇 포기 했어?")
    assert told["answer"].endswith("].")
    (citation,) = told["citations"]
    assert citation["status"] == "supported"
    assert told["scenes"][citation["number"] - 1]["video"]["id"] == "sample-0009"
    assert told["note"] is None
    after = dump(home / "data" / "library.db")
    assert after.pop("setting") != before.pop("setting")  # how the model counts was learned
    assert after == before


async def test_without_a_model_ask_gives_the_scenes(server: MCPServer[Any]) -> None:
    told = await result(server, "ask", question="김장 배추 몇 포기 했어?")
    assert told["answer"] is None
    assert "No Ollama is set" in told["note"]
    assert told["scenes"]


async def test_a_transcript_comes_line_by_line_and_in_parts(
    server: MCPServer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await result(server, "transcript", video="sample-0009")
    assert whole["video"]["id"] == "sample-0009"
    assert whole["next"] is None
    part = await result(server, "transcript", video="sample-0009", start="1:00", end="1:30")
    assert part["lines"] == [line for line in whole["lines"] if line["at"][:2] == "1:" and line["at"] < "1:30"]
    assert await result(server, "transcript", video="sample-0009", start="", end="") == whole
    monkeypatch.setattr(mcp_server, "LINES", 10)
    lines, start = [], "0:00"
    while start:
        some = await result(server, "transcript", video="sample-0009", start=start)
        lines += some["lines"]
        start = some["next"]
        assert len(some["lines"]) <= 10
    texts = [line["text"] for line in lines]
    assert sorted(set(texts)) == sorted({line["text"] for line in whole["lines"]})


def test_a_transcript_ends_before_the_line_that_begins_at_its_end(home: Path) -> None:
    with Runtime(load()) as runtime:
        starts = [line.start_ms for window in runtime.library.windows_of("sample-0009") for line in window.lines]
        part = partial(mcp_server.transcript_part, runtime.library, "sample-0009")
        whole = part(0, None)["lines"]
        assert part(0, starts[5])["lines"] == whole[:5]
        assert part(starts[5], starts[6])["lines"] == whole[5:6]


async def test_the_library_lists_its_videos(server: MCPServer[Any]) -> None:
    told = await result(server, "library")
    assert len(told["videos"]) == told["count"] == 9
    assert told["next"] is None
    assert told["searchable"] == told["windows"] == 75


async def test_the_library_is_read_page_by_page(server: MCPServer[Any]) -> None:
    whole = (await result(server, "library"))["videos"]
    pages: list[list[dict[str, Any]]] = []
    start: dict[str, str] = {}
    while True:
        told = await result(server, "library", limit=4, **start)
        pages.append(told["videos"])
        if told["next"] is None:
            break
        start = {"start": told["next"]}
    assert [len(page) for page in pages] == [4, 4, 1]
    assert [video for page in pages for video in page] == whole
    assert "There is no video" in await refusal(server, "library", start="no such id")


async def test_a_page_of_a_large_library_is_short(home: Path) -> None:
    with Runtime(load()) as runtime:
        with runtime.library.database.write() as db:
            for table in ("video", "window"):
                names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
                columns = [f"{name} || '-' || n" if name in ("id", "video_id") else name for name in names]
                db.execute(
                    f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600) "
                    f"INSERT INTO {table} SELECT {', '.join(columns)} FROM {table}, numbers"
                )
        told = await result(mcp_server.build(runtime), "library")
    assert told["count"] == 9 * 601
    assert len(json.dumps(told, ensure_ascii=False)) < 20_000


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search", {"query": "  "}, "nothing to search for"),
        ("search", {"query": "x", "video": "없는 영상"}, "There is no video"),
        ("search", {"query": "x", "after": "gestern"}, "not a valid date for"),
        ("search", {"query": "x", "kind": "clip"}, "no kind of video"),
        ("search", {"query": "x", "limit": 0}, "limit"),
        ("library", {"limit": 0}, "limit"),
        ("search", {}, "query"),
        ("transcript", {"video": "할머니"}, "more than one video"),
        ("transcript", {"video": "sample-0009", "start": "bald"}, "not a valid time"),
        ("ask", {"question": "x" * 5_000}, "question"),
    ],
)
async def test_what_cannot_be_done_is_told_to_the_assistant(
    server: MCPServer[Any], tool: str, arguments: dict[str, Any], words: str
) -> None:
    told = await refusal(server, tool, **arguments)
    assert words in told
    assert "Traceback" not in told


async def test_a_transcript_and_the_list_of_videos_need_no_index(home: Path) -> None:
    shutil.rmtree(home / "data" / "index")
    with Runtime(load()) as runtime:
        server = mcp_server.build(runtime)
        assert (await result(server, "transcript", video="sample-0001"))["lines"]
        assert len((await result(server, "library"))["videos"]) == 9
        assert "subtitle-rag rebuild" in await refusal(server, "search", query="치킨")


async def test_the_loss_of_the_library_and_its_copies_is_told(home: Path) -> None:
    (home / "data" / "library.db").unlink()
    shutil.rmtree(home / "data" / "backups")
    with Runtime(load()) as runtime:
        server = mcp_server.build(runtime)
        assert "library.db" in await refusal(server, "library")
        assert "library.db" in await refusal(server, "transcript", video="sample-0001")


@pytest.mark.campaign(part="flows")
def test_every_line_on_stdout_is_a_message(home: Path, ollama: StandIn) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    calls = [("search", {"query": "배추"}), ("ask", {"question": "배추 몇 포기?"}), ("transcript", {"video": "없음"})]
    sent = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(calls, start=1)
        ),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "subtitle_rag", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(one) + "\n" for one in sent))
        process.stdin.flush()
        came = [json.loads(process.stdout.readline()) for _answer in range(4)]
        process.stdin.close()
        rest = process.stdout.read()
    assert process.returncode == 0
    assert rest == ""
    assert {one["id"] for one in came} == {0, 1, 2, 3}
    assert all(one["jsonrpc"] == "2.0" for one in came)


@pytest.mark.campaign(part="flows")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it_while_a_client_is_connected(home: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with subprocess.Popen(
        [sys.executable, "-m", "subtitle_rag", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}) + "\n")
            process.stdin.flush()
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        finally:
            process.kill()


def test_without_the_sdk_it_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with Runtime(load()) as runtime, pytest.raises(AppError) as caught:
        mcp_server.build(runtime)
    assert caught.value.code == "missing_extra"
    assert caught.value.details["line"] == install_steps(MCP)
