"""Verbs that other packages add by entry points."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag import cli
from tests.support.commandline import ran

CODE = """
NOISE = 1

import click

@click.command("hello", help="Say hello. And more.")
@click.argument("name")
def hello(name):
    click.echo(f"hello {name}")
"""
POINTS = """[subtitle_rag.verbs]
hello = hello_verbs:hello
broken = hello_verbs:absent
noise = hello_verbs:NOISE
search = hello_verbs:hello
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another package that is installed beside the program."""
    (tmp_path / "hello_verbs.py").write_text(CODE, encoding="utf-8")
    (folder := tmp_path / "hello_verbs-1.0.dist-info").mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: hello-verbs\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("hello_verbs", None)


def test_an_added_verb_runs_and_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = ran(capsys, "hello", "world")
    assert (outcome.code, outcome.out) == (0, "hello world\n")
    lines = [line.split(None, 1) for line in ran(capsys, "--help").out.splitlines() if line.strip()]
    assert ["hello", "Say hello."] in lines


def test_a_verb_of_the_program_is_never_replaced() -> None:
    assert "search" not in cli.added_verbs()


def test_a_broken_verb_is_told_by_name_and_stops_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("broken", "noise"):
        outcome = ran(capsys, name)
        assert outcome.code == 1
        assert f"The plug-in {name} of hello-verbs cannot be used:" in outcome.err
    assert ran(capsys, "--help").code == 0
