"""Measures the guards of contexts: what they keep of real answers, and what poor contexts do to search without them.

    scripts/bench guards [--answers tests/data/contexts/judged_answers.jsonl] [--show]
    scripts/bench guards LIBRARY --questions FILE [--contexts FILE] [--answers FILE | --kinds] [--encoder FOLDER]

A file of answers has JSON lines `{"video", "start"` (seconds)`, "raw"}`, each with `model`, `done_reason` and `prompt`
where they are known: `built-in`, or `examples` for the worked examples of the file beside it.

**What they keep.** Each line is one answer about a window of the sample library, which a reader has `judged`: `usable`
for one with a true sentence of its own about the window, else what is wrong with it: `copy` of captions, title,
examples or orders, `loop`, `junk` without a sentence, `unrelated` to the video, `invented` in the video's words.

The windows are halved by a hash: the guards may be changed by the answers about the half `seen`, and those about the
half `unseen` were judged afterwards. `precision` is the part of stored contexts that came of usable answers, `recall`
the part of usable answers that gave one, `refused` the part of all others that gave none; with 95 % intervals (Wilson).
The models were qwen2.5-coder:0.5b (Q4) and the base model of gemma3:270m, whose answers were begun with the word that
the prompt ends in, for it follows no instructions. Both give nearly nothing usable. So what a good model would write is
taken from the contexts of the sample that a person wrote (`by hand`); they were at hand while the guards were made.
`--show` prints what was stored of each answer.

**What they do to search.** LIBRARY is a `library.db`; questions and contexts are files as `eval run` reads them. Of the
answers, each asked for once, only the windows count, and questions with a right one among them, put to all videos.
`unguarded` is the value of each answer's JSON without any check; an answer that was ended early is as long as it had
become. `guarded` is what the writer would keep, `given` the contexts of the file. `--kinds` takes what small models
answer most instead, for every window: the first words of its own captions, and those of the window before. Means with
95 % intervals, and paired differences from `none`.
"""

import argparse
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, mean_texts
from subtitle_rag import evaluation
from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.values import Window, nfc
from subtitle_rag.base.json_lines import objects, refusing, seconds, string
from subtitle_rag.contexts import context_file
from subtitle_rag.contexts.answer_check import AnswerCheck, ContextWords
from subtitle_rag.contexts.cleaning import MAX_CONTEXT
from subtitle_rag.contexts.prompt_layout import BUILT_IN
from subtitle_rag.evaluation import dataset, metrics, temp_library
from subtitle_rag.evaluation.questions import Document, gold_set
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.portable_names import all_windows, windows_by_name
from subtitle_rag.library.store import Library
from subtitle_rag.models.ollama.responses import Reply
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import LEXICAL
from subtitle_rag.search.query import parse_query
from subtitle_rag.workflows import sample_library

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "contexts"
ANSWERS, EXAMPLES = FOLDER / "judged_answers.jsonl", "examples.txt"
USABLE = "usable"
KINDS = (USABLE, "copy", "loop", "junk", "unrelated", "invented")
HALVES = ("seen", "unseen")
FIGURES = ("hit@1", "hit@5", "mrr@10", "failure@20")
GAPS = ("hit@1", "mrr@10", "failure@20")
_VALUE = re.compile(r'^\s*\{\s*"\w+"\s*:\s*"')

Texts = Mapping[str, str]
"""Contexts by window."""


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


def stored(
    library: Library, answers: Sequence[Answer], folder: Path = FOLDER, *, in_turn: bool = False
) -> Iterator[str]:
    """Yield the context that the writer stores for each answer, empty if none.

    By default each answer is the first one; with `in_turn`, earlier answers are stored before later ones.
    """
    prompts = {
        "built-in": BUILT_IN.rules,
        "examples": tuple((folder / EXAMPLES).read_text(encoding="utf-8").splitlines()),
    }
    words, analyzer = ContextWords(dict), Analyzer()
    checks: dict[tuple[str, str], AnswerCheck] = {}
    previous: dict[str, str] = {}
    for answer in answers:
        id = answer.window.video_id
        if (id, answer.prompt) not in checks:
            video = library.video(id)
            assert video is not None, id
            windows = library.windows_of(id)
            rules = prompts[answer.prompt]
            checks[id, answer.prompt] = AnswerCheck(library, video, windows, words, ContextWords(dict), analyzer, rules)
        check = checks[id, answer.prompt]
        text, _fault, _doubts = check.context(answer.window, answer.reply, previous.get(id, ""), last=True)
        if in_turn:
            words.put(answer.window.id, text)
            previous[id] = text or previous.get(id, "")
        yield text


# --- what they keep ---


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


# --- what they do to search ---


