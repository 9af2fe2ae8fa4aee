"""Amount of speech in a caption track, to choose among a video's tracks.

A manual track can be empty, a greeting, or the translation of a few signs. The automatic track then has the speech.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from subtitle_rag.base.domain.values import Cue, MeasuredTrack, TrackSelection
from subtitle_rag.base.i18n import N_, _, n_

STRETCH_MS = 10_000
"""Length of the stretches that are counted: speech leaves few of this length empty."""
ENOUGH_SYLLABLES = 100
"""Minimum syllables a minute. 65 real Korean fashion and conference talks have 213 to 380."""
ENOUGH_STRETCHES = 0.5
"""Minimum share of a video's stretches with the start of a line. The same videos have .92 to 1."""
MUCH_MORE = 4
"""How much more speech beats a condensed track: one line of three is kept, one of five is not."""
MORE = 2
"""How many more stretches beat a track that ends early: the first 60 % are kept, the first 45 % not."""
LETTERS_A_SYLLABLE = 2.5
"""Letters per syllable of an alphabet: 150 English words a minute are as long as 270 Korean syllables."""
MIN_SHARE = 0.2
"""Minimum share of letters in the track's own script. Real videos have .92 to 1, even talks on software."""
MIN_LETTERS = 40
"""Letters below which a title or name in another script proves nothing."""

_NOTE = re.compile(r"\[[^\[\]]*\]")
"""Sounds in square brackets: [음악]. Parentheses may also be asides or thoughts."""
_SYLLABIC = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]")
"""Hangul, kana and Han characters."""
_SCRIPTS = {
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]"),
    "ja": re.compile("[\u3040-\u30ff\u3400-\u9fff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "en": re.compile("[A-Za-z]"),
}
"""Letters by base language tag."""

REASONS = {
    "speech": N_("The {taken} were taken: they say more than the {preferred}."),
    "kept": N_("The {taken} say little, and the {others} say no more."),
    "withheld": N_("The {taken} say little, and YouTube withholds others, which are asked for again."),
}
FLAGS = {
    "translated": N_("These captions are a machine's translation."),
    "dub": N_("These captions may be those of an automatic dub."),
    "mislabelled": N_("YouTube labels these captions {language}, but their letters are of another language."),
}


@dataclass(frozen=True, slots=True)
class Speech:
    """Amount of speech in a track, each line counted once: a repeated credit adds nothing."""

    syllables: int = 0
    stretches: int = 0
    """Stretches of the video in which a new line begins."""
    mislabelled: bool = False
    """The track is not in its labelled language; only letters of that language count as syllables."""


def measure_speech(cues: Iterable[Cue], language: str) -> Speech:
    """Measure the cues of a track that YouTube labels with this language tag."""
    lines: set[str] = set()
    starts: list[tuple[str, int]] = []
    for cue in cues:
        line = _NOTE.sub("", cue.text)
        if line not in lines and (text := "".join(filter(str.isalpha, line))):
            lines.add(line)
            starts.append((text, cue.start_ms // STRETCH_MS))
    script = _SCRIPTS.get(language.partition("-")[0].lower())
    letters = sum(len(text) for text, _stretch in starts)
    script_letters = sum(len(script.findall(text)) for text, _stretch in starts) if script else letters
    mislabelled = script is not None and letters >= MIN_LETTERS and script_letters < MIN_SHARE * letters
    if mislabelled and script is not None:
        starts = [(in_script, stretch) for text, stretch in starts if (in_script := "".join(script.findall(text)))]
    syllables = sum(_syllables(text) for text, _stretch in starts)
    return Speech(round(syllables), len({stretch for _text, stretch in starts}), mislabelled)


def _syllables(letters: str) -> float:
    syllabic = len(_SYLLABIC.findall(letters))
    return syllabic + (len(letters) - syllabic) / LETTERS_A_SYLLABLE


def is_enough(speech: Speech, duration_ms: int | None) -> bool:
    """Whether a track may cover all speech of a video; never without the video's duration."""
    if duration_ms is None or speech.mislabelled:
        return False
    return (
        speech.syllables * 60_000 >= ENOUGH_SYLLABLES * duration_ms
        and speech.stretches * STRETCH_MS >= ENOUGH_STRETCHES * duration_ms
    )


def outweighs(candidate: Speech, preferred: Speech) -> bool:
    """Whether a track has enough more speech to beat a preferred one."""
    return candidate.syllables > MORE * preferred.syllables and (
        candidate.stretches > MORE * preferred.stretches or candidate.syllables > MUCH_MORE * preferred.syllables
    )


def selection_notes(selection: TrackSelection) -> list[str]:
    """Return sentences on a video's track: the reason for its choice, and doubts."""
    selected = selection.tracks[selection.taken]
    names = {"taken": _held(selected), "preferred": _held(selection.tracks[0])}
    alternatives = ", ".join(_held(track) for track in selection.tracks[1:])
    notes = [_(REASONS[selection.reason]).format(others=alternatives, **names)] if selection.reason else []
    if selection.flag in FLAGS:
        notes.append(_(FLAGS[selection.flag]).format(language=selected.language))
    return notes


def _held(track: MeasuredTrack) -> str:
    """Return kind, language and amount of speech of a track."""
    if track.syllables is None:
        amount = _("unreadable")
    else:
        amount = n_("{n} syllable", "{n} syllables", track.syllables, n=f"{track.syllables:,}")
    template = (
        _("manual captions ({language}, {amount})")
        if track.kind == "manual"
        else _("automatic captions ({language}, {amount})")
    )
    return template.format(language=track.language, amount=amount)
