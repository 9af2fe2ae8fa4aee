"""Read two public English sets that bring their own documents, as they are published.

`cookbook`: 90 files of source code in 737 chunks, with 248 questions (Anthropic, "Contextual Retrieval", 2024).
`qmsum`: meetings turn by turn, with questions and the turns that answer them (Zhong et al. 2021, "QMSum: A New
Benchmark for Query-based Multi-domain Meeting Summarization", arXiv:2104.05938).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from subtitle_rag.captions import cut_windows, window_id
from subtitle_rag.domain import Cue, Line, Video, Window, nfc
from subtitle_rag.evaluation.json_lines import bad_queries, objects, read_text
from subtitle_rag.evaluation.questions import Dataset, Gold, Question
from subtitle_rag.i18n import _

CHUNK_MS = 60_000
"""Invented length of a chunk."""
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

Documents = list[tuple[Video, tuple[Window, ...]]]


def read_cookbook(folder: Path) -> Dataset:
    """Read the chunks as windows of one video a file, and the questions."""
    files = json.loads(read_text(folder / COOKBOOK))
    documents: Documents = []
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
        places = [starts[uuid, index] for uuid, index in entry["golden_chunk_uuids"]]
        gold = tuple(Gold(video, start, start + CHUNK_MS) for video, start in places)
        questions.append(Question(f"cookbook-{number:03d}", entry["query"], "code", gold))
    return Dataset(folder, tuple(questions), tuple(documents))


def read_qmsum(folder: Path, titled: str = "") -> Dataset:
    """Read the meetings as captions with times by the words, cut by the program, and the questions with short answers.

    A turn begins with its speaker's name, as captions of television write it. With `titled`, a video's title is its
    meeting's first topic, with the debris that `titled` puts around it: `"{}"` for none.
    """
    documents: Documents = []
    questions: list[Question] = []
    for name in QMSUM:
        for number, (_at, meeting) in enumerate(objects(folder / name)):
            video = Video(f"qmsum-{Path(name).stem}-{number:02d}", titled.format(_title(meeting)), "qmsum", "QMSum")
            turns = [_spoken(f"{turn['speaker']}: {turn['content']}") for turn in meeting["meeting_transcripts"]]
            cues, spans = _captions(turns)
            documents.append((video, tuple(cut_windows(video.id, cues))))
            questions += _questions(video.id, meeting["specific_query_list"], spans)
    return Dataset(folder, tuple(questions), tuple(documents))


def read_published(folder: Path) -> Dataset | None:
    """Read a folder of one of these sets; None for any other.

    Raises:
        UsageError: `unreadable`; `bad_queries` for a file of another layout.
    """
    name = next((name for name in READERS if (folder / name).is_file()), None)
    if name is None:
        return None
    try:
        return READERS[name](folder)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise bad_queries(folder / name, 1, _("it is not laid out as the published set")) from error


COOKBOOK, QMSUM = "codebase_chunks.json", ("test.jsonl", "val.jsonl")
READERS = {COOKBOOK: read_cookbook, QMSUM[0]: read_qmsum}
"""By the file that tells the folder."""


def _title(meeting: Mapping[str, Any]) -> str:
    return str(meeting["topic_list"][0]["topic"]) if meeting["topic_list"] else ""


def _spoken(text: str) -> str:
    return _SPACE.sub(" ", _LOOSE.sub(r"\1", _MARKS.sub(" ", text))).strip()


def _captions(turns: Sequence[str]) -> tuple[list[Cue], list[tuple[int, int]]]:
    """Return the turns as cues of a few words, and the time of each turn."""
    cues, spans, at = [], [], 0
    for turn in turns:
        words, begin = turn.split(), at
        for first in range(0, len(words), CUE_WORDS):
            part = words[first : first + CUE_WORDS]
            cues.append(Cue(at, at + len(part) * WORD_MS, " ".join(part)))
            at = cues[-1].end_ms
        spans.append((begin, at))
    return cues, spans


def _questions(
    video_id: str, entries: Sequence[Mapping[str, Any]], spans: Sequence[tuple[int, int]]
) -> Iterator[Question]:
    """Yield the questions whose answers last `LONGEST_GOLD_MS` at most in all."""
    for number, entry in enumerate(entries):
        ranges = [(spans[int(first)][0], spans[int(last)][1]) for first, last in entry["relevant_text_span"]]
        gold = tuple(Gold(video_id, begin, end) for begin, end in ranges if begin < end)
        if gold and sum(part.end_ms - part.start_ms for part in gold) <= LONGEST_GOLD_MS:
            yield Question(f"{video_id}-{number:02d}", entry["query"], "meeting", gold)
