"""Copies: the same speech in several videos, such as a Short and its full video, a re-upload or a clip.

Two scenes are copies if their morphemes match throughout the time that both cover: from the later beginning to the
earlier end. So a copy may be cut a few seconds later or have other recognition errors, while a greeting or a sponsor's
text shared by two different scenes makes no copy.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from statistics import median

from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.search.fusion import Ranked

Group = Sequence[Ranked]
"""The windows of a scene, best first."""

RUN = 3
"""Morphemes per compared run."""
LEAST_SHARED = 8
"""Fewest runs that copies share."""
LEAST_BESIDE = 0.5
"""Least share of the shorter scene that must overlap: an end that begins another scene proves nothing."""
PARTS = 8
"""Parts of the overlap. All but one must match: a sponsor's text fills only some of them."""
LEAST_ALIKE = 0.15
"""Least share of equal runs in a part; see `docs/dev/evaluation.md`."""
DRIFT = 8
"""Most morphemes by which changed words shift the rest, plus `DRIFT_SHARE` of the scene."""
DRIFT_SHARE = 0.1


AHEAD = 10
"""Scenes after the last result to check for copies."""


class SceneSpeech:
    """The morphemes of a scene, and the start of each run by its hash, to save memory."""

    def __init__(self, video_id: str, forms: Sequence[str]) -> None:
        self.video_id = video_id
        self.length = len(forms)
        runs = map(hash, zip(*(forms[at:] for at in range(RUN)), strict=False))
        self.runs = dict(zip(runs, range(self.length), strict=False))

    def shares(self, runs: set[int]) -> bool:
        """Return whether enough of these runs occur for a copy."""
        return len(runs.intersection(self.runs)) >= LEAST_SHARED

    def is_copy_of(self, twin: "SceneSpeech") -> bool:
        """Return whether another video has the same speech."""
        shared = self.runs.keys() & twin.runs.keys() if self.video_id != twin.video_id else frozenset()
        if len(shared) < LEAST_SHARED:
            return False
        shift = round(median(twin.runs[run] - self.runs[run] for run in shared))
        first, last = max(0, -shift), min(self.length, twin.length - shift)
        if last - first < LEAST_BESIDE * min(self.length, twin.length):
            return False
        drift = DRIFT + DRIFT_SHARE * max(self.length, twin.length)

        def part(at: int) -> int:
            return (at - first) * PARTS // (last - first)

        alike = Counter(
            part(self.runs[run])
            for run in shared
            if first <= self.runs[run] < last and abs(twin.runs[run] - self.runs[run] - shift) <= drift
        )
        if len(alike) < PARTS - 1:
            return False
        all_runs = Counter(part(at) for at in self.runs.values() if first <= at < last)
        return sum(alike[each] >= LEAST_ALIKE * all_runs[each] > 0 for each in range(PARTS)) >= PARTS - 1


def first_results(
    groups: Sequence[Group], limit: int, morphemes: Callable[[Sequence[str]], Mapping[str, Morphemes]]
) -> tuple[list[list[Group]], bool]:
    """Return the first `limit` scenes with their copies, and whether more follow.

    Checks `AHEAD` further scenes for copies. A search within the copy's video still finds one that ranks lower.
    """
    results: list[list[Group]] = []
    speeches: list[list[SceneSpeech]] = []
    runs: list[set[int]] = []
    known_runs = set[int]()
    waiting, more = iter(groups), False
    while len(results) < limit and (batch := list(islice(waiting, limit - len(results) + AHEAD))):
        analyses = morphemes([entry.window_id for group in batch for entry in group])
        for group in batch:
            speech = _speech(group, analyses)
            alike = [at for at, each in enumerate(runs) if speech.shares(each)] if speech.shares(known_runs) else ()
            at = next((at for at in alike if any(map(speech.is_copy_of, speeches[at]))), None)
            if at is not None:
                results[at].append(group)
                speeches[at].append(speech)
                runs[at].update(speech.runs)
            elif len(results) < limit:
                results.append([group])
                speeches.append([speech])
                runs.append(set(speech.runs))
                known_runs.update(speech.runs)
            else:
                more = True
    return results, more or next(waiting, None) is not None


def _speech(group: Group, analyses: Mapping[str, Morphemes]) -> SceneSpeech:
    windows = sorted(group, key=lambda entry: entry.ordinal)
    forms = [analyses[entry.window_id].forms for entry in windows if entry.window_id in analyses]
    return SceneSpeech(group[0].video_id, forms[0] if len(forms) == 1 else [*chain.from_iterable(forms)])
