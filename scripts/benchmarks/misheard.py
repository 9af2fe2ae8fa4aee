"""Measures what the variants of misheard words find, and what they cost words that were heard rightly.

    scripts/bench misheard [--home HOME] [--queries 300] [--seed 7]
    scripts/bench misheard --words tests/data/typed_words.tsv [--captions FOLDER]

From the library of HOME, by default the sample, it draws nouns that few windows say. Each is a query as it is spelled,
and once more with one slip of a Korean speech recogniser: ㅐ for ㅔ, a plain consonant for a tense or aspirated one,
another vowel beside it, or a final consonant less. Slips that make another word of the library are left out, for they
are found rightly. It prints the parts of queries with a right scene among the first 20 with the variants and without
them, by the number of syllables, with 95 % intervals.

With `--words` the queries come from a file instead, with the line of captions that each means: two words, names in the
other alphabet, letters, numerals, short forms, relatives and misheard words. Each line is a video of its own in the
sample library. The names of kind `real` are looked for in the captions of FOLDER, once without contexts and once where
the contexts of two windows write the name in both alphabets. It prints by kind the part of the queries with a right
window at the first place and among five, with 95 % intervals; of dates the part that is offered as the right filter.
"""

import random
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, mean_texts
from subtitle_rag import sample_library
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import cut_windows, window_id
from subtitle_rag.config import settings as config
from subtitle_rag.domain import Line, UsageError, Video, Window, squeeze
from subtitle_rag.evaluation import temp_library
from subtitle_rag.evaluation.metrics import GoldWindows, means, per_question
from subtitle_rag.evaluation.temp_library import Document, TempLibrary
from subtitle_rag.retrieval.korean.lexical import QueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.korean.periods import find_uploads
from subtitle_rag.retrieval.korean.pronunciation import is_hangul
from subtitle_rag.retrieval.search import Searcher
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.runtime import Runtime

DATES_ON = date(2026, 3, 31)
"""The day on which the queries with dates are typed."""
MAX_WINDOWS = 3
"""Windows that say a drawn noun, at most."""
SLIPS = (
    *("ㅐㅔ", "ㅔㅐ", "ㅗㅜ", "ㅓㅗ", "ㅡㅓ", "ㅂㅍ", "ㄱㅋ", "ㄷㅌ"),
    *("ㅈㅊ", "ㅋㄱ", "ㅌㄷ", "ㄱㄲ", "ㅅㅆ", "ㄴㅁ", "ㅁㄴ", "ㅇㄴ"),
)
"""A letter and the one that is heard in its place."""


class WithoutVariants(QueryAnalyzer):
    """Analyse queries without the variants of misheard words."""

    def _misheard(self, form: str, candidates: object, counts: object) -> list[str]:  # noqa: ARG002 - as it is called
        return []


def letters(pair: str) -> Iterator[tuple[str, str]]:
    """Yield the conjoining jamo of a slip: vowels, initials and finals."""
    for first, last in ((0x1100, 0x1113), (0x1161, 0x1176), (0x11A8, 0x11C3)):
        names = {unicodedata.name(chr(code)).split()[-1]: chr(code) for code in range(first, last)}
        old, new = (unicodedata.name(letter).split()[-1] for letter in pair)
        if old in names and new in names:
            yield names[old], names[new]


PAIRS = [pair for slip in SLIPS for pair in letters(slip)]


def misheard(word: str, draw: random.Random) -> str | None:
    """Return the word with one slip, or None if none of them fits."""
    spelled = unicodedata.normalize("NFD", word)
    slips = [
        spelled[:at] + new + spelled[at + 1 :]
        for at, letter in enumerate(spelled)
        for old, new in PAIRS
        if letter == old
    ]
    slips += [spelled[:at] + spelled[at + 1 :] for at, letter in enumerate(spelled) if "\u11a8" <= letter <= "\u11c2"]
    return unicodedata.normalize("NFC", draw.choice(slips)) if slips else None


def ranked(searcher: Searcher, word: str) -> list[str]:
    return [entry.window_id for entry in searcher.rank(parse_query(word), depth=20, retrievers=("bm25",))]


def measure(copy: TempLibrary, analyzer: Analyzer, count: int, seed: int) -> None:
    library = copy.library
    ids = [window.id for _video, windows in temp_library.documents(library) for window in windows]
    said: defaultdict[str, set[str]] = defaultdict(set)
    for id, analysis in library.morphemes(ids).items():
        for form in analysis.forms:
            if 2 <= len(form) <= 5 and is_hangul(form):
                said[form].add(id)
    draw = random.Random(seed)
    rare = sorted(form for form, windows in said.items() if len(windows) <= MAX_WINDOWS)
    draw.shuffle(rare)
    pairs = []
    for form in rare:
        slip = misheard(form, draw)
        if slip is not None and slip != form and slip not in said:
            pairs.append((form, slip))
        if len(pairs) == count:
            break
    arms = {
        "with variants": copy.searcher,
        "without": Searcher(library, copy.index, WithoutVariants(library, analyzer)),
    }
    table = Table("syllables", "queries", "typed", *(f"{name}: found@20, hit@1" for name in arms))
    lengths = sorted({len(form) for form, _slip in pairs})
    for name, some in [*((str(n), [p for p in pairs if len(p[0]) == n]) for n in lengths), ("all", pairs)]:
        gold = [GoldWindows(1, {id: frozenset([0]) for id in said[form]}) for form, _slip in some]
        for typed, at in (("rightly", 0), ("misheard", 1)):
            cells = []
            for searcher in arms.values():
                rankings = [ranked(searcher, pair[at]) for pair in some]
                values = per_question(gold, rankings)
                cells.append(f"{mean_texts(values, ['hit@20'])[0]}, {means(values)['hit@1']:.3f}")
            table.row(name, len(some), typed, *cells)


