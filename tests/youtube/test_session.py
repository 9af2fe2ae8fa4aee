"""The session: as whom, by which way, and that nothing but YouTube is asked."""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from yt_dlp.networking.common import _REQUEST_HANDLERS
from yt_dlp.networking.exceptions import UnsupportedRequest
from yt_dlp.utils import DownloadError

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import FetchError
from subtitle_rag.youtube.session import COOKIE_LIMIT, PAGE_CLIENT, Session, _RequestLog, _to_fetch_error
from tests.stand_ins.youtube import QUICK, Clip, StandIn, stand_in
from tests.support.cases import cases

WATCH = "https://www.youtube.com/watch?v=slowcook001"
COOKIES = """# Netscape HTTP Cookie File
.youtube.com\tTRUE\t/\tTRUE\t1999999999\tLOGIN_INFO\tnobody
.example.com\tTRUE\t/\tTRUE\t1999999999\tOTHER\tsite
"""


@pytest.fixture
def youtube() -> Iterator[StandIn]:
    with stand_in() as server:
        server.add(Clip("slowcook001", "국수"))
        yield server


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def cookies(tmp_path: Path) -> Path:
    file = tmp_path / "cookies.txt"
    file.write_text(COOKIES)
    return file


def ask(session: Session) -> dict[str, Any]:
    session.forget_answers()
    return session.video_info(WATCH, "국수", PAGE_CLIENT)


def refusal(settings: YoutubeSettings) -> FetchError:
    session = Session(settings)
    try:
        with pytest.raises(FetchError) as refused:
            ask(session)
        return refused.value
    finally:
        session.close()


def test_cookies_are_sent_and_never_written(youtube: StandIn, copies: Path, cookies: Path) -> None:
    session = Session(replace(QUICK, cookie_file=str(cookies)))
    ask(session)
    assert list(copies.iterdir()) == []  # a process that is killed leaves nothing
    assert all("LOGIN_INFO=nobody" in asked.headers["cookie"] for asked in youtube.asked("watch"))
    assert all("OTHER" not in asked.headers.get("cookie", "") for asked in youtube.requests)
    session.close()
    assert list(copies.iterdir()) == []
    assert cookies.read_text() == COOKIES


def test_a_session_can_be_used_again_after_it_was_closed(youtube: StandIn, copies: Path, cookies: Path) -> None:
    session = Session(replace(QUICK, cookie_file=str(cookies)))
    for _time in range(2):
        assert ask(session)["title"] == "국수"
        session.close()
    assert list(copies.iterdir()) == []


def test_no_cookies_are_kept_between_sessions(youtube: StandIn, copies: Path) -> None:
    session = Session(QUICK)
    ask(session)
    session.close()
    assert list(copies.iterdir()) == []


def test_the_users_home_is_known_in_the_path_of_cookies(
    youtube: StandIn, copies: Path, cookies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(cookies.parent))
    monkeypatch.setenv("USERPROFILE", str(cookies.parent))
    session = Session(replace(QUICK, cookie_file="~/cookies.txt"))
    assert ask(session)["title"] == "국수"
    session.close()


