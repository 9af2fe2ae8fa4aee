"""`eval asr`: what a model hears of a sound, compared with its captions by a person, and found by the same questions.

Rates are of edits: characters (CER) without spaces, words (WER) as spaces part them. Both texts are brought to NFC and
to small letters; notes in brackets, marks and speakers' dashes are left out. Numbers stay as they are written, so that
3만 원 for 삼만 원 counts as an error.
"""

import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subtitle_rag.captions import caption_suffixes, cut_windows, parse_captions
from subtitle_rag.domain import CaptionError, Cue, UsageError, Video, Window, clock, nfc
from subtitle_rag.evaluation import temp_library
from subtitle_rag.evaluation.arm_run import ArmRun
from subtitle_rag.evaluation.arms import NO_MODEL, Arm
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.metrics import means
from subtitle_rag.evaluation.questions import Dataset, gold_set
from subtitle_rag.i18n import _
from subtitle_rag.listening import open_transcriber, sound_length_ms
from subtitle_rag.retrieval.search.parts import LEXICAL
from subtitle_rag.runtime import Runtime

_NOTES = re.compile(r"\[[^\]]*\]|\([^)]*\)|（[^）]*）|♪[^♪]*♪")
_MARKS = re.compile(r"[^\w\s]|_")


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Edits that make one text of another, of so many characters or words that it should have."""

    edits: int
    size: int

    @property
    def rate(self) -> float | None:
        return self.edits / self.size if self.size else None

    def to_json(self) -> dict[str, Any]:
        return {"edits": self.edits, "of": self.size, "rate": None if self.rate is None else round(self.rate, 4)}


@dataclass(frozen=True, slots=True)
class SpeechReport:
    """What a model heard of a sound."""

    model: str
    characters: ErrorRate
    words: ErrorRate
    length_ms: int
    gap_ms: int
    seconds: float
    memory_mb: int | None
    """Most that a process which listened has taken, of all models so far; None where the system does not say."""
    scenes: dict[str, dict[str, float]] | None
    """Figures of the search by words, over `captions` and over what was `heard`; None without questions."""

    @property
    def pace(self) -> float:
        """Return the time that it took, as a share of the sound's length."""
        return self.seconds / max(0.001, self.length_ms / 1000)

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "cer": self.characters.to_json(),
            "wer": self.words.to_json(),
            "length": self.length_ms / 1000,
            "gaps": self.gap_ms / 1000,
            "seconds": round(self.seconds, 1),
            "pace": round(self.pace, 3),
            "memory_mb": self.memory_mb,
            "scenes": self.scenes,
        }

    def lines(self) -> list[str]:
        rates = {_("CER"): self.characters, _("WER"): self.words}
        parts = [f"{name} {each.rate:.1%}" for name, each in rates.items() if each.rate is not None]
        parts.append(_("{pace}x the length of the sound").format(pace=f"{self.pace:.2f}"))
        if self.memory_mb is not None:
            parts.append(f"{self.memory_mb} MB")
        if self.gap_ms:
            parts.append(_("gaps {length}").format(length=clock(self.gap_ms)))
        lines = [self.model, "  " + "  ".join(parts)]
        for name, figures in (self.scenes or {}).items():
            heading = _("captions") if name == "captions" else _("heard")
            lines.append(f"  {heading}  " + "  ".join(f"{key} {value:.2f}" for key, value in figures.items()))
        return lines


def measure_speech(
    runtime: Runtime,
    sound: Path,
    captions: Path,
    model: str | None,
    queries: Path | None,
    progress: Callable[[int, int], object],
) -> SpeechReport:
    """Listen to a sound by a model, and compare what is heard with its captions.

    Raises:
        UsageError: `unreadable`, `bad_queries`, and those of `open_transcriber`.
        CaptionError: as `parse_captions`.
        AppError: as `Transcriber.listen`.
    """
    caption_cues = read_cues(captions)
    dataset = load_questions(queries) if queries else None
    transcriber = open_transcriber(runtime.models, model)
    length_ms = sound_length_ms(sound)
    started, heard = time.monotonic(), []
    for stretch in transcriber.listen(sound):
        heard.append(stretch)
        progress(stretch.end_ms, length_ms)
    seconds = time.monotonic() - started
    cues = [cue for stretch in heard for cue in stretch.cues]
    characters, words = error_rates(caption_cues, cues)
    return SpeechReport(
        transcriber.model,
        characters,
        words,
        length_ms,
        sum(stretch.end_ms - stretch.begin_ms for stretch in heard if stretch.gap),
        seconds,
        _peak_mb(),
        _scene_figures(runtime, captions, caption_cues, cues, dataset) if dataset else None,
    )


def error_rates(caption_cues: Sequence[Cue], heard: Sequence[Cue]) -> tuple[ErrorRate, ErrorRate]:
    """Return the rates of characters and of words."""
    from rapidfuzz.distance import Levenshtein

    ours, theirs = ([word for cue in cues for word in normalized(cue.text).split()] for cues in (caption_cues, heard))
    letters = "".join(ours)
    return (
        ErrorRate(Levenshtein.distance(letters, "".join(theirs)), len(letters)),
        ErrorRate(Levenshtein.distance(ours, theirs), len(ours)),
    )


def normalized(text: str) -> str:
    """Return a text as it is compared."""
    return " ".join(_MARKS.sub("", _NOTES.sub(" ", nfc(text))).casefold().split())


def read_cues(path: Path) -> list[Cue]:
    """Read a caption file."""
    format = path.suffix.lstrip(".").lower()
    if path.suffix.lower() not in caption_suffixes():
        raise CaptionError("not_captions", path=str(path), reason=_("it is no caption file"))
    try:
        return parse_captions(path.read_bytes(), format, path=str(path))
    except OSError as error:
        raise UsageError("unreadable", path=str(path), reason=error.strerror or str(error)) from error


def _scene_figures(
    runtime: Runtime, captions: Path, caption_cues: Sequence[Cue], heard: Sequence[Cue], dataset: Dataset
) -> dict[str, dict[str, float]]:
    """Search by the questions about this video, which name it by its file of captions."""
    video_names = {gold.video for question in dataset.questions for gold in question.gold}
    name = captions.name if captions.name in video_names else captions.stem
    video = Video(name, captions.stem, "asr", "asr", source=str(captions))
    figures = {}
    for kind, cues in (("captions", caption_cues), ("heard", heard)):
        windows: list[Window] = cut_windows(video.id, cues)
        with temp_library.create([(video, windows)], temp_library.CachingAnalyzer(runtime.analyzer)) as view:
            gold = gold_set(dataset, view.library, {video.id: windows})
            measured = ArmRun(Arm.of(NO_MODEL, LEXICAL), view).measure(gold)
        figures[kind] = {key: round(means(measured.values)[key].value, 3) for key in ("hit@1", "hit@5", "mrr@10")}
    return figures


def _peak_mb() -> int | None:
    """Return the most memory that a child process has taken."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return round(peak / (1024**2 if sys.platform == "darwin" else 1024))
