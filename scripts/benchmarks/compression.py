"""Measures how many tokens of evidence an answer needs for the same share of right scenes in its prompt.

    scripts/bench compression QUESTIONS --home HOME [--scenes 3,5,7,10,14,20] [--kept 0.5] [--half 0|1]

QUESTIONS is a file of `eval` with the times of answers, HOME the home of a library that holds its videos. For each
number of scenes and each way of showing them (whole scenes, the lines that bear on the question, the sections around
them) it prints the estimated tokens of the evidence and the share of questions with an answer in it, with 95 %
intervals: five seconds of an answer's range, or all of a shorter one, in lines that the model reads. `--half` takes one
half of the questions, drawn so that no video is in both. It asks no model and needs none.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, mean_text, numbers
from scripts.benchmarks._halves import halves
from subtitle_rag.answers.compression import KEPT, CompressedContextBuilder, rarity_in
from subtitle_rag.answers.context_builder import LABELS, ContextBuilder, RankedContextBuilder
from subtitle_rag.answers.section_context import SectionContextBuilder
from subtitle_rag.config import settings as config
from subtitle_rag.contexts.prompt_layout import estimate
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.metrics import mean
from subtitle_rag.evaluation.questions import Question, gold_set
from subtitle_rag.library.portable_names import all_windows, windows_by_name
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.search.scenes import Scene
from subtitle_rag.runtime import Runtime

SHOWN_MS = 5_000
Span = tuple[str, int, int]
"""Video, beginning and end in ms of what the model reads."""


def extracted(builder: CompressedContextBuilder, scenes: Sequence[Scene]) -> Iterator[Span]:
    for scene in scenes:
        starts = [line.start_ms for line in scene.lines] or [scene.start_ms]
        ends = [*starts[1:], scene.end_ms]
        for at in builder.kept(scene):
            yield scene.video.id, starts[at], ends[at]


def is_shown(question: Question, names: dict[str, str], spans: Sequence[Span]) -> bool:
    """Whether enough of one of the answer's ranges is read."""
    for gold in question.gold:
        read_ms = sum(
            max(0, min(end, gold.end_ms) - max(start, gold.start_ms))
            for video, start, end in spans
            if video == names.get(gold.video)
        )
        if read_ms >= min(SHOWN_MS, gold.end_ms - gold.start_ms) > 0:
            return True
    return False


def measure(runtime: Runtime, path: Path, counts: Sequence[int], kept_share: float, half: int | None) -> None:
    dataset = load_set(path)
    by_video = all_windows(runtime.library)
    questions = gold_set(dataset, runtime.library, by_video).questions
    if half is not None:
        questions = tuple(questions[at] for at in halves(questions, 7)[half])
    gold_names = {gold.video for question in questions for gold in question.gold}
    by_name = windows_by_name(runtime.library, by_video, gold_names)
    names = {name: windows[0].video_id for name, windows in by_name.items() if windows}
    print(f"{len(questions)} questions")
    columns = ("scenes", "shown as", "tokens", "questions with an answer in the prompt", "tokens a question of these")
    table = Table(*columns)
    queries = [parse_query(question.query) for question in questions]
    hits = [runtime.searcher.search(query, limit=max(counts)).scenes for query in queries]
    for count in counts:
        rows: dict[str, list[tuple[int, bool]]] = {"scenes": [], "lines": [], "sections": []}
        for question, query, scenes in zip(questions, queries, hits, strict=True):
            some = scenes[:count]
            ranked = RankedContextBuilder(labels=LABELS["ko"])
            rarity = partial(rarity_in, runtime.library)
            lines = CompressedContextBuilder(query.text, runtime.words, rarity, ranked, kept_share)
            sections = SectionContextBuilder(runtime.library, LABELS["ko"])
            shown_as: dict[str, tuple[ContextBuilder, list[Span]]] = {
                "scenes": (ranked, [(scene.video.id, scene.start_ms, scene.end_ms) for scene in some]),
                "lines": (lines, list(extracted(lines, some))),
                "sections": (sections, [(w.video_id, w.start_ms, w.end_ms) for w in sections.windows(some)]),
            }
            for name, (builder, spans) in shown_as.items():
                rows[name].append((estimate(builder.build(some)), is_shown(question, names, spans)))
        for name, measured in rows.items():
            tokens = float(np.mean([size for size, _shown in measured]))
            in_prompt = [float(is_in) for _size, is_in in measured]
            tokens_each = tokens / max(1e-9, float(np.mean(in_prompt)))
            share = mean(in_prompt)
            figure = mean_text(share) if share else "–"
            table.row(count, name, f"{tokens:,.0f}", figure, f"{tokens_each:,.0f}")


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--scenes", type=numbers, default=(3, 5, 7, 10, 14, 20))
    parser.add_argument("--kept", type=float, default=KEPT)
    parser.add_argument("--half", type=int, choices=(0, 1))
    options = parser.parse_args()
    with Runtime(config.load(home=options.home)) as runtime:
        measure(runtime, options.questions, options.scenes, options.kept, options.half)
