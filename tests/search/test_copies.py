"""The same speech in several videos is one result with its copies; a text that videos share is none."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from subtitle_rag.base.domain.values import Cue, Morphemes
from subtitle_rag.captions.windows import cut_windows
from subtitle_rag.search.copies import SceneSpeech, first_results
from subtitle_rag.search.fusion import Ranked
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.scenes import Scene
from tests.campaign.figures import SEED, Say, say as say
from tests.support.place import Place
from tests.support.searchable import Searchable, video

MINUTES = [
    [
        "오늘은 동해 바다에서 잡은 오징어를 손질해요",
        "먼저 내장을 빼고 껍질을 벗긴 다음에",
        "굵은 소금으로 문질러 씻어 주세요",
        "채반에 널어서 반나절 말리면 쫄깃해져요",
        "마른 팬에 버터를 녹이고 약한 불에서",
        "마늘 한 줌과 함께 천천히 구워 줍니다",
        "간장 한 숟가락에 설탕을 조금 넣고",
        "고춧가루는 매운 정도에 따라 골라요",
        "깨를 뿌려 접시에 담으면 완성입니다",
    ],
    [
        "다음으로 옥수수를 삶는 방법을 알아봐요",
        "수염을 몇 가닥 남기면 향이 더 좋아져요",
        "압력솥에 물을 반쯤 붓고 이십 분 끓여요",
        "뉴슈가 대신 꿀을 써도 괜찮습니다",
        "식기 전에 뚜껑을 열지 마세요",
        "알갱이를 떼어 샐러드에 넣기도 하고",
        "남은 것은 봉지에 담아 얼려 두세요",
        "겨울에 꺼내 먹으면 여름 생각이 나요",
        "강원도 할머니께서 가르쳐 주신 비법이에요",
    ],
]
SPONSOR = [
    "이 영상은 튼튼한 냄비 회사에서 지원을 받았습니다",
    "지금 설명란 링크로 들어가시면 절반 가격에",
    "사은품으로 국자까지 함께 드린다고 하네요",
]
PAPERS = [
    "색종이를 반으로 접어 자국을 내요",
    "모서리를 눌러 학의 목을 만들어요",
    "날개를 펴면 벌써 반은 끝났습니다",
    "풀은 안 쓰고 가위도 필요 없어요",
    "금색 은색 종이는 뒷면이 하얘서",
    "상자에 담아 친구에게 선물하세요",
]
CLAYS = [
    "찰흙을 손으로 오래 주물러 주세요",
    "물을 살짝 묻히면 표면이 부드럽고",
    "토끼 귀를 두 개 만들어 붙입니다",
    "이쑤시개로 수염을 그려 넣어요",
    "그늘에서 사흘쯤 천천히 말려요",
    "물감을 칠하고 유약을 바릅니다",
]
FULL = video("full0000001", "바닷가 부엌 전체")
SHORT = video("short000001", "오징어 쇼츠")
AGAIN = video("again000001", "다시 올린 오징어", channel="다른 부엌")
PAPER = video("paper000001", "종이 접기")
CLAY = video("clay0000001", "찰흙 놀이")
SLIP = {"내장을": "내 장을", "쫄깃해져요": "쫄깃해줘요", "고춧가루는": "고추가루는"}


def slipped(lines: Sequence[str]) -> list[str]:
    """The lines as another recognition has them."""
    return [" ".join(SLIP.get(word, word) for word in line.split()) for line in lines]


VIDEOS = {
    SHORT: [slipped(MINUTES[0])],
    FULL: [*MINUTES, ["끝으로 인사를 드릴게요", "안녕히 계세요"]],
    AGAIN: [MINUTES[0]],
    PAPER: [[*SPONSOR, *PAPERS]],
    CLAY: [[*CLAYS[:3], *SPONSOR, *CLAYS[3:]]],
}


def found(made: Searchable, query: str, limit: int = 20) -> Sequence[Scene]:
    return made.searcher.search(parse_query(query), limit=limit).scenes


def test_a_short_and_a_re_upload_are_copies_of_the_full_video(made: Searchable) -> None:
    first = found(made, "오징어 손질")[0]
    assert first.video == FULL, "the fullest one is shown"
    assert {copy.video.id for copy in first.copies} == {SHORT.id, AGAIN.id}
    assert all(copy.rank == first.rank and not copy.copies for copy in first.copies)
    assert all(copy.text[copy.highlights[0][0] :].startswith("오징어") for copy in first.copies), "with its own marks"


def test_results_are_numbered_without_copies(made: Searchable) -> None:
    scenes = found(made, "오징어 옥수수")
    assert [scene.rank for scene in scenes] == list(range(1, len(scenes) + 1))
    ids = [each.id for scene in scenes for each in (scene, *scene.copies)]
    assert len(ids) == len(set(ids))


def test_a_limit_counts_results(made: Searchable) -> None:
    result = made.searcher.search(parse_query("오징어 종이"), limit=2)
    assert {scene.video for scene in result.scenes} == {FULL, PAPER}
    assert sum(len(scene.copies) for scene in result.scenes) == 2


def test_a_filter_leaves_the_copy_alone(made: Searchable) -> None:
    (scene,) = found(made, f"오징어 video:{SHORT.id}")
    assert (scene.video, scene.copies) == (SHORT, ())


def test_a_sponsors_text_makes_no_copies(made: Searchable) -> None:
    scenes = found(made, "냄비 회사 사은품")
    assert {PAPER, CLAY} <= {scene.video for scene in scenes}
    assert not any(scene.copies for scene in scenes)


def test_a_video_has_no_copies_of_itself() -> None:
    words = [f"w{number}" for number in range(60)]
    assert SceneSpeech("a", words).is_copy_of(SceneSpeech("b", words))
    assert not SceneSpeech("a", words).is_copy_of(SceneSpeech("a", words))


@pytest.mark.parametrize(("seconds", "is_copy"), [(0, True), (7, True), (25, True), (45, False)])
def test_windows_that_are_cut_later_are_copies_while_half_is_said_side_by_side(seconds: int, is_copy: bool) -> None:
    words = [f"w{number}" for number in range(180)]
    assert SceneSpeech("a", words[:60]).is_copy_of(SceneSpeech("b", words[seconds : seconds + 60])) == is_copy


@pytest.mark.parametrize("at", [0, 15, 40])
def test_a_greeting_in_a_third_of_other_speech_makes_no_copy(at: int) -> None:
    greeting = [f"g{number}" for number in range(20)]
    one, other = ([f"{name}{number}" for number in range(40)] for name in "ab")
    first = SceneSpeech("a", [*greeting, *one])
    assert not first.is_copy_of(SceneSpeech("b", [*other[:at], *greeting, *other[at:]]))


def test_words_without_runs_are_no_copies() -> None:
    assert not SceneSpeech("a", []).is_copy_of(SceneSpeech("b", []))
    assert not SceneSpeech("a", ["네"] * 60).is_copy_of(SceneSpeech("b", ["네"] * 60))


COPIES = 10
"""Videos that are copied."""


def garbled(text: str, share: float, chooser: random.Random, words: Sequence[str]) -> str:
    """The text with a share of its words left out, replaced, or followed by another."""
    made: list[str] = []
    for word in text.split():
        chance, other = chooser.random() / share, chooser.choice(words)
        made += [] if chance < 1 / 3 else [other] if chance < 2 / 3 else [word, other] if chance < 1 else [word]
    return " ".join(made)


@pytest.mark.campaign(part="data")
def test_made_copies_of_real_captions_are_found_and_nothing_else(place: Place, real_data: Path, say: Say) -> None:
    for _event in place.indexer.index([real_data / "fashion_asr", real_data / "pyconkr_2019"]):
        pass
    library, chooser = place.library, random.Random(SEED)
    windows = {state.video.id: library.windows_of(state.video.id) for state in library.videos()}
    words = [word for own in windows.values() for window in own for word in window.text.split()]

    def speeches(video_id: str, texts: Sequence[str]) -> list[SceneSpeech]:
        return [SceneSpeech(video_id, made.forms) for made in place.analyzer.morphemes(texts)]

    own = {id: speeches(id, [window.text for window in each]) for id, each in windows.items()}
    whole = [speech for each in own.values() for speech in each]
    assert not any(one.is_copy_of(other) for at, one in enumerate(whole) for other in whole[:at])
    for late_ms, share in [(7_000, 0.0), (25_000, 0.0), (13_000, 0.05), (17_000, 0.1)]:
        copied = alone = 0
        for id in chooser.sample(sorted(windows), COPIES):
            lines = [line for window in windows[id] for line in window.spoken() if line[0] >= late_ms]
            ends = [*(at for at, _text in lines[1:]), windows[id][-1].end_ms]
            cues = [
                Cue(at - late_ms, max(end, at + 1) - late_ms, garbled(text, share, chooser, words) if share else text)
                for (at, text), end in zip(lines, ends, strict=True)
            ]
            made = speeches("copy", [window.text for window in cut_windows("copy", cues)])
            found = [any(speech.is_copy_of(each) for each in own[id]) for speech in made]
            copied, alone = copied + sum(found), alone + len(found) - sum(found)
            assert not any(
                speech.is_copy_of(each) for speech in made for other in own if other != id for each in own[other]
            )
        say(
            f"copies {late_ms / 1000:.0f} s later, {share:.0%} of the words changed: {copied} of {copied + alone} found"
        )
        assert copied >= 0.95 * (copied + alone)


def test_a_scene_is_compared_with_no_result_that_says_other_things(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever share of the scenes is copies: five speeches, each in six videos."""
    forms = [[f"{speech}.{at}" for at in range(60)] for speech in range(5)]
    groups = [
        [Ranked(f"{speech} of {at}", f"video {speech} {at}", 0, 1.0, {})] for at in range(6) for speech in range(5)
    ]
    compared: list[tuple[SceneSpeech, SceneSpeech]] = []
    whole = SceneSpeech.is_copy_of

    def counted(self: SceneSpeech, other: SceneSpeech) -> bool:
        compared.append((self, other))
        return whole(self, other)

    monkeypatch.setattr(SceneSpeech, "is_copy_of", counted)
    results, _more = first_results(
        groups, 20, lambda ids: {id: Morphemes(tuple(forms[int(id[0])]), (), ()) for id in ids}
    )
    assert [len(some) for some in results] == [6] * 5
    assert len(compared) == len(groups) - len(results)
