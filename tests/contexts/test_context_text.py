"""What is said of contexts, and of the requests for them."""

import pytest

from subtitle_rag import i18n
from subtitle_rag.contexts.context_text import request_notes
from subtitle_rag.domain.events import ModelRequest


def request(state: str, seconds: int = 0, *, attempt: int = 1, tokens: int = 12_400) -> ModelRequest:
    return ModelRequest("v", "제목", state, tokens, seconds, attempt)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "elapsed", "notes"),
    [
        (request("reading"), 72.4, ["reading 12,400 tokens", "1:12"]),
        (request("reading", 500), 0, ["reading 12,400 tokens", "0:00 of about 8:20"]),
        (request("reading", attempt=3), 1, ["reading 12,400 tokens", "0:01", "attempt 3"]),
        (request("waiting", 20, attempt=3), 0.4, ["attempt 3 in 20 s"]),
        (request("waiting", 20, attempt=3), 25, ["attempt 3 in 0 s"]),
        (request("writing"), 65, ["the model writes", "1:05"]),
        (request("reading", 2), 2, []),
        (request("writing"), 2, []),
        (None, 100, []),
    ],
)
def test_a_request_is_told_once_it_takes_a_while(told: ModelRequest | None, elapsed: float, notes: list[str]) -> None:
    assert request_notes(told, elapsed) == notes


def test_in_korean() -> None:
    i18n.activate("ko")
    assert request_notes(request("reading", 500), 72) == ["자막 12,400토큰을 읽는 중", "1:12/약 8:20"]
    assert request_notes(request("waiting", 20, attempt=3), 0) == ["3번째 시도, 20초 뒤"]
