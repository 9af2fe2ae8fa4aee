"""The real YouTube and a real Ollama, for machines that have them: `pytest -m youtube`, `pytest -m ollama`.

Everything else is tested on stand-ins, which cannot show what the real ones answer.
"""

from pathlib import Path

import pytest

from subtitle_rag import models
from subtitle_rag.captions.addresses import parse as source
from subtitle_rag.captions.parse import parse
from subtitle_rag.captions.tracks import choose
from subtitle_rag.captions.youtube import YouTube
from subtitle_rag.config import LlmSettings, YoutubeSettings
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.cleaning import clean
from subtitle_rag.domain import Video
from subtitle_rag.llm import Llm
from tests.invented import windows

CHANNEL = "https://www.youtube.com/@YouTubeKorea"


@pytest.mark.youtube
def test_a_channel_lists_videos_and_one_of_them_has_korean_captions() -> None:
    with YouTube(YoutubeSettings()) as youtube:
        listing = youtube.listing(source(CHANNEL), ("videos",))
        assert listing.channel_id
        for _number in range(10):
            entry = next(listing.lists[0])
            page = youtube.video(entry.video.id, entry.video.title)
            assert page.video.published
            assert page.video.channel_id == listing.channel_id
            if offer := choose(page.info, ["ko"]):
                track = youtube.track(offer, page.video.title)
                assert parse(track.raw, track.format, path=page.video.title)
                return
    pytest.fail("none of ten videos has Korean captions")


@pytest.mark.ollama
def test_a_model_writes_a_context_and_reads_the_prefix_once(tmp_path: Path) -> None:
    model = models.default().name
    host = Llm(LlmSettings().hosts[0], LlmSettings())
    own = windows("v", 6)
    plan = context_prompt.plan(Video("v", "국수 삶기", "c", "느린 부엌"), own)
    try:
        assert host.check(model).digest
        replies = [
            host.chat(
                plan.messages(ordinal).as_list(),
                model=model,
                num_ctx=plan.num_ctx,
                num_predict=context_prompt.NUM_PREDICT,
                seed=7,
                schema=context_prompt.SCHEMA,
            )
            for ordinal in range(2)
        ]
    finally:
        host.close()
    assert all(clean(reply.text, window=own[0].text) for reply in replies)
    assert replies[1].prompt_ms < replies[0].prompt_ms
