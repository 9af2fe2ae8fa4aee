"""Compares how answers fare by what the model is given: scenes reordered or not, cut to the lines that bear on the
question, condensed by the model or widened to their sections, from 3, 5, 7, 10 or 20 of them, by the configured prompt
and by those of files. Prints a table, with what each costs: tokens of the prompt, and seconds of an answer.

    scripts/bench answers QUESTIONS [--folder FOLDER] [--scenes 3,5,7,10,20] [--builders NAMES]
        [--prompt FILE]... [--model M] [--judge M]

`eval answer` answers the questions of a file once for each setting, and `eval judge` judges these answers beside
as many scenes. Answers and judgements are kept in the folder, and a run that ends early is gone on with there: other
questions or models want another folder, and a prompt file that has changed is a setting of its own. A small judge's
figures tell something only beside each other, and how much they differ by chance is not told here.
"""

import argparse
import hashlib
import io
import json
import statistics
import sys
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, numbers
from subtitle_rag import cli
from subtitle_rag.answers.answer_prompt import AnswerPrompt
from subtitle_rag.domain import UsageError

BUILDERS = ("ranked", "ordered", "lines", "condensed", "sections")
"""Those of `eval answer`; the first two differ in whether the best scenes stand at both ends."""
SCENES = (3, 5, 7, 10, 20)
MEASURES = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
COLUMNS = (
    *("prompt", "builder", "scenes", "answers", *MEASURES),
    *("citations borne out", "prompt tokens", "seconds", "not judged"),
)


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("questions", type=Path, help="a file as eval make makes it")
    parser.add_argument("--folder", type=Path, help="for answers and judgements; beside the questions by default")
    parser.add_argument("--scenes", type=numbers, default=SCENES, help="numbers with commas (3,5,7,10,20)")
    parser.add_argument(
        "--builders", type=_builders, default=BUILDERS[:2], help=f"of {', '.join(BUILDERS)}, with commas"
    )
    parser.add_argument("--model", help="the one that answers")
    parser.add_argument("--prompt", type=Path, action="append", default=[], help="a prompt file; several times")
    parser.add_argument("--judge", help="the one that judges")
    options = parser.parse_args()
    folder = options.folder or options.questions.with_name(f"{options.questions.stem}.compared")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    try:
        for prompt in options.prompt:
            AnswerPrompt.read(prompt)
    except UsageError as error:
        parser.error(error.message)
    for prompt, builder, scenes in product((None, *options.prompt), options.builders, options.scenes):
        answers = folder / f"{builder}-{scenes}{_prompt_suffix(prompt)}.jsonl"
        if not answers.exists():
            _answer(options.questions, answers, builder, scenes, options.model, prompt)
        judged = _judged(options.questions, answers, folder / "judged.jsonl", scenes, options.judge)
        rows.append(_row(prompt, builder, scenes, answers, judged))
    table = Table(*COLUMNS)
    for row in rows:
        table.row(*row)


def _builders(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(BUILDERS):
        raise argparse.ArgumentTypeError(f"no builder {', '.join(sorted(unknown))}")
    return names


def _prompt_suffix(prompt: Path | None) -> str:
    """Return the part of a file's name that names a prompt file and its content."""
    return f"-{prompt.stem}-{hashlib.sha256(prompt.read_bytes()).hexdigest()[:8]}" if prompt else ""


def _answer(questions: Path, answers: Path, builder: str, scenes: int, model: str | None, prompt: Path | None) -> None:
    """Write the file of answers, once it is whole."""
    command = ("eval", "answer", questions, "--builder", builder, "--scenes", scenes)
    output = _run(*command, *(("--model", model) if model else ()), *(("--prompt", prompt) if prompt else ()))
    part = answers.with_suffix(".part")
    part.write_text(output, encoding="utf-8")
    part.replace(answers)


def _judged(questions: Path, answers: Path, judgements: Path, scenes: int, judge: str | None) -> dict[str, Any]:
    command = ("eval", "judge", questions, "--answers", answers, "--output", judgements, "--scenes", scenes, "--json")
    output = _run(*command, *(("--model", judge) if judge else ()))
    measures: dict[str, Any] = json.loads(output)["result"]["measures"]
    return measures


def _run(*arguments: object) -> str:
    """Run a command line of the program and return its output; its failure ends this program."""
    stdout = io.StringIO()
    with redirect_stdout(stdout):
        code = cli.run([str(argument) for argument in arguments])
    if code:
        sys.exit(code)
    return stdout.getvalue()


def _row(prompt: Path | None, builder: str, scenes: int, answers: Path, judged: dict[str, Any]) -> list[str]:
    lines = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    marks = [mark["status"] == "supported" for line in lines for mark in line["citations"]]
    supported = f"{statistics.fmean(marks):.3f}" if marks else "–"
    tokens = f"{statistics.fmean(line['tokens']['prompt'] for line in lines):,.0f}" if lines else "–"
    seconds = f"{statistics.fmean(max(line['took_ms'].values()) for line in lines) / 1000:.1f}" if lines else "–"
    means = [judged[name]["mean"] for name in MEASURES]
    failed = sum(sum(judged[name]["errors"].values()) for name in MEASURES)
    figures = ["–" if mean is None else f"{mean:.3f}" for mean in means]
    name = prompt.name if prompt else "–"
    return [name, builder, str(scenes), str(len(lines)), *figures, supported, tokens, seconds, str(failed)]