def test_cookies_that_cannot_be_read_are_told_before_anything_is_asked(
    youtube: StandIn, copies: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_text("these are\nno cookies at all\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as stream:
        stream.truncate(COOKIE_LIMIT + 2)
    settings = [
        replace(QUICK, cookie_file=str(tmp_path / "none.txt")),
        replace(QUICK, cookie_file=str(tmp_path)),
        replace(QUICK, cookie_file=str(broken)),
        replace(QUICK, cookie_file=str(pipe)),
        replace(QUICK, cookie_file=str(huge)),
        replace(QUICK, cookies_from_browser="netscape"),
        replace(QUICK, cookies_from_browser="firefox:" + str(tmp_path / "no profile")),
        replace(QUICK, cookies_from_browser="--exec"),
        replace(QUICK, cookies_from_browser="firefox --exec x"),
    ]
    for wrong in settings:
        refused = refusal(wrong)
        assert refused.code == "cookies_unreadable"
        assert refused.details["reason"]
    assert youtube.count() == 0
    assert list(copies.iterdir()) == []


def test_a_missing_file_is_named(youtube: StandIn, tmp_path: Path) -> None:
    refused = refusal(replace(QUICK, cookie_file=str(tmp_path / "none.txt")))
    assert str(tmp_path / "none.txt") in refused.message
    assert "No such file" in refused.message


def test_nothing_is_printed(youtube: StandIn, capfd: pytest.CaptureFixture[str]) -> None:
    session = Session(QUICK)
    ask(session)
    youtube.refuse(None, times=None)
    with pytest.raises(FetchError):
        ask(session)
    session.close()
    refusal(replace(QUICK, cookies_from_browser="netscape"))
    assert capfd.readouterr() == ("", "")


def test_a_proxy_is_used() -> None:
    """The stand-in has no proxy; so this looks at what yt-dlp is given."""
    session = Session(replace(QUICK, proxy="socks5://127.0.0.1:9"))
    assert session._ydl.proxies["all"] == "socks5://127.0.0.1:9"
    session.close()


@cases(
    "url",
    [
        "https://example.com/",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "ytsearch5:국수",
        "https://vimeo.com/1",
        "https://youtube.com.example/watch?v=slowcook001",
        "https://www.youtube.com@127.0.0.1/watch?v=slowcook001",
    ],
)
def test_nothing_but_youtube_is_asked(youtube: StandIn, url: str) -> None:
    session = Session(QUICK)
    with pytest.raises(FetchError):
        session.info(url, url)
    session.close()
    assert youtube.count() == 0


def test_all_that_is_asked_for_is_on_youtube(youtube: StandIn) -> None:
    session = Session(QUICK)
    info = ask(session)
    session.body(info["automatic_captions"]["ko-orig"][0]["url"], "국수")
    session.close()
    assert {asked.host for asked in youtube.requests} == {"www.youtube.com"}


def test_an_answer_without_end_is_cut(youtube: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.youtube.request_rules.LIMIT", 100)
    youtube.refuse("timedtext", 200, body=b"x" * 500)
    session = Session(QUICK)
    assert len(session.body("https://www.youtube.com/api/timedtext?v=slowcook001", "국수")) == 101
    session.close()


@cases("url", ["http://www.youtube.com/api/timedtext", "file:///etc/passwd", "https://[::1", ""])
def test_no_body_is_fetched_from_elsewhere(youtube: StandIn, url: str) -> None:
    session = Session(QUICK)
    with pytest.raises(FetchError) as refused:
        session.body(url, "국수")
    session.close()
    assert refused.value.code == "network"
    assert youtube.count() == 0


def test_a_page_of_youtube_may_lead_to_another_one_of_its_hosts(youtube: StandIn) -> None:
    youtube.refuse("other", 302, headers={"Location": "https://m.youtube.com/generate_204"})
    session = Session(QUICK)
    try:
        session.body("https://www.youtube.com/generate_204", "")
    finally:
        session.close()
    assert [asked.headers["host"] for asked in youtube.requests] == ["www.youtube.com", "m.youtube.com"]


def test_the_page_for_those_who_are_blocked_is_a_block_and_not_read(youtube: StandIn) -> None:
    youtube.refuse(None, 302, times=None, headers={"Location": "https://www.google.com/sorry/index?continue=x"})
    assert refusal(QUICK).code == "rate_limited"


@pytest.mark.parametrize("url", ["https://example.com/", "https://www.google.com/sorry/index"])
def test_an_answer_from_elsewhere_is_refused(youtube: StandIn, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    handler = sys.modules["yt_dlp_plugins.extractor.stand_in_youtube"].StandInYoutubeRH
    send = handler.send

    def follow(self: Any, request: Any) -> Any:
        response = send(self, request)
        response.url = url
        return response

    monkeypatch.setattr(handler, "send", follow)
    assert refusal(QUICK).code == ("network" if "example" in url else "rate_limited")


def test_with_a_curl_cffi_that_yt_dlp_refuses_captions_are_fetched_without_it(
    youtube: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No handler takes a request that is to look like a browser's then."""
    handler = sys.modules["yt_dlp_plugins.extractor.stand_in_youtube"].StandInYoutubeRH

    def refuse(_self: Any, request: Any) -> None:
        if "impersonate" in request.extensions:
            raise UnsupportedRequest("Unsupported extensions: impersonate")

    monkeypatch.setattr(handler, "_validate", refuse)
    monkeypatch.delitem(_REQUEST_HANDLERS, "CurlCFFI", raising=False)
    monkeypatch.setitem(sys.modules, "curl_cffi", ModuleType("curl_cffi"))
    session = Session(QUICK)
    assert not session.can_impersonate
    info = session.video_info(WATCH, "국수", "web")
    assert session.body(info["automatic_captions"]["ko-orig"][0]["url"], "국수")
    session.close()


def test_a_video_that_needs_javascript_is_not_called_removed() -> None:
    error = DownloadError("ERROR: [youtube] slowcook001: Requested format is not available. Use --list-formats")
    refused = _to_fetch_error(error, _RequestLog(), "국수")
    assert refused.code == "script_required"
    assert "국수" in refused.message
    ways = ("yt-dlp[curl-cffi,default,deno]", "--with youtube", "self add youtube")
    assert any(way in refused.hint for way in ways)
