"""Text from outside on a terminal: one function shows it, and nothing is written around it."""

import ast
from pathlib import Path

import pytest
from rich.cells import cell_len

import subtitle_rag
from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.terminal_text import MARKS, fitting_text, line_text, terminal_text
from tests.support.commandline import ran
from tests.support.sources import tree

ROOT = Path(subtitle_rag.__file__).parent
HOSTILE = "a\x1b]0;x\x07b\x1b[2Jc\u202etxt.exe\u2066\x9b31m"
OBEYED = set("\x1b\x07\x9b\u202e\u2066\r\x00")
WRITERS = {"print", "echo", "secho", "write", "confirm", "prompt", "print_json"}
ELSEWHERE = {
    ("cli/ask.py", "write"): "the prompt, a constant",
    ("evaluation/verbs/make_questions.py", "prompt"): "keys that are constants, and a question of the user's own",
    ("evaluation/report.py", "print"): "into a picture",
    ("base/log_file.py", "write"): "a sentence of the program's own about a process, from below `output`",
    ("models/neural/device.py", "write"): "JSON of a process that looks, for the one that asked",
}
STREAMS = {"sys.stdout", "sys.stderr", "console", "click"}


def test_what_a_terminal_obeys_is_replaced_and_our_marks_stay() -> None:
    assert not OBEYED & set(terminal_text(HOSTILE))
    assert terminal_text(f"가\n\t나{MARKS[0]}다{MARKS[2]}") == f"가\n\t나{MARKS[0]}다{MARKS[2]}"
    assert line_text("a\nb\tc\r\x1b[4m") == "a b c ·[4m"


def test_the_writers_of_output_show_outside_text(capsys: pytest.CaptureFixture[str]) -> None:
    for write in (output.data, output.piece, output.say):
        write(HOSTILE)
        written = "".join(capsys.readouterr())
        assert "txt.exe" in written
        assert not OBEYED & set(written)


def test_a_failure_is_one_line_whatever_its_details_hold() -> None:
    error = CaptionError("unreadable", path=Path(f"{HOSTILE}\n! all is well"), reason="x\ny")
    assert "\n" not in error.message
    assert not OBEYED & set(error.message)


@pytest.mark.xdist_group("sources")
def test_nothing_writes_around_the_writers_of_output() -> None:
    """Walk the code: who writes to a stream is `output`, or stands in the list above with a reason."""
    strays = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("tui/") or name == "base/output.py":
            continue
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            stream, _dot, verb = called.rpartition(".")
            if verb in WRITERS and (stream in STREAMS or called == "print") and (name, verb) not in ELSEWHERE:
                strays.append(f"{name}:{node.lineno} {called}")
    assert strays == []


def test_output_writes_nothing_but_shown_text() -> None:
    written = [
        ast.unparse(node.args[0])
        for node in ast.walk(tree(ROOT / "base/output.py"))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sys.stdout.write", "sys.stderr.write")
    ]
    assert len(written) == 3
    assert all(text.startswith("terminal_text(") for text in written)


@pytest.mark.skipif("sys.platform == 'win32'", reason="names without such characters")
def test_a_hostile_file_name_reaches_no_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "captions"
    folder.mkdir()
    name = "a\x1b]0;x\x07\u202e\n! all is well"
    (folder / f"{name}.srt").write_text("no captions")
    (folder / f"{name} b.srt").write_text("1\n00:00:01,000 --> 00:00:09,000\n코뿔소를 만났어요\n", encoding="utf-8")
    for arguments in (["index", folder], ["status"], ["search", "코뿔소"], ["list"]):
        said = ran(capsys, *arguments)
        assert not OBEYED & set(said.out + said.err), arguments
        assert "\n! all is well" not in said.out + said.err, arguments


@pytest.mark.parametrize(("cells", "text"), [(21, "구간 9,412  초당 2.1"), (19, "구간 9,412"), (3, "구간 9,412")])
def test_parts_fit_whole_or_stay_away(cells: int, text: str) -> None:
    assert fitting_text(["구간 9,412", "초당 2.1", "ax"], cells, cell_len) == text
