"""A second opinion on captions: where those of a video and what is heard of it on this machine differ, names above all.

The words of both are aligned; spaces and punctuation are no difference, since Korean is spaced in many ways.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from subtitle_rag.captions import parse_captions
from subtitle_rag.contexts import ends_in_particle, parse_list
from subtitle_rag.domain import Cue, Track, UsageError, squeeze
from subtitle_rag.transcribing import spoken_names

if TYPE_CHECKING:
    from subtitle_rag.library import Library
    from subtitle_rag.runtime import Runtime

MOST_WORDS = 6
"""Most words of one side: where more differ, one side has not understood, and no spelling is in question."""
FAR_MS = 15_000
"""Words of both sides that are this far apart are not the same speech."""
NAMES = 20
"""Most names that are offered for the glossary."""
_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where both differ. One side is empty where it leaves the words out."""

    at_ms: int
    written: str
    """By the video's captions."""
    heard: str
    is_name: bool = False
    """One side is a name that is known of the channel or the video, or a word that no dictionary knows."""
    count: int = 1
    """How often the same difference comes in the video."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """How captions and what was heard differ: names first, then what comes often."""

    captions: str
    """The kind of the captions: `manual`, `asr` or `file`."""
    model: str
    differences: tuple[Difference, ...]
    names: tuple[str, ...]
    """Heard names that the channel's glossary lacks."""

    def values(self) -> dict[str, Any]:
        """Return its values for JSON."""
        differences = [
            {"at": each.at_ms / 1000, **{key: value for key, value in asdict(each).items() if key != "at_ms"}}
            for each in self.differences
        ]
        return {
            "captions": self.captions,
            "model": self.model,
            "differences": differences,
            "names": list(self.names),
        }


def is_ready(library: "Library", video_id: str, model: str | None) -> bool:
    """Whether a video has both captions and what was heard, by this model where one is named.

    Raises:
        UsageError: `no_captions_to_compare`, for a video without captions.
    """
    captions, heard = _sides(library, video_id)
    if captions is None:
        video = library.video(video_id)
        raise UsageError("no_captions_to_compare", title=video.title if video else video_id)
    return heard is not None and model in (None, heard.model)


def ask_for_second_opinion(library: "Library", video_id: str) -> None:
    """Have the next run of `listen` hear a video beside its captions, which stay."""
    library.listenings.ask([video_id], again=True, aside=True)


def compare(runtime: "Runtime", video_id: str) -> SecondOpinion:
    """Compare a video's captions with what was heard of it. Raises the errors of `Library` and of the index's host."""
    library = runtime.library
    captions, heard = _sides(library, video_id)
    video = library.video(video_id)
    assert captions is not None
    assert heard is not None
    assert video is not None
    raw_differences = compare_texts(_cues(captions), _cues(heard))
    glossary = library.contexts.glossary(video.channel_id)
    words = sorted({word for each in raw_differences for word in _stems(f"{each.written} {each.heard}")})
    nearness = runtime.words.nearness(words)
    ordinary = runtime.words.adverbs(words)
    unknown = {word for word in words if not nearness.get(word) and word not in ordinary}
    differences = rank(raw_differences, spoken_names(library, video), unknown)
    names = new_names(differences, unknown, glossary, by_person=captions.kind == "manual")
    return SecondOpinion(captions.kind, heard.model, differences, tuple(names))


def compare_texts(captions: Sequence[Cue], heard: Sequence[Cue]) -> list[Difference]:
    """Return the places where two texts of the same speech differ, in order."""
    caption_words, heard_words = _words(captions), _words(heard)
    texts = [[word for word, _at in words] for words in (caption_words, heard_words)]
    matcher = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
    differences: list[Difference] = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        before, after = caption_words[i1:i2], heard_words[j1:j2]
        if kind == "equal" or max(len(before), len(after)) > MOST_WORDS:
            continue
        if squeeze("".join(word for word, _at in before)) == squeeze("".join(word for word, _at in after)):
            continue
        if before and after and abs(before[0][1] - after[0][1]) > FAR_MS:
            continue
        differences.append(Difference((before or after)[0][1], _text(before), _text(after)))
    return differences


def rank(differences: Iterable[Difference], names: Iterable[str], unknown: Collection[str]) -> tuple[Difference, ...]:
    """Join what comes several times, and order it: names first, then by how often, then by time."""
    squeezed_names = {squeeze(name) for name in names if 1 < len(squeeze(name)) <= 20}
    joined: dict[tuple[str, str], Difference] = {}
    for each in differences:
        key = (squeeze(each.written), squeeze(each.heard))
        first = joined.get(key)
        if first:
            joined[key] = replace(first, count=first.count + 1)
            continue
        stems = [stem for text in (each.written, each.heard) for stem in _stems(text)]
        is_name = any(squeeze(stem) in squeezed_names or stem in unknown for stem in stems)
        joined[key] = replace(each, is_name=is_name)
    return tuple(sorted(joined.values(), key=lambda each: (not each.is_name, -each.count, each.at_ms)))


def add_to_glossary(library: "Library", channel_id: str, names: Sequence[str]) -> list[str]:
    """Add names to a channel's glossary, as far as there is room; return those that are new."""
    present = library.contexts.glossary(channel_id)
    glossary = parse_list("\n".join((*present, *names)))
    if new := list(glossary[len(present) :]):
        library.contexts.put_glossary(channel_id, glossary)
    return new


def new_names(
    differences: Iterable[Difference], unknown: Collection[str], glossary: Collection[str], *, by_person: bool
) -> Iterator[str]:
    """Yield the words of the differences that are likely names, the most frequent first.

    They are the heard ones, or the written ones where the captions are `by_person`, who knew how to write them.
    """
    counts: Counter[str] = Counter()
    for each in differences:
        if each.is_name:
            stems = _stems(each.written if by_person else each.heard)
            counts.update(dict.fromkeys((stem for stem in stems if stem in unknown), each.count))
    yield from [name for name, _count in counts.most_common() if name not in glossary][:NAMES]


def _sides(library: "Library", video_id: str) -> tuple[Track | None, Track | None]:
    """Return a video's captions, and what was heard."""
    tracks = [track for track in (library.track(video_id), library.listenings.offered_track(video_id)) if track]
    captions = next((track for track in tracks if track.kind != "local"), None)
    return captions, next((track for track in tracks if track.kind == "local"), None)


def _cues(track: Track) -> list[Cue]:
    return parse_captions(track.raw, track.format, language=track.language)


def _words(cues: Iterable[Cue]) -> list[tuple[str, int]]:
    """Return the words of cues with their times, without punctuation."""
    words: list[tuple[str, int]] = []
    for cue in cues:
        texts = cue.text.split()
        starts = cue.word_starts if len(cue.word_starts) == len(texts) else (cue.start_ms,) * len(texts)
        for text, start in zip(texts, starts, strict=True):
            if letters := "".join(_LETTERS.findall(text.casefold())):
                words.append((letters, start))
    return words


def _text(words: Iterable[tuple[str, int]]) -> str:
    return " ".join(word for word, _at in words)


def _stems(text: str) -> Iterator[str]:
    """Yield the words of a text without their particles, those of two letters and more."""
    for word in text.split():
        cut = next((at for at in range(2, len(word)) if ends_in_particle(word[at:])), len(word))
        if cut > 1:
            yield word[:cut]
