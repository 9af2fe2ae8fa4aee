"""`self`: extras added and yt-dlp updated from the command line."""

from importlib.machinery import PathFinder
from importlib.util import find_spec

import pytest

from subtitle_rag.installation import extras, package_installer as installing
from subtitle_rag.installation.environment import Environment
from subtitle_rag.installation.extras import WEB
from tests.installation.conftest import declared, environment, index, prompt
from tests.installation.environments import installed, put, site
from tests.stand_ins.packages import Index, wheel
from tests.support.commandline import Run

__all__ = ["declared", "environment", "index", "prompt"]


@pytest.fixture
def here(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """The program runs in that environment, where the extra `web` is not yet."""
    monkeypatch.setattr(installing, "current_environment", lambda: environment)
    monkeypatch.setattr(extras, "_complete", set())
    place = [str(site(environment.prefix))]
    monkeypatch.setattr(
        extras, "find_spec", lambda name: PathFinder.find_spec(name, place) if name in WEB.modules else find_spec(name)
    )
    return environment


@pytest.mark.campaign(part="wheel")
def test_an_extra_is_added_and_said_to_be_here(run: Run, here: Environment, index: Index) -> None:
    index.push(wheel("textual-serve", "1.1.4", ["aiohttp"]))
    added = run("self", "add", "web")
    assert (added.code, added.out) == (0, "The extra web is installed.\n")
    assert added.err.startswith("About 17 MB for the extra web.\n")
    assert installed(here.prefix) == {"textual_serve==1.1.4", "aiohttp==3.14.5"}
    again = run("self", "add", "web", "--json")
    assert (again.err, again.result) == ("", {"extra": "web", "packages": []})


@pytest.mark.campaign(part="wheel")
def test_json_tells_what_was_brought(run: Run, here: Environment, index: Index) -> None:
    index.push(wheel("textual-serve", "1.1.4", ["aiohttp"]))
    put(here.prefix, wheel("aiohttp", "3.1"))
    assert run("self", "add", "web", "--json").result == {"extra": "web", "packages": ["textual-serve 1.1.4"]}


def test_where_it_is_refused_the_line_is_told(run: Run, here: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = Environment("uvx", here.prefix, here.python, uses_uv=True)
    monkeypatch.setattr(installing, "current_environment", lambda: passing)
    refused = run("self", "add", "web")
    assert refused.code == 1
    assert "cannot install packages by itself" in refused.err
    assert "uvx --from 'subtitle-rag[web]' subtitle-rag" in refused.err
    assert run("self", "update", "yt-dlp").code == 1


@pytest.mark.parametrize("arguments", [("add", "all"), ("add", "nothing"), ("update", "rich"), ("add",)])
def test_what_does_not_exist_is_a_wrong_request(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("self", *arguments).code == 2


@pytest.mark.campaign(part="flows")
def test_yt_dlp_is_updated_and_what_came_is_told(
    run: Run, here: Environment, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(site(here.prefix))
    put(here.prefix, wheel("yt-dlp", "2026.1.1"))
    index.push(wheel("yt-dlp", "2026.11.2"))
    updated = run("self", "update", "yt-dlp", "--json")
    assert updated.result == {"package": "yt-dlp", "before": "2026.1.1", "version": "2026.11.2"}
    assert run("self", "update", "yt-dlp").out == "yt-dlp 2026.11.2 is the newest.\n"
