"""Measures the guards of contexts on real answers that were judged by reading.

    scripts/bench guards [--answers tests/data/contexts/judged_answers.jsonl] [--show]

Each line of the file is one answer about a window of the sample library: `{"video", "start"` (seconds)`, "model",
"temperature", "prompt", "done_reason", "raw", "judged"`; `prompt` is `built-in`, or `examples` for the worked examples
of the file beside it. `judged` is `usable` for an answer with a true sentence of its own about the window, else what
is wrong with it: `copy` of captions, title, examples or orders, `loop`, `junk` without a sentence, `unrelated` to the
video, `invented` in the video's words.

The windows are halved by a hash: the guards may be changed by the answers about the half `seen`, and those about the
half `unseen` were judged afterwards. `precision` is the part of stored contexts that came of usable answers, `recall`
the part of usable answers that gave one, `refused` the part of all others that gave none; with 95 % intervals (Wilson).
The models were qwen2.5-coder:0.5b (Q4) and the base model of gemma3:270m, whose answers were begun with the word that
the prompt ends in, for it follows no instructions. Both give nearly nothing usable. So what a good model would write is
taken from the contexts of the sample that a person wrote (`by hand`); they were at hand while the guards were made.
`--show` prints what was stored of each answer.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table
from subtitle_rag import sample_library
from subtitle_rag.config import settings as config
from subtitle_rag.contexts import context_file
from subtitle_rag.contexts.answer_check import AnswerCheck, ContextWords
from subtitle_rag.contexts.prompt_layout import BUILT_IN
from subtitle_rag.evaluation.bench import SAMPLE_CONTEXTS
from subtitle_rag.json_lines import objects, refusing, seconds, string
from subtitle_rag.library import Library, all_windows, windows_by_name
from subtitle_rag.llm import Reply
from subtitle_rag.runtime import Runtime

ANSWERS = Path("tests/data/contexts/judged_answers.jsonl")
EXAMPLES = "examples.txt"
"""Beside the answers: the worked examples of the prompt `examples`."""
USABLE = "usable"
KINDS = (USABLE, "copy", "loop", "junk", "unrelated", "invented")
HALVES = ("seen", "unseen")


class JudgedReply(NamedTuple):
    """A real answer about a window, and what a reader found."""

    video: str
    start_ms: int
    prompt: str
    reply: Reply
    judged: str

    @property
    def half(self) -> str:
        """The half of its window, so that no answer about one is in both."""
        return HALVES[sha256(f"{self.video}@{self.start_ms}".encode()).digest()[0] % 2]


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """What the writer stores of a judged answer, if it is the last one for its window."""

    judged: JudgedReply
    stored: str


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--answers", type=Path, default=ANSWERS)
    parser.add_argument("--show", action="store_true", help="print what was stored of each answer")
    options = parser.parse_args()
    with TemporaryDirectory() as folder, Runtime(config.load(home=Path(folder))) as runtime:
        sample_library.fill(runtime)
        checked = list(check_answers(runtime.library, read_answers(options.answers), options.answers.parent))
        given = list(check_answers(runtime.library, given_answers(runtime.library), options.answers.parent))
    if options.show:
        for each in checked:
            print(f"{each.judged.half}\t{each.judged.judged}\t{each.stored or '-'}\t{each.judged.reply.text!r}")
        print()
    show(checked)
    print(f"\nby hand: {share(sum(bool(each.stored) for each in given), len(given))} stored")


def given_answers(library: Library) -> list[JudgedReply]:
    """Return the contexts that a person wrote for the windows of the sample, as a model's answers."""
    windows = all_windows(library)
    listed = context_file.load(SAMPLE_CONTEXTS)
    given = context_file.assign(listed, windows_by_name(library, windows, {each.video for each in listed}))
    return [
        JudgedReply(each.video_id, each.start_ms, "built-in", Reply(given[each.id], "stop", "hand"), USABLE)
        for of_video in windows.values()
        for each in of_video
        if each.id in given
    ]


def read_answers(path: Path) -> list[JudgedReply]:
    """Read a file of judged answers; raises UsageError for a line without its fields."""
    answers = []
    for number, entry in objects(path):
        with refusing(path, number):
            judged = string(entry, "judged")
            if judged not in KINDS:
                raise ValueError(judged)
            reply = Reply(string(entry, "raw"), string(entry, "done_reason"), string(entry, "model"))
            at = string(entry, "video"), seconds(entry, "start"), string(entry, "prompt")
            answers.append(JudgedReply(*at, reply, judged))
    return answers


def check_answers(library: Library, answers: Iterable[JudgedReply], folder: Path) -> Iterator[CheckedReply]:
    """Yield what the writer stores of each answer, as if no window had a context yet.

    Raises KeyError where no window begins at the time of an answer.
    """
    examples = (folder / EXAMPLES).read_text(encoding="utf-8").splitlines()
    prompts = {"built-in": BUILT_IN.rules, "examples": tuple(examples)}
    checks: dict[tuple[str, str], AnswerCheck] = {}
    for answer in answers:
        key = answer.video, answer.prompt
        if key not in checks:
            video = library.video(answer.video)
            assert video is not None, answer.video
            windows = library.windows_of(answer.video)
            words = ContextWords(dict), ContextWords(dict)
            checks[key] = AnswerCheck(library, video, windows, *words, prompts[answer.prompt])
        window = {each.start_ms: each for each in checks[key].windows}[answer.start_ms]
        text, _fault, _doubts = checks[key].context(window, answer.reply, "", last=True)
        yield CheckedReply(answer, text)


def show(checked: Sequence[CheckedReply]) -> None:
    """Print the table of both halves, and the refused answers by kind."""
    table = Table("half", "answers", "usable", "stored", "precision", "recall", "refused")
    for half in HALVES:
        of_half = [each for each in checked if each.judged.half == half]
        usable = [each for each in of_half if each.judged.judged == USABLE]
        others = [each for each in of_half if each.judged.judged != USABLE]
        stored = [each for each in of_half if each.stored]
        kept = sum(bool(each.stored) for each in usable)
        refused = sum(not each.stored for each in others)
        figures = share(kept, len(stored)), share(kept, len(usable)), share(refused, len(others))
        table.row(half, len(of_half), len(usable), len(stored), *figures)
    print()
    table = Table("judged", *(f"{half}: answers, stored" for half in HALVES))
    for kind in KINDS:
        cells = []
        for half in HALVES:
            some = [each for each in checked if (each.judged.half, each.judged.judged) == (half, kind)]
            cells.append(f"{len(some)}, {sum(bool(each.stored) for each in some)}")
        table.row(kind, *cells)


def share(count: int, total: int) -> str:
    """Return a share with its 95 % interval (Wilson 1927)."""
    if not total:
        return "–"
    z, p = 1.96, count / total
    middle, width = p + z * z / (2 * total), z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return f"{count}/{total} = {p:.2f} [{(middle - width) / scale:.2f}, {(middle + width) / scale:.2f}]"
