"""How much a caption track says, and which of a video's tracks says enough.

A manual track can be empty, a greeting, or the translation of a few signs. The automatic one then holds what is said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from subtitle_rag.domain.values import Cue, MeasuredTrack, TrackSelection
from subtitle_rag.i18n import N_, _, n_

STRETCH_MS = 10_000
"""Speech leaves few stretches of this length empty."""
ENOUGH_SYLLABLES = 100
"""A minute. 65 real Korean videos, fashion and conference talks, have 213 to 380."""
ENOUGH_STRETCHES = 0.5
"""Share of a video's stretches in which a line begins. In the same videos it is .92 to 1."""
MUCH_MORE = 4
"""Times the speech of a condensed track. In the same videos one line of three is kept, one of five is not."""
MORE = 2
"""Times the stretches of a track that ends early: of the same videos the first 60 % are kept, the first 45 % not."""
LETTERS_A_SYLLABLE = 2.5
"""Letters a syllable where a script writes sounds: 150 English words a minute are as long as 270 Korean syllables."""
MIN_SHARE = 0.2
"""Share of its language's letters below which a track is in another language. In the same videos it is .92 to 1, though
the talks are on software with English names."""
MIN_LETTERS = 40
"""Fewer letters may be a title or a name in any script."""

_NOTE = re.compile(r"\[[^\[\]]*\]")
"""What is heard and not said: [음악]. Parentheses are not only notes: they hold asides, and thoughts."""
_SYLLABIC = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]")
"""Letters of Hangul, kana and Han."""
_SCRIPTS = {
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]"),
    "ja": re.compile("[\u3040-\u30ff\u3400-\u9fff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "en": re.compile("[A-Za-z]"),
}
"""Letters of languages, by base tag."""

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
    """What a track says, each line counted once: a credit shown again and again says no more."""

    syllables: int = 0
    stretches: int = 0
    """Stretches of the video in which a new line begins."""
    mislabelled: bool = False
    """The letters are not those of its language: then only letters of its language count as syllables."""


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
    """Return whether a track can be that of all speech in a video; never without the video's length."""
    if duration_ms is None or speech.mislabelled:
        return False
    return (
        speech.syllables * 60_000 >= ENOUGH_SYLLABLES * duration_ms
        and speech.stretches * STRETCH_MS >= ENOUGH_STRETCHES * duration_ms
    )


def outweighs(candidate: Speech, preferred: Speech) -> bool:
    """Return whether a track says enough more than a preferred one to be the better one."""
    return candidate.syllables > MORE * preferred.syllables and (
        candidate.stretches > MORE * preferred.stretches or candidate.syllables > MUCH_MORE * preferred.syllables
    )


def selection_notes(selection: TrackSelection) -> list[str]:
    """Return sentences on the track that a video has: why it is this one, and what is doubtful about it."""
    selected = selection.tracks[selection.taken]
    names = {"taken": _held(selected), "preferred": _held(selection.tracks[0])}
    alternatives = ", ".join(_held(track) for track in selection.tracks[1:])
    notes = [_(REASONS[selection.reason]).format(others=alternatives, **names)] if selection.reason else []
    if selection.flag in FLAGS:
        notes.append(_(FLAGS[selection.flag]).format(language=selected.language))
    return notes


def _held(track: MeasuredTrack) -> str:
    """Return kind, language and amount of a track."""
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
