"""`self add`: extras from the command line."""

from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

import pytest

from subtitle_rag.base.installation import extras
from subtitle_rag.base.installation.extras import MCP
from tests.base.installation.conftest import declared, environment, index
from tests.base.installation.environments import installed, site
from tests.stand_ins.packages import Index, wheel
from tests.support.commandline import Run

__all__ = ["declared", "environment", "index"]


@pytest.fixture
def here(environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program runs in that environment, where the extra `mcp` is not yet."""
    place = [str(site(environment))]
    monkeypatch.syspath_prepend(place[0])
    monkeypatch.setattr(
        extras, "find_spec", lambda name: PathFinder.find_spec(name, place) if name in MCP.modules else find_spec(name)
    )
    return environment


@pytest.mark.campaign(part="wheel")
@pytest.mark.programs("lsb_release", "rustc")
def test_an_extra_is_added_and_a_restart_is_told(run: Run, here: Path, index: Index) -> None:
    index.push(wheel("mcp", "2.4", ["anyio", "pydantic", "mcp-types"]), wheel("mcp-types", "2.4"))
    added = run("self", "add", "mcp")
    assert (added.code, added.out) == (0, "The extra mcp is installed. Restart subtitle-rag where it is open.\n")
    assert added.err.startswith("About 30 MB for the extra mcp.\n")
    assert "Collecting pydantic" in added.err
    assert "mcp==2.4" in installed(here)
    again = run("self", "add", "mcp", "--json")
    assert (again.err, again.result) == ("", {"extra": "mcp"})


def test_where_others_look_after_it_the_line_is_told(run: Run, here: Path) -> None:
    (here / "pipx_metadata.json").touch()
    refused = run("self", "add", "mcp")
    assert refused.code == 1
    assert "cannot install packages by itself" in refused.err
    assert "pipx inject environment 'mcp>=2.3,<3'" in refused.err


@pytest.mark.parametrize("arguments", [("add", "all"), ("add", "nothing"), ("update", "yt-dlp"), ("add",)])
def test_what_does_not_exist_is_a_wrong_request(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("self", *arguments).code == 2
