"""Which addresses a request to YouTube may reach."""

from subtitle_rag.youtube.request_rules import is_block_page, is_youtube, may_answer
from tests.support.cases import cases

WATCH = "https://www.youtube.com/watch?v=slowcook001"
STRANGERS = [
    "https://example.com/",
    "http://www.youtube.com/",
    "https://www.youtube.com.example/",
    "https://xyoutube.com/",
    "https://youtube.comx/",
    "https://www.youtube.com@127.0.0.1/",
    "https://user@www.youtube.com/",
    "https://www.youtube.com:8443/",
    "https://www.youtube.com:x/",
    "https://evil.example\\.youtube.com/",
    "https://evil.example%2f.youtube.com/",
    "https://evil.example\\@www.youtube.com/",
    "https://www.youtube.com./",
    "https://www.yоutube.com/",
    "https://www。youtube。com/",
    "https://169.254.169.254/",
    "https://[::1]/",
    "https://[::1",
    "//example.com/",
    "\\\\example.com/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "ftp://www.youtube.com/",
    "javascript:alert(1)",
    "https://",
]


@cases("url", STRANGERS)
def test_a_stranger_is_no_host_of_youtube(url: str) -> None:
    assert not is_youtube(url)
    assert not may_answer(WATCH, url)


@cases(
    "host",
    [
        "www.youtube.com",
        "YouTube.com",
        "consent.youtube.com",
        "youtu.be",
        "i.ytimg.com",
        "www.youtube-nocookie.com",
        "youtube.com:443",
    ],
)
def test_its_own_hosts_are_known(host: str) -> None:
    assert is_youtube(f"https://{host}/x")
    assert may_answer(WATCH, f"https://{host}/x")


def test_an_answer_may_come_from_where_it_was_asked_for() -> None:
    assert may_answer("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/b?c")
    assert not may_answer("http://127.0.0.1:8000/a", "http://127.0.0.1:8001/b")


def test_the_page_for_those_who_are_blocked() -> None:
    assert is_block_page("https://www.google.com/sorry/index?continue=x")
    assert not is_block_page("https://www.google.com/search")
    assert not is_block_page("https://google.com.example/sorry/")
    assert not is_block_page("https://[::1")
