"""Measures which real answers the checks of contexts accept. `eval run --contexts` measures the effect on search.

    scripts/bench guards [--answers tests/data/contexts/judged_answers.jsonl] [--show]

An answers file has JSON lines with `video`, `start` (seconds) and `raw` (the model's answer) and, if known, `model`,
`done_reason` and `prompt`: `built-in`, or `examples` for the one with the worked examples from the file next to it.

Each line is an answer about a window of the sample library, `judged` by a reader: `usable` if it has a true sentence of
its own about the window. The others are `copy` (of captions, title, examples or instructions), `loop`, `junk` (no
sentence), `unrelated` (to the video) or `invented` (false, in the video's words).

A hash splits the windows into halves: the checks may be tuned on the half `seen`; answers of the half `unseen` were
judged after that. `precision` is the share of stored contexts that come from usable answers, `recall` the share of
usable answers that were stored, and `refused` the share of other answers that were not, with 95 % intervals (Wilson).
The models are qwen2.5-coder:0.5b (Q4) and the base model of gemma3:270m, which follows no instructions, so its answers
are started with the prompt's last word. Almost none of their answers are usable, so the sample's contexts written by a
person (`by hand`) stand in for a good model; they were known while the checks were made. `--show` prints the stored
part of each answer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table
from subtitle_rag import evaluation
from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.values import Window, nfc
from subtitle_rag.base.json_lines import objects, refusing, seconds, string
from subtitle_rag.contexts import context_file
from subtitle_rag.contexts.answer_check import AnswerCheck, ContextWords
from subtitle_rag.contexts.prompt_layout import BUILT_IN
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.portable_names import all_windows, windows_by_name
from subtitle_rag.library.store import Library
from subtitle_rag.models.ollama.responses import Reply
from subtitle_rag.runtime import Runtime
from subtitle_rag.workflows import sample_library

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "contexts"
ANSWERS, EXAMPLES = FOLDER / "judged_answers.jsonl", "examples.txt"
USABLE = "usable"
KINDS = (USABLE, "copy", "loop", "junk", "unrelated", "invented")
HALVES = ("seen", "unseen")


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer about a window, and a reader's judgement of it."""

    window: Window
    reply: Reply
    judged: str = ""
    prompt: str = "built-in"

    @property
    def half(self) -> str:
        """Half of its window, the same for all answers about it."""
        return HALVES[sha256(f"{self.window.video_id}@{self.window.start_ms}".encode()).digest()[0] % 2]


def read_answers(path: Path, library: Library) -> list[Answer]:
    """Read a file of answers. Raises UsageError for a line without its fields, or without a window."""
    entries = list(objects(path))
    names = {nfc(str(entry.get("video"))) for _number, entry in entries}
    by_name = windows_by_name(library, all_windows(library), names)
    windows = {(name, each.start_ms): each for name, some in by_name.items() for each in some}
    answers = []
    for number, entry in entries:
        with refusing(path, number):
            window = windows.get((nfc(string(entry, "video")), seconds(entry, "start")))
            if window is None:
                raise ValueError("no window has this time")
            judged = entry.get("judged", "")
            if judged not in ("", *KINDS):
                raise ValueError(judged)
            model, done_reason = str(entry.get("model", path.stem)), str(entry.get("done_reason", "stop"))
            reply = Reply(string(entry, "raw"), done_reason, model)
            answers.append(Answer(window, reply, judged, str(entry.get("prompt", "built-in"))))
    return answers


def stored(library: Library, answers: Sequence[Answer], folder: Path = FOLDER) -> Iterator[str]:
    """Yield the context that the writer stores for each answer, as if it were the first one; empty if none."""
    prompts = {
        "built-in": BUILT_IN.rules,
        "examples": tuple((folder / EXAMPLES).read_text(encoding="utf-8").splitlines()),
    }
    words, analyzer = ContextWords(dict), Analyzer()
    checks: dict[tuple[str, str], AnswerCheck] = {}
    for answer in answers:
        id = answer.window.video_id
        if (id, answer.prompt) not in checks:
            video = library.video(id)
            assert video is not None, id
            windows = library.windows_of(id)
            rules = prompts[answer.prompt]
            checks[id, answer.prompt] = AnswerCheck(library, video, windows, words, ContextWords(dict), analyzer, rules)
        text, _fault, _doubts = checks[id, answer.prompt].context(answer.window, answer.reply, "", last=True)
        yield text


def given_answers(library: Library) -> list[Answer]:
    """Return the contexts written by a person for the windows of the sample, in the form of answers."""
    windows = all_windows(library)
    contexts = given_contexts(Path(evaluation.__file__).with_name("sample_contexts.jsonl"), library)
    every = [window for some in windows.values() for window in some]
    return [Answer(each, Reply(contexts[each.id], "stop", "hand"), USABLE) for each in every if each.id in contexts]


def given_contexts(path: Path, library: Library) -> dict[str, str]:
    listed = context_file.load(path)
    names = {context.video for context in listed}
    return context_file.assign(listed, windows_by_name(library, all_windows(library), names))


def show(answers: Sequence[Answer], texts: Sequence[str]) -> None:
    """Print the table of both halves, and the refused answers by kind."""
    pairs = list(zip(answers, map(bool, texts), strict=True))
    table = Table("half", "answers", "usable", "stored", "precision", "recall", "refused")
    for half in HALVES:
        usable = [is_stored for answer, is_stored in pairs if answer.half == half and answer.judged == USABLE]
        poor = [is_stored for answer, is_stored in pairs if answer.half == half and answer.judged != USABLE]
        good, count = sum(usable), sum(usable) + sum(poor)
        figures = share(good, count), share(good, len(usable)), share(len(poor) - sum(poor), len(poor))
        table.row(half, len(usable) + len(poor), len(usable), count, *figures)
    print()
    table = Table("judged", *(f"{half}: answers, stored" for half in HALVES))
    for kind in KINDS:
        some = [[stored for answer, stored in pairs if (answer.half, answer.judged) == (half, kind)] for half in HALVES]
        table.row(kind, *(f"{len(of_half)}, {sum(of_half)}" for of_half in some))


def share(count: int, total: int) -> str:
    """Return a share with its 95 % interval (Wilson 1927)."""
    if not total:
        return "–"
    z, p = 1.96, count / total
    middle, width = p + z * z / (2 * total), z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return f"{count}/{total} = {p:.2f} [{(middle - width) / scale:.2f}, {(middle + width) / scale:.2f}]"


def show_judged(path: Path, *, each: bool) -> None:
    with TemporaryDirectory() as folder, Runtime(config.load(home=Path(folder))) as runtime:
        sample_library.fill(runtime)
        answers, by_hand = read_answers(path, runtime.library), given_answers(runtime.library)
        texts = list(stored(runtime.library, answers, path.parent))
        is_stored = [*map(bool, stored(runtime.library, by_hand))]
    if each:
        for answer, text in zip(answers, texts, strict=True):
            print(f"{answer.half}\t{answer.judged}\t{text or '-'}\t{answer.reply.text!r}")
        print()
    show(answers, texts)
    print(f"\nby hand: {share(sum(is_stored), len(is_stored))} stored")


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--answers", type=Path, default=ANSWERS)
    parser.add_argument("--show", action="store_true", help="print what was stored of each answer")
    options = parser.parse_args()
    show_judged(options.answers, each=options.show)