class Case(NamedTuple):
    """A query, and the line of captions that it means; of the kind `real` the word that its lines say."""

    kind: str
    query: str
    said: str
    unsaid: str
    """A line that it does not mean."""


def read_cases(path: Path) -> list[Case]:
    """Read a file of queries; a name is of the kind of what is typed."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    cases = [Case(*(*line.split("\t"), "")[:4]) for line in lines]
    typed = {True: "name, Latin → Hangul", False: "name, Hangul → Latin"}
    return [each._replace(kind=typed[each.query.isascii()]) if each.kind == "name" else each for each in cases]


def print_dates(table: Table, cases: list[Case]) -> None:
    """Print the part of the queries with a date whose days are found in them."""
    offers: list[list[str]] = []
    for case in cases:
        uploads = find_uploads(case.query, [match.span() for match in re.finditer(r"\S+", case.query)], DATES_ON)
        offers.append(["..".join(map(str, uploads.period))] if uploads else [])
    right = [GoldWindows(1, {case.said: frozenset([0])}) for case in cases]
    table.row("date", len(cases), *mean_texts(per_question(right, offers), ["hit@1", "hit@5"]))


def lines_as_videos(cases: Iterable[Case]) -> Iterator[tuple[Video, tuple[Window, ...]]]:
    """Yield each line as a video of one window."""
    lines = dict.fromkeys(line for case in cases for line in (case.said, case.unsaid) if line)
    for number, line in enumerate(lines):
        id = f"line{number:07d}"
        window = Window(window_id(id, 0), id, 0, 0, 60_000, line, (Line(0, 0),))
        yield Video(id, f"{number + 1}번째", "말", "말"), (window,)


def print_words(
    table: Table,
    title: str,
    searcher: Searcher,
    gold: list[tuple[Case, set[str]]],
    texts: Mapping[str, str],
    *,
    missed: bool,
) -> None:
    """Print the queries whose first window, or one of the first five, is right.

    Windows that say a query as it is typed are left out where another is meant: they are found in any case.
    """
    kinds = list(dict.fromkeys(case.kind for case, _ids in gold))
    for kind in kinds:
        right: list[GoldWindows] = []
        rankings: list[list[str]] = []
        for case, ids in gold:
            if case.kind == kind:
                found = ranked(searcher, case.query) if _is_query(case.query) else []
                if case.kind not in ("real", "guard"):
                    found = [id for id in found if id in ids or squeeze(case.query) not in squeeze(texts.get(id, ""))]
                right.append(GoldWindows(1, {id: frozenset([0]) for id in ids}))
                rankings.append(found)
                if missed and not ids.intersection(found[:1]):
                    rank = next((at for at, id in enumerate(found, 1) if id in ids), "-")
                    print(f"  {case.query}: {rank} {texts.get(found[0], '')[:60] if found else ''}", file=sys.stderr)
        table.row(kind + title, len(right), *mean_texts(per_question(right, rankings), ["hit@1", "hit@5"]))


def _is_query(text: str) -> bool:
    try:
        return bool(parse_query(text))
    except UsageError:
        return False


def measure_words(
    cases: list[Case], sample: list[Document], captions: Path | None, analyzer: Analyzer, *, missed: bool
) -> None:
    table = Table("kind", "queries", "any@1", "any@5")
    made = [case for case in cases if case.kind not in ("real", "date")]
    windows = {window.text: window.id for _video, some in lines_as_videos(made) for window in some}
    with temp_library.create([*sample, *lines_as_videos(made)], analyzer) as copy:
        lines = [(case, {windows[one.said] for one in made if one.query == case.query}) for case in made]
        texts = {window.id: window.text for _video, some in sample for window in some}
        texts |= {id: text for text, id in windows.items()}
        print_words(table, "", copy.searcher, lines, texts, missed=missed)
    if dated := [case for case in cases if case.kind == "date"]:
        print_dates(table, dated)
    if captions is None:
        return
    found = [*_captions(captions)]
    real = [case for case in cases if case.kind == "real"]
    texts = {window.id: window.text for _video, some in found for window in some}
    gold = [(case, {id for id, text in texts.items() if case.said in text or case.query in text}) for case in real]
    contexts: dict[str, str] = {}
    for case, ids in gold:
        for id in sorted(ids)[:2]:
            contexts[id] = f"{contexts.get(id, '')} {case.said}({case.query})에 대해 이야기하는 장면이다."
    for title, given in (("", None), (", with contexts", contexts)):
        with temp_library.create(found, analyzer, given) as copy:
            print_words(table, title, copy.searcher, gold, texts, missed=missed)


def _captions(folder: Path) -> Iterator[Document]:
    for path in sorted(each for each in folder.glob("**/*") if each.suffix in (".srt", ".vtt")):
        cues = parse_captions(path.read_bytes(), path.suffix[1:])
        yield Video(path.stem, path.stem, "captions", "captions"), cut_windows(path.stem, cues)


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--words", type=Path, help="a file of queries")
    parser.add_argument("--captions", type=Path, help="a folder of captions with the names of kind real")
    parser.add_argument("--missed", action="store_true", help="name the queries that miss")
    options = parser.parse_args()
    analyzer = Analyzer()
    with TemporaryDirectory() as folder:
        with Runtime(config.load(home=options.home or Path(folder))) as runtime:
            if not options.home:
                sample_library.fill(runtime)
            documents = list(temp_library.documents(runtime.library))
        if options.words:
            measure_words(read_cases(options.words), documents, options.captions, analyzer, missed=options.missed)
            return
        with temp_library.create(documents, analyzer) as copy:
            measure(copy, analyzer, options.queries, options.seed)
