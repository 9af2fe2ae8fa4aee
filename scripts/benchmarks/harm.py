"""Measures what poor contexts do to search, as a model gives them and as the program keeps them.

    scripts/bench harm LIBRARY... --questions FILE [--contexts FILE] [--answers FILE | --kinds] [--encoder FOLDER]
                       [--vectors FOLDER]

Each LIBRARY is a `library.db` in which a model wrote contexts (`contexts write`); those of several, which hold the same
captions, are taken together. Questions and contexts are files as `eval run` reads them. Only windows that the model has
answered count, and questions with a right one among them, put to all videos. `unguarded` is the value of each answer's
JSON without any check; an answer that was ended early is as long as it had become. `guarded` is what the library
keeps, `given` the contexts of the file.

`--answers` takes the answers from a file instead, each asked for once: JSON lines `{"video", "start", "end", "raw"}`,
times in seconds, with `done_reason` and `model` where they are known. `guarded` is then what the writer would keep of
them.

`--kinds` measures instead what small models answer most, made for every window of the library: the first words of its
own captions, and those of the window before. Prints a Markdown table: means with 95 % intervals, and paired
differences from `none`.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, gain_text, mean_texts
from scripts.benchmarks.fusion import KeptVectors
from subtitle_rag.contexts import context_file
from subtitle_rag.contexts.answer_check import AnswerCheck, ContextWords
from subtitle_rag.contexts.cleaning import MAX_CONTEXT
from subtitle_rag.contexts.prompt_layout import BUILT_IN
from subtitle_rag.domain import nfc
from subtitle_rag.evaluation import dataset, metrics, temp_library
from subtitle_rag.evaluation.questions import Document, gold_set
from subtitle_rag.json_lines import objects, refusing, seconds, string
from subtitle_rag.library import Context, Library, windows_by_name
from subtitle_rag.llm import Reply
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.search.parts import LEXICAL
from subtitle_rag.retrieval.search.query import parse_query

FIGURES = ("hit@1", "hit@5", "mrr@10", "failure@20")
GAPS = ("hit@1", "mrr@10", "failure@20")
_VALUE = re.compile(r'^\s*\{\s*"\w+"\s*:\s*"')

Texts = Mapping[str, str]
"""Contexts by window."""


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("libraries", type=Path, nargs="+", metavar="LIBRARY")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--contexts", type=Path, help="a file of contexts to compare with")
    parser.add_argument("--answers", type=Path, help="a file of a model's raw answers, in place of the library's")
    parser.add_argument("--kinds", action="store_true", help="make the contexts that small models write most")
    parser.add_argument("--encoder", type=Path, help="the folder of an encoder; without it words alone are measured")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this folder for another run")
    options = parser.parse_args()
    with ExitStack() as opened:
        show([opened.enter_context(closing(Library(path))) for path in options.libraries], options)


def show(libraries: Sequence[Library], options: argparse.Namespace) -> None:
    library = libraries[0]
    videos = list(temp_library.documents(library))
    windows = {video.id: some for video, some in videos}
    answers = {id: each for some in libraries for id, each in answered(some).items()}
    if options.answers:
        answers = read_answers(options.answers, library, videos)
    counted = {each.id for some in windows.values() for each in some} if options.kinds else set(answers)
    texts: dict[str, Texts] = {"none": {}}
    if options.contexts:
        listed = context_file.load(options.contexts)
        by_name = windows_by_name(library, windows, {context.video for context in listed})
        given = context_file.assign(listed, by_name)
        texts["given"] = {id: text for id, text in given.items() if id in counted}
    if options.kinds:
        for kind, made in kinds(videos).items():
            texts[f"{kind}, unguarded"] = made
            replies = {
                id: Reply(json.dumps({"context": text}, ensure_ascii=False), "stop", "made")
                for id, text in made.items()
            }
            texts[f"{kind}, guarded"] = dict(guarded(library, videos, replies))
    else:
        texts["unguarded"] = {id: text for id, each in answers.items() if (text := answer_value(each.raw))}
        texts["guarded"] = {id: each.text for id, each in answers.items() if each.text}
    gold = gold_set(dataset.load_questions(options.questions), library, windows)
    pairs = [
        (question.query, right)
        for question, right in zip(gold.questions, gold.windows, strict=True)
        if not counted.isdisjoint(right.windows)
    ]
    names = "made" if options.kinds else ", ".join(sorted({each.model for each in answers.values()}))
    print(f"{names}: {len(counted)} of {sum(map(len, windows.values()))} windows, {len(pairs)} questions\n")
    models = KeptVectors("harm", options.encoder, options.vectors, pieces=False) if options.encoder else None
    analyzer = temp_library.CachingAnalyzer(Analyzer(), temp_library.known_morphemes(library))
    rows: dict[str, dict[str, Any]] = {}
    for name, some in texts.items():
        alike = next((other for other in rows if texts[other] == some), None)
        rows[name] = rows[alike] if alike else measured(videos, some, pairs, analyzer, models)
    table = Table("search", "contexts", "windows", *FIGURES, *(f"{figure} − none" for figure in GAPS))
    for search, bare in rows["none"].items():
        for name, values in rows.items():
            gaps = metrics.means(values[search] - bare)
            gains = [gain_text(gaps[figure]) if name != "none" else "" for figure in GAPS]
            table.row(search, name, len(texts[name]), *mean_texts(values[search], FIGURES), *gains)


def answered(library: Library) -> dict[str, Context]:
    """Return a model's last answer for each window, usable or not."""
    videos = (video for video, _windows in temp_library.documents(library))
    return {each.window_id: each for video in videos for each in library.contexts.all_valid(video.id) if each.raw}


