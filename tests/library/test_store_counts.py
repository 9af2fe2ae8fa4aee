"""Term counts, searchable windows and purges after any sequence of changes, against a plain model of the library."""

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.library.store import ALL, Library
from tests.support.invented import RULE, analysis, track, video, windows

FORMS = ("국수", "만두", "먹", "바다", "python", "😀")
VIDEOS = ("video-a", "video-b", "video-c")
ENCODERS = ("kiwi-1", "kiwi-2")

videos = st.sampled_from(VIDEOS)
forms = st.lists(st.sampled_from(FORMS), max_size=5).map(tuple)
window_ids = st.builds(lambda v, n: f"{v}/{n}", videos, st.integers(0, 4))


class LibraryModel(RuleBasedStateMachine):
    """`windows`: which there are; `noted`: window → (encoder, forms); `purges`: what the index must let go of;
    `states`: how the captions stand."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.library = Library(Path(self.folder.name) / "library.db")
        self.windows: dict[str, set[str]] = {}
        self.noted: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.purges: set[str] = set()
        self.states: dict[str, str] = {}
        self.source = self.library.sources.follow("https://x", name="x", channel_id=None, options=SourceOptions()).id

    def teardown(self) -> None:
        if hasattr(self, "library"):
            self.library.close()
            self.folder.cleanup()

    def drop(self, id: str) -> None:
        gone = self.windows.pop(id, set())
        self.states.pop(id, None)
        if gone:
            self.purges.add(id)
        self.noted = {window: noted for window, noted in self.noted.items() if window not in gone}

    @rule(id=videos, count=st.integers(0, 4))
    def put(self, id: str, count: int) -> None:
        own = windows(id, count)
        self.library.put_video(video(id), track(), own, RULE)
        self.drop(id)
        self.windows[id] = {window.id for window in own}
        self.states[id] = "done"

    @rule(encoder=st.sampled_from(ENCODERS), batch=st.dictionaries(window_ids, forms, max_size=6))
    def note(self, encoder: str, batch: dict[str, tuple[str, ...]]) -> None:
        self.library.put_indexed(encoder, {id: ("s", analysis(*own)) for id, own in batch.items()})
        there = set().union(*self.windows.values())
        self.noted |= {id: (encoder, own) for id, own in batch.items() if id in there}

    @rule(id=videos)
    def remove(self, id: str) -> None:
        self.library.remove_videos([id])
        self.drop(id)

    @rule(id=videos)
    def fail(self, id: str) -> None:
        self.library.put_failure(video(id), "no_cues", {})
        self.windows.setdefault(id, set())
        self.states[id] = "failed"

    @rule(id=videos, code=st.sampled_from(("network", "private")))
    def refuse(self, id: str, code: str) -> None:
        self.library.sources.put_refused(video(id), code, {"title": id}, None)
        self.windows.setdefault(id, set())
        self.states[id] = "failed"

    @rule(id=videos)
    def list_(self, id: str) -> None:
        self.library.sources.put_listed(self.source, [video(id)])
        self.windows.setdefault(id, set())
        self.states.setdefault(id, "due")

    @rule()
    def forget_index(self) -> None:
        self.library.forget_index()
        self.noted = {}
        self.purges |= {ALL}

    @rule(id=st.sampled_from((*VIDEOS, ALL)))
    def purged(self, id: str) -> None:
        self.library.finish_purge(id)
        self.purges = set() if id == ALL else self.purges - {id}

    @invariant()
    def agrees(self) -> None:
        counts = Counter(form for _encoder, own in self.noted.values() for form in set(own))
        assert self.library.term_counts(FORMS) == counts
        assert set(self.library.vocabulary(letters=1)) == set(counts)
        assert self.library.counts().searchable == len(self.noted)
        assert self.library.counts().windows == sum(map(len, self.windows.values()))
        assert self.library.counts().due == list(self.states.values()).count("due")
        assert self.library.counts().failed == list(self.states.values()).count("failed")
        assert set(self.library.sources.due(0, all_failed=True)) == {i for i, s in self.states.items() if s != "done"}
        assert {state.video.id for state in self.library.videos()} == set(self.windows)
        assert set(self.library.pending_index_deletes()) == self.purges
        analyses = self.library.morphemes(list(self.noted))
        assert {id: found.forms for id, found in analyses.items()} == {id: own for id, (_, own) in self.noted.items()}

    @invariant()
    def pending_agrees(self) -> None:
        expected = {id for id, own in self.windows.items() if own - self.noted.keys()}
        assert {known.id for known, _own in self.library.pending()} == expected


TestLibraryModel = LibraryModel.TestCase
TestLibraryModel.settings = settings(stateful_step_count=20)
