"""`completion`: the script by which a shell completes subtitle-rag, and the answers for it.

The scripts and the protocol are click's. Bash alone is given a script of its own, since click's knows no names with
spaces or colons: it sends the line up to the cursor, and gets words with the quotes of that line.
"""

import os
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

from subtitle_rag import output
from subtitle_rag.commands.options import print_outcome

PROGRAM = "subtitle-rag"
VARIABLE = "_SUBTITLE_RAG_COMPLETE"
"""Set by the scripts to the name of the shell."""
LINE_VARIABLE = "_SUBTITLE_RAG_LINE"
"""Bash: the line up to the cursor."""
BREAKS_VARIABLE = "_SUBTITLE_RAG_BREAKS"
"""Bash: its separators of words besides spaces."""

_BASH = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames 2>/dev/null || true ;; # bash 3.2 has no compopt
            file) compopt -o default 2>/dev/null || true ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(_SUBTITLE_RAG_LINE="${COMP_LINE:0:COMP_POINT}" _SUBTITLE_RAG_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null)
}

complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null || complete -F %(complete_func)s %(prog_name)s
"""


class BashCompletion(BashComplete):
    """Bash, with names that hold spaces, colons and quotes."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        words = split_arg_string(self._line)
        if not words or _last_word(self._line)[0] == "":
            return words[1:], ""
        return words[1:-1], words[-1]

    @property
    def _line(self) -> str:
        return os.environ[LINE_VARIABLE]

    def format_completion(self, item: CompletionItem[str]) -> str:
        word, quote = _last_word(self._line)
        if item.type != "plain":
            return f"{item.type},"
        name, equals, _typed = word.partition("=")
        # in --channel=NAME it is NAME that is completed
        option_prefix = f"{name}=" if equals and name.startswith("--") else ""
        if quote == "'":
            return "plain," + item.value.replace("'", "'\\''")
        if quote:
            return "plain," + re.sub(r'(["\\$`])', r"\\\1", item.value)
        breaks = "".join(each for each in os.environ.get(BREAKS_VARIABLE, "") if each in ":=@")
        typed = re.split(f"[{breaks}]", word)[-1] if breaks else word
        typed_part = word[: len(word) - len(typed)].removeprefix(option_prefix)  # bash leaves it in place
        prefix = "" if "=" in breaks or typed_part else option_prefix
        with suppress(ValueError):  # the shell reads it without its quotes
            typed_part = "".join(shlex.split(typed_part))
        escaped = re.sub(r"([^\w@%+=:,./-])", r"\\\1", item.value[len(typed_part) :])
        return f"plain,{prefix}{escaped}"


def _last_word(line: str) -> tuple[str, str]:
    """Return the word at the end of the line as typed, and its open quotation mark."""
    start, quote, at = 0, "", 0
    while at < len(line):
        letter = line[at]
        if letter == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter.isspace():
            start = at + 1
        at += 1
    return line[start:], quote


SHELLS: dict[str, type[ShellComplete]] = {"bash": BashCompletion, "zsh": ZshComplete, "fish": FishComplete}


def script(shell: str, root: click.Command) -> str:
    """Return the script; click's own method starts bash to look at its version."""
    completion = SHELLS[shell](root, {}, PROGRAM, VARIABLE)
    return completion.source_template % completion.source_vars()


def answer(root: click.Command) -> int:
    """Answer the script; on any error complete nothing, silently."""
    import logging

    logging.disable()
    shell, _separator, instruction = os.environ[VARIABLE].partition("_")
    if shell not in SHELLS or instruction != "complete":
        return 1
    stderr, sys.stderr = sys.stderr, Path(os.devnull).open("w")  # noqa: SIM115 - until the process ends
    try:
        text = SHELLS[shell](root, {}, PROGRAM, VARIABLE).complete()
    except Exception:  # a shell draws any text into the typed line
        return 1
    finally:
        sys.stderr.close()
        sys.stderr = stderr
    with suppress(OSError):
        output.data(text)
        sys.stdout.flush()
    return 0


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
@print_outcome
def completion_(ctx: click.Context, shell: str) -> output.Outcome:
    text = script(shell, ctx.find_root().command)
    return output.Outcome({"shell": shell, "script": text}, [text.removesuffix("\n")])