def read_answers(path: Path, library: Library, videos: Sequence[Document]) -> dict[str, Context]:
    """Read a file of raw answers, each with what the writer would keep of it."""
    entries = list(objects(path))
    names = {nfc(string(entry, "video")) for _number, entry in entries}
    by_name = windows_by_name(library, {video.id: some for video, some in videos}, names)
    ids = {(name, each.start_ms, each.end_ms): each.id for name, some in by_name.items() for each in some}
    replies = {}
    for number, entry in entries:
        with refusing(path, number):
            at = nfc(string(entry, "video")), seconds(entry, "start"), seconds(entry, "end")
            if at not in ids:
                raise ValueError("no window has this time")
            model, done_reason = str(entry.get("model", path.stem)), str(entry.get("done_reason", "stop"))
            replies[ids[at]] = Reply(string(entry, "raw"), done_reason, model)
    kept = dict(guarded(library, videos, replies))
    return {
        id: replace(context_file.given_context(id, kept.get(id, ""), reply.model), raw=reply.text)
        for id, reply in replies.items()
    }


def answer_value(raw: str) -> str:
    """Return what an answer gives as the context: its JSON's value, also of one that has no end."""
    try:
        value = json.loads(raw, strict=False)
    except ValueError:
        return _VALUE.sub("", raw).strip()
    texts = value.values() if isinstance(value, dict) else [value]
    return " ".join(text for text in texts if isinstance(text, str)).strip()


def kinds(videos: Sequence[Document]) -> dict[str, Texts]:
    pairs = [pair for _video, windows in videos for pair in zip(windows, [windows[0], *windows], strict=False)]
    return {
        "own captions": {window.id: window.text[:MAX_CONTEXT] for window, _before in pairs},
        "captions before": {window.id: before.text[:MAX_CONTEXT] for window, before in pairs},
    }


def guarded(library: Library, videos: Sequence[Document], replies: Mapping[str, Reply]) -> Iterator[tuple[str, str]]:
    """Yield what the writer would keep of these answers, each asked for once."""
    words = ContextWords(dict)
    for video, windows in videos:
        check, previous = AnswerCheck(library, video, windows, words, ContextWords(dict), BUILT_IN.rules), ""
        for window in windows:
            if window.id not in replies:
                continue
            text, _fault, _doubts = check.context(window, replies[window.id], previous, last=True)
            words.put(window.id, text)
            if text:
                yield window.id, text
                previous = text


def measured(
    videos: Sequence[Document],
    contexts: Texts,
    pairs: Sequence[tuple[str, metrics.GoldWindows]],
    analyzer: Analyzer,
    models: KeptVectors | None,
) -> dict[str, Any]:
    """Return the figures of each question by words, and by words and sense where there is an encoder."""
    with temp_library.create(videos, analyzer, contexts, models=models) as copy:
        searches: dict[str, Sequence[str]] = {"words": LEXICAL}
        if models is not None:
            for _count in temp_library.encode(copy, models, models):
                pass
            models.keep()
            searches["hybrid"] = (*LEXICAL, "dense")
        queries = [parse_query(query) for query, _right in pairs]
        rankings = {
            name: [[hit.window_id for hit in copy.searcher.rank(query, retrievers=retrievers)] for query in queries]
            for name, retrievers in searches.items()
        }
    gold = [right for _query, right in pairs]
    return {name: metrics.per_question(gold, some) for name, some in rankings.items()}
