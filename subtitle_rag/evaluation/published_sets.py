"""Read public sets that bring their own documents, as they are published.

KorQuAD 1.0 (Lim, Kim & Lee 2019, arXiv:1909.07005) has the layout of SQuAD 1.1: `data[].paragraphs[].qas[].answers[0]`
with `answer_start` in characters of `context`. Every article is a video, its paragraphs are cut into windows of
invented times.
`cookbook`: 90 files of source code in 737 chunks, with 248 questions (Anthropic, "Contextual Retrieval", 2024).
`qmsum`: meetings turn by turn, with questions and the turns that answer them (Zhong et al. 2021, "QMSum: A New
Benchmark for Query-based Multi-domain Meeting Summarization", arXiv:2104.05938).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from subtitle_rag.captions import cut_windows, window_id
from subtitle_rag.domain import Cue, Line, UsageError, Video, Window, nfc
from subtitle_rag.evaluation.questions import Dataset, Document, Gold, Question
from subtitle_rag.i18n import _
from subtitle_rag.json_lines import bad_queries, objects, read_text

CHUNK_MS = 60_000
"""Invented length of a chunk or window."""
WORD_MS = 400
"""150 words a minute, as people speak in meetings."""
CUE_WORDS = 12
LONGEST_GOLD_MS = 300_000
"""A longer answer is a summary, which no scene holds."""
_MARKS = re.compile(r"\{[a-z]+\}")
"""Sounds and broken-off words: `{vocalsound}`, `{disfmarker}`."""
_LOOSE = re.compile(r"\s+([.,?!;]|'\w)")
"""Punctuation that the transcribers set apart."""
_SPACE = re.compile(r"\s+")

WINDOW_CHARS = 300
"""The size at which the published comparisons cut."""
REACH = 80
"""Characters on either side of an even cut in which a better place is looked for."""
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


def read_korquad(path: Path, file: Mapping[str, Any]) -> Dataset:
    """Read the questions of a KorQuAD file, and its articles as videos with windows.

    Raises:
        UsageError: `bad_queries` for a file of another layout.
    """
    questions: list[Question] = []
    documents: list[Document] = []
    position = "data"
    try:
        for number, article in enumerate(file["data"]):
            position = f"data[{number}]"
            video = Video(f"korquad-{number:04d}", str(article["title"]), "korquad", "KorQuAD 1.0")
            windows: list[Window] = []
            for paragraph in article["paragraphs"]:
                placed = _paragraph_windows(video.id, str(paragraph["context"]), len(windows))
                questions += _korquad_questions(video.id, paragraph["qas"], placed)
                windows += [window for window, _offset in placed]
            documents.append((video, tuple(windows)))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        reason = _("{place} is not laid out as in KorQuAD 1.0").format(place=position)
        raise bad_queries(path, 1, reason) from error
    if not questions:
        raise bad_queries(path, 1, _("it holds no questions"))
    return Dataset(path, tuple(questions), tuple(documents))


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Cut `text` into parts of about `WINDOW_CHARS`, each with its offset: after a sentence that ends near an even
    cut, else at a space, else in the middle of a word."""
    count = max(1, round(len(text) / WINDOW_CHARS))
    begin = 0
    for number in range(1, count + 1):
        end, after = _cut(text, round(len(text) * number / count)) if number < count else (len(text), len(text))
        if begin < end:
            yield begin, text[begin:end]
        begin = max(begin, after)


def _cut(text: str, target: int) -> tuple[int, int]:
    """Return the end of the part that should end at `target`, and the start of the next one."""
    for border in (_SENTENCE, _SPACE):
        near = [match.span() for match in border.finditer(text, max(0, target - REACH), target + REACH)]
        if near:
            return min(near, key=lambda span: abs(span[0] - target))
    return target, target


def _paragraph_windows(video_id: str, context: str, first: int) -> list[tuple[Window, int]]:
    """Return a paragraph's windows, the first one being the video's window number `first`, with their offsets in it."""
    result = []
    for ordinal, (offset, text) in enumerate(pieces(context), start=first):
        start = ordinal * CHUNK_MS
        window = Window(
            id=window_id(video_id, start),
            video_id=video_id,
            ordinal=ordinal,
            start_ms=start,
            end_ms=start + CHUNK_MS,
            text=_SPACE.sub(" ", text),
            lines=(Line(0, start),),
        )
        result.append((window, offset))
    return result


