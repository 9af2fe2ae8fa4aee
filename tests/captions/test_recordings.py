"""Recorded answers of the real player, replayed through yt-dlp's extractor.

They are of an earlier player client, and show what its answers look like: what they say against a video, and tracks.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import FetchError
from subtitle_rag.youtube.tracks import track_candidates
from subtitle_rag.youtube.youtube import Page, YouTube
from tests.stand_ins.youtube import QUICK, StandIn

UNNAMED = "recorded000"
"""Id of a video that its answer does not name."""


def recorded(folder: Path, name: str) -> Any:
    path = folder / "youtube_responses" / name
    if not path.exists():
        pytest.skip(f"no recorded answers in {path.parent}; set SUBTITLE_RAG_DATA to replay them")
    return json.loads(path.read_text(encoding="utf-8"))


def replayed(youtube: StandIn, answer: Any) -> Page:
    video_id = answer.get("videoDetails", {}).get("videoId", UNNAMED)
    youtube.recordings[video_id] = answer
    with YouTube(QUICK) as door:
        return next(door.pages(video_id, "replayed"))


@pytest.mark.parametrize(
    ("name", "code", "requests"),
    [
        ("youtube_age_restricted.innertube.json", "age_restricted", 3),
        ("youtube_request_blocked.innertube.json", "bot_check", 3),
        ("youtube_unplayable.innertube.json", "bot_check", 3),
        ("youtube_video_unavailable.innertube.json", "not_found", 1),
    ],
)
def test_what_the_page_said_against_a_video_is_recognised(
    youtube: StandIn, real_data: Path, name: str, code: str, requests: int
) -> None:
    with pytest.raises(FetchError) as refused:
        replayed(youtube, recorded(real_data, name))
    assert refused.value.code == code
    assert youtube.count() == requests


@pytest.mark.parametrize(
    ("name", "languages", "expected"),
    [
        ("ko_asr_player_excerpt_mbtQAqqoHt0.json", ("ko",), ("ko", "asr")),
        ("youtube.innertube.json", ("ko", "en"), ("ko", "manual")),
        ("youtube_altered_user_agent.innertube.json", ("ja",), ("ja", "manual")),
        ("youtube_ww1_nl_en.innertube.json", ("en",), ("en", "manual")),
    ],
)
def test_the_tracks_of_an_answer_are_found_with_one_request(
    youtube: StandIn, real_data: Path, name: str, languages: tuple[str, ...], expected: tuple[str, str]
) -> None:
    page = replayed(youtube, recorded(real_data, name))
    best = track_candidates(page.info, languages)[0]
    assert (best.language, best.kind) == expected
    assert page.video.duration_ms
    assert youtube.count() == 1


@pytest.mark.parametrize(
    "name", ["youtube_transcripts_disabled.innertube.json", "youtube_transcripts_disabled2.innertube.json"]
)
def test_an_answer_without_tracks_has_every_client_asked(youtube: StandIn, real_data: Path, name: str) -> None:
    page = replayed(youtube, recorded(real_data, name))
    assert track_candidates(page.info, ("en", "fr", "ko")) == []
    assert not page.withheld
    assert youtube.count() == 3


def test_tracks_for_a_token_are_withheld(youtube: StandIn, real_data: Path) -> None:
    page = replayed(youtube, recorded(real_data, "youtube_po_token_required.innertube.json"))
    assert page.withheld
