"""Payloads of points: what an index filters by, and what its scenes are."""

import json
from datetime import date

from subtitle_rag.index.payload import to_payload
from tests.support.invented import video, window


def test_a_payload_is_plain_json_with_all_that_a_scene_needs() -> None:
    owner = video("theirs00001", url="https://www.youtube.com/watch?v=theirs00001", published=date(2026, 5, 31))
    payload = to_payload(owner, window(owner.id, 3), "국수를 삶는 장면")
    assert json.loads(json.dumps(payload)) == payload
    assert (payload["video"], payload["channel_id"], payload["published"]) == (owner.id, "channel", "2026-05-31")
    assert (payload["text"], payload["context"]) == ("국수를 먹었어요", "국수를 삶는 장면")
    assert "speakers" not in payload