def _korquad_questions(video_id: str, entries: Any, windows: list[tuple[Window, int]]) -> Iterator[Question]:
    """Yield the questions of a paragraph; gold is the window, or the neighbouring windows, that hold the answer."""
    for entry in entries:
        answer = entry["answers"][0]
        begin = int(answer["answer_start"])
        end = begin + len(answer["text"])
        holding = [
            window
            for (window, offset), after in zip(windows, [*(at for _window, at in windows[1:]), None], strict=True)
            if offset < end and (after is None or begin < after)
        ]
        gold = Gold(video_id, holding[0].start_ms, holding[-1].end_ms)
        yield Question(str(entry["id"]), str(entry["question"]), "korquad", (gold,))


def read_cookbook(folder: Path) -> Dataset:
    """Read the chunks as windows of one video a file, and the questions."""
    files = json.loads(read_text(folder / COOKBOOK))
    documents: list[Document] = []
    starts: dict[tuple[str, int], tuple[str, int]] = {}
    for file in files:
        video = Video(f"cookbook-{file['doc_id']}", "", "cookbook", "cookbook")
        chunks = []
        for ordinal, chunk in enumerate(file["chunks"]):
            start = ordinal * CHUNK_MS
            text = nfc(_SPACE.sub(" ", chunk["content"]).strip())
            id = window_id(video.id, start)
            chunks.append(Window(id, video.id, ordinal, start, start + CHUNK_MS, text, (Line(0, start),)))
            starts[file["original_uuid"], chunk["original_index"]] = video.id, start
        documents.append((video, tuple(chunks)))
    questions = []
    for number, (_at, entry) in enumerate(objects(folder / "evaluation_set.jsonl")):
        chunk_starts = [starts[uuid, index] for uuid, index in entry["golden_chunk_uuids"]]
        gold = tuple(Gold(video, start, start + CHUNK_MS) for video, start in chunk_starts)
        questions.append(Question(f"cookbook-{number:03d}", entry["query"], "code", gold))
    return Dataset(folder, tuple(questions), tuple(documents))


def read_qmsum(folder: Path) -> Dataset:
    """Read the meetings as captions with times by the words, cut by the program, and the questions with short answers.

    A turn begins with its speaker's name, as captions of television write it.
    """
    documents: list[Document] = []
    questions: list[Question] = []
    for name in QMSUM:
        for number, (_at, meeting) in enumerate(objects(folder / name)):
            video = Video(f"qmsum-{Path(name).stem}-{number:02d}", "", "qmsum", "QMSum")
            cues, spans = _captions(f"{turn['speaker']}: {turn['content']}" for turn in meeting["meeting_transcripts"])
            documents.append((video, tuple(cut_windows(video.id, cues))))
            questions += _meeting_questions(video.id, meeting["specific_query_list"], spans)
    return Dataset(folder, tuple(questions), tuple(documents))


def read_published(folder: Path) -> Dataset:
    """Read a folder of one of these sets.

    Raises:
        UsageError: `unreadable`, also for any other folder; `bad_queries` for a file of another layout.
    """
    name = next((name for name in READERS if (folder / name).is_file()), None)
    if name is None:
        reason = _("the folder holds neither codebase_chunks.json (cookbook) nor test.jsonl and val.jsonl (QMSum)")
        raise UsageError("unreadable", path=str(folder), reason=reason)
    try:
        return READERS[name](folder)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise bad_queries(folder / name, 1, _("it is not laid out as the published set")) from error


COOKBOOK, QMSUM = "codebase_chunks.json", ("test.jsonl", "val.jsonl")
READERS = {COOKBOOK: read_cookbook, QMSUM[0]: read_qmsum}
"""By the file that tells the folder."""


def _captions(turns: Iterable[str]) -> tuple[list[Cue], list[tuple[int, int]]]:
    """Return the turns as cues of a few words, and the time of each turn."""
    cues, spans, at = [], [], 0
    for turn in turns:
        words, begin = _LOOSE.sub(r"\1", _MARKS.sub(" ", turn)).split(), at
        for first in range(0, len(words), CUE_WORDS):
            part = words[first : first + CUE_WORDS]
            cues.append(Cue(at, at + len(part) * WORD_MS, " ".join(part)))
            at = cues[-1].end_ms
        spans.append((begin, at))
    return cues, spans


def _meeting_questions(
    video_id: str, entries: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int]]
) -> Iterator[Question]:
    """Yield the questions whose answers last `LONGEST_GOLD_MS` at most in all."""
    for number, entry in enumerate(entries):
        ranges = [(spans[int(first)][0], spans[int(last)][1]) for first, last in entry["relevant_text_span"]]
        gold = tuple(Gold(video_id, begin, end) for begin, end in ranges if begin < end)
        if gold and sum(part.end_ms - part.start_ms for part in gold) <= LONGEST_GOLD_MS:
            yield Question(f"{video_id}-{number:02d}", entry["query"], "meeting", gold)