def show_search(library: Library, options: argparse.Namespace) -> None:
    videos = list(temp_library.documents(library))
    windows = {video.id: some for video, some in videos}
    answers = poor_answers(videos) if options.kinds else {"": read_answers(options.answers, library)}
    counted = {answer.window.id for some in answers.values() for answer in some}
    texts: dict[str, Texts] = {"none": {}}
    if options.contexts:
        of_file = given_contexts(options.contexts, library)
        texts["given"] = {id: text for id, text in of_file.items() if id in counted}
    for kind, some in answers.items():
        values = {answer.window.id: answer_value(answer.reply.text) for answer in some}
        texts[f"{kind}unguarded"] = {id: text for id, text in values.items() if text}
        checked = zip(some, stored(library, some, in_turn=True), strict=True)
        texts[f"{kind}guarded"] = {answer.window.id: text for answer, text in checked if text}
    gold = gold_set(dataset.load_questions(options.questions), library, windows)
    pairs = [
        (question.query, right)
        for question, right in zip(gold.questions, gold.windows, strict=True)
        if not counted.isdisjoint(right.windows)
    ]
    models = ", ".join(sorted({answer.reply.model for some in answers.values() for answer in some}))
    print(f"{models}: {len(counted)} of {sum(map(len, windows.values()))} windows, {len(pairs)} questions\n")
    analyzer = temp_library.CachingAnalyzer(Analyzer(), temp_library.known_morphemes(library))
    rows: dict[str, dict[str, Any]] = {}
    for name, of_windows in texts.items():
        alike = next((earlier for earlier in rows if texts[earlier] == of_windows), None)
        rows[name] = rows[alike] if alike else measured(videos, of_windows, pairs, analyzer, options.encoder)
    table = Table("search", "contexts", "windows", *FIGURES, *(f"{figure} − none" for figure in GAPS))
    for search, bare in rows["none"].items():
        for name, by_search in rows.items():
            gains = mean_texts(by_search[search] - bare, GAPS, "+") if name != "none" else [""] * len(GAPS)
            table.row(search, name, len(texts[name]), *mean_texts(by_search[search], FIGURES), *gains)


def answer_value(raw: str) -> str:
    """Return the context in an answer: the value of its JSON, even unfinished."""
    try:
        value = json.loads(raw, strict=False)
    except ValueError:
        return _VALUE.sub("", raw).strip()
    texts = value.values() if isinstance(value, dict) else [value]
    return " ".join(text for text in texts if isinstance(text, str)).strip()


def poor_answers(videos: Sequence[Document]) -> dict[str, list[Answer]]:
    """Return each window's own captions, and the previous window's, as answers about it."""

    def answer(window: Window, source: Window) -> Answer:
        raw = json.dumps({"context": source.text[:MAX_CONTEXT]}, ensure_ascii=False)
        return Answer(window, Reply(raw, "stop", "made"))

    pairs = [pair for _video, windows in videos for pair in zip(windows, [windows[0], *windows], strict=False)]
    return {
        "own captions, ": [answer(window, window) for window, _before in pairs],
        "captions before, ": [answer(window, before) for window, before in pairs],
    }


def measured(
    videos: Sequence[Document],
    contexts: Texts,
    pairs: Sequence[tuple[str, metrics.GoldWindows]],
    analyzer: Analyzer,
    encoder: Path | None,
) -> dict[str, Any]:
    """Return the figures for each question by words and, if there is an encoder, by words and meaning.

    Args:
        videos: documents to search.
        contexts: their contexts.
        pairs: questions with their right windows.
        analyzer: for the morphemes.
        encoder: folder of an encoder, if any.

    Returns:
        The figures by kind of search.
    """
    with ExitStack() as opened:
        models = opened.enter_context(_frame.models_of(encoder)) if encoder else None
        of_models = models.encoder() if models is not None else None
        copy = opened.enter_context(temp_library.create(videos, analyzer, contexts, models=models, encoder=of_models))
        searches: dict[str, Sequence[str]] = {"words": LEXICAL}
        if models is not None:
            searches["hybrid"] = (*LEXICAL, "dense")
        queries = [parse_query(query) for query, _right in pairs]
        rankings = {
            name: [[hit.window_id for hit in copy.searcher.rank(query, retrievers=retrievers)] for query in queries]
            for name, retrievers in searches.items()
        }
    gold = [right for _query, right in pairs]
    return {name: metrics.per_question(gold, some) for name, some in rankings.items()}


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("library", type=Path, nargs="?", metavar="LIBRARY")
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--contexts", type=Path, help="a file of contexts to compare with")
    parser.add_argument("--answers", type=Path, default=ANSWERS)
    parser.add_argument("--kinds", action="store_true", help="make the contexts that small models write most")
    parser.add_argument("--encoder", type=Path, help="the folder of an encoder; without it words alone are measured")
    parser.add_argument("--show", action="store_true", help="print what was stored of each answer")
    options = parser.parse_args()
    if options.library is None:
        show_judged(options.answers, each=options.show)
    elif options.questions is None:
        parser.error("a library is measured with --questions")
    else:
        with closing(Library(options.library)) as library:
            show_search(library, options)
