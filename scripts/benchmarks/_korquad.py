"""Read KorQuAD 1.0 (Lim, Kim & Lee 2019, arXiv:1909.07005), which has questions with their documents.

It has SQuAD 1.1's layout: `data[].paragraphs[].qas[].answers[0]` with `answer_start` in characters of `context`. An
article becomes a video, its paragraphs are cut into windows with invented times.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.values import Line, Video, Window
from subtitle_rag.captions.windows import window_id
from subtitle_rag.evaluation.questions import Dataset, Document, Gold, Question

WINDOW_MS = 60_000
"""Invented duration of a window."""
_SPACE = re.compile(r"\s+")

WINDOW_CHARS = 300
"""Length of a window in the published comparisons."""
REACH = 80
"""Maximum characters between an even cut and a better place."""
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


def read_korquad(path: Path) -> tuple[Dataset, list[Document]]:
    """Read the questions of a KorQuAD file, and its articles as videos with windows."""
    questions: list[Question] = []
    documents: list[Document] = []
    for number, article in enumerate(json.loads(path.read_text("utf-8"))["data"]):
        video = Video(f"korquad-{number:04d}", str(article["title"]), "korquad", "KorQuAD 1.0")
        windows: list[Window] = []
        for paragraph in article["paragraphs"]:
            placed = _paragraph_windows(video.id, str(paragraph["context"]), len(windows))
            questions += _korquad_questions(video.id, paragraph["qas"], placed)
            windows += [window for window, _offset in placed]
        documents.append((video, tuple(windows)))
    return Dataset(path, tuple(questions)), documents


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
    """Return a paragraph's windows with their offsets in it; the video's window number of the first one is `first`."""
    result = []
    for ordinal, (offset, text) in enumerate(pieces(context), start=first):
        start = ordinal * WINDOW_MS
        window = Window(
            id=window_id(video_id, start),
            video_id=video_id,
            ordinal=ordinal,
            start_ms=start,
            end_ms=start + WINDOW_MS,
            text=_SPACE.sub(" ", text),
            lines=(Line(0, start),),
        )
        result.append((window, offset))
    return result


def _korquad_questions(video_id: str, entries: Any, windows: list[tuple[Window, int]]) -> Iterator[Question]:
    """Yield the questions about a paragraph; gold is the window, or the neighbouring windows, with the answer."""
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
