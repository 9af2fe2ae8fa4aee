"""Generated addresses, headers and messages against everything that keeps strangers out."""

import pickle
import random
import string
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from multiprocessing.connection import Client, Listener
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from subtitle_rag.base.domain.errors import AppError, LlmError, UsageError
from subtitle_rag.captions.addresses import MAX_TEXT, parse_address, parse_addresses
from subtitle_rag.models.ollama import host_guard
from subtitle_rag.youtube.request_rules import may_answer
from tests.campaign.figures import SEED, Figures, Say, count, say
from tests.support.addresses import REFUSED, TYPED

__all__ = ["say"]
pytestmark = pytest.mark.campaign(part="guards")

COUNT = count("SUBTITLE_RAG_GUARDS", 4_000)
MAX_S = 0.5
EVIL = ("evil.example", "169.254.169.254", "10.0.0.1", "xn--80ak6aa92e.com", "[::2]", "metadata.google.internal")
OWN = ("www.youtube.com", "youtube.com", "youtu.be", "m.youtube.com", "music.youtube.com")
LOOPBACK = ("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]")
LOOKS: tuple[Callable[[str, str], str], ...] = (
    lambda evil, host: evil,
    lambda evil, host: f"{host}.{evil}",
    lambda evil, host: f"{host}@{evil}",
    lambda evil, host: f"{host}:x@{evil}",
    lambda evil, host: f"{evil}#{host}",
    lambda evil, host: f"{evil}\\@{host}",
    lambda evil, host: f"{evil}/{host}",
    lambda evil, host: f"{evil}%2f{host}",
    lambda evil, host: f"{evil}%00.{host}",
    lambda evil, host: f"{evil}?{host}",
    lambda evil, host: f"x{host}",
    lambda evil, host: f"{host}x",
    lambda evil, host: host.replace("o", "о", 1) if "o" in host else evil,
    lambda evil, host: host.replace("e", "ｅ", 1) if "e" in host else evil,
    lambda evil, host: host.replace(".", "。", 1) if "." in host else evil,
    lambda evil, host: f"{host}\t.{evil}",
    lambda evil, host: f"{evil} {host}",
    lambda evil, host: f"{host},{evil}",
    lambda evil, host: f"{host}\r\nHost: {evil}",
    lambda evil, host: f"{host}:99999",
    lambda evil, host: f"[{host}]",
    lambda evil, host: f"user@{host}",
    lambda evil, host: f"{host}..",
)
"""A host that looks like one's own, or hides another."""
SCHEMES = ("http", "https", "HTTPS", "file", "ftp", "data", "javascript", "ws", "//", "http:/", "http:\\\\", "")
TAILS = (
    "",
    "/",
    "/watch?v=aB3_-xYz019",
    "/@market",
    "/%2e%2e/",
    "/..;/",
    "?list=x",
    "#x",
    "/redirect?q=http://evil.example",
)


def noisy(text: str, chance: random.Random) -> str:
    """The text with some of its characters changed."""
    letters = list(text)
    for _change in range(chance.choice([0, 0, 1, 2])):
        at = chance.randrange(len(letters) + 1)
        letters[at : at + chance.randrange(2)] = chance.choice(
            [*string.printable, "\u202e", "\u200d", "한", "\ud800", "％"]
        )
    return "".join(letters)


def stranger(chance: random.Random, hosts: tuple[str, ...]) -> str:
    """A host that is none of one's own."""
    return chance.choice(LOOKS)(chance.choice(EVIL), chance.choice(hosts))


def timed(figures: Figures, label: str, call: Callable[[], str]) -> None:
    began = time.process_time()
    try:
        result = call()
    except Exception as error:  # every one is listed, by its number
        result = "crashed"
        figures.wrong.append(f"{label}: {error!r}"[:300])
    took = time.process_time() - began
    figures.tried += 1
    figures.results[result] += 1
    if took > MAX_S:
        figures.wrong.append(f"{label}: {took:.1f} s")


def test_an_address_leads_to_youtube_or_nowhere(say: Say) -> None:
    figures = Figures("guards addresses")
    for number in range(COUNT):
        chance = random.Random(f"{SEED} address {number}")
        kind = chance.random()
        if kind < 0.5:
            text = f"{chance.choice(SCHEMES)}://{stranger(chance, OWN)}{chance.choice(TAILS)}"
        else:
            text = chance.choice([one for one, _source in TYPED])
        expected = None
        if kind >= 0.8:
            text, expected = chance.choice(TYPED)
        text = text if kind >= 0.8 else noisy(text, chance)

        def judge(text: str = text, expected: Any = expected, label: str = f"{number} {text!r}") -> str:
            try:
                source = parse_address(text)
            except UsageError:
                if expected is not None:
                    figures.wrong.append(f"{label} is turned away")
                return "refused"
            parts = urlsplit(source.url)
            if (parts.scheme, parts.netloc) != ("https", "www.youtube.com") or not source.url.isascii():
                figures.wrong.append(f"{label} leads to {source.url}")
            if ".." in parts.path or "\\" in source.url or any(char in source.url for char in "\r\n\t @"[:4]):
                figures.wrong.append(f"{label} leads to {source.url!r}")
            if expected is not None and source != expected:
                figures.wrong.append(f"{label} is {source}")
            return "let through"

        timed(figures, f"{number} {text!r}", judge)
    for text in REFUSED:
        with pytest.raises(UsageError):
            parse_address(text if isinstance(text, str) else text[0])
    figures.check(say, "refused", "let through")


def test_an_address_in_a_text_leads_to_youtube_or_nowhere(say: Say) -> None:
    figures = Figures("guards texts")
    for number in range(COUNT):
        chance = random.Random(f"{SEED} text {number}")
        address, text = "", ""
        for _word in range(chance.randrange(1, 6)):
            kind = chance.random()
            if kind < 0.4:
                address, _source = chance.choice(TYPED)
                text += address
            elif kind < 0.7:
                text += f"{chance.choice(SCHEMES)}://{stranger(chance, OWN)}{chance.choice(TAILS)}"
            else:
                text += chance.choice(
                    ["느긋한 식탁", "(", ")", "[제목](", "을 봐", "\\", "。", "1.", "\u2066", ",", "@"]
                )
            text += chance.choice(["", " ", "\n", ", "])

        def judge(text: str = noisy(text, chance)) -> str:
            try:
                sources = parse_addresses(text)
            except UsageError:
                return "refused"
            for source in sources:
                parts = urlsplit(source.url)
                if (parts.scheme, parts.netloc) != ("https", "www.youtube.com") or not source.url.isascii():
                    figures.wrong.append(f"{text!r} leads to {source.url}")
            return "let through"

        timed(figures, f"{number} {text!r}", judge)
    for piece in (
        "a.",
        "a",
        "https://",
        "(?",
        "@a ",
        "youtu.be/",
        "가",
        "\\?",
        "a-",
        "(,",
        "://",
        "//",
        ",;",
        "a은",
        "%25",
    ):

        def read(text: str = piece * (MAX_TEXT // len(piece))) -> str:
            with suppress(UsageError):
                parse_addresses(text)
            return "let through"

        timed(figures, f"{piece!r} without end", read)
    figures.check(say, "refused", "let through")


def _is_loopback(name: str) -> bool:
    number = ip_address(name)
    return (getattr(number, "ipv4_mapped", None) or number).is_loopback


def test_a_context_model_is_asked_on_this_computer(say: Say) -> None:
    figures = Figures("guards ollama")
    for number in range(COUNT):
        chance = random.Random(f"{SEED} ollama {number}")
        is_own = chance.random() < 0.4
        host = chance.choice([*LOOPBACK[:3], "[::1]", "127.9.9.9", "0.0.0.0"]) if is_own else stranger(chance, LOOPBACK)
        text = chance.choice(["", "http://", "https://"]) + host + chance.choice(["", ":11434"])

        def judge(text: str = text, is_own: bool = is_own) -> str:
            try:
                address = host_guard.address(text, remote=False)
            except LlmError:
                if is_own:
                    figures.wrong.append(f"{text!r} is turned away")
                return "refused"
            name = urlsplit(address).hostname or ""
            if name != "localhost" and not _is_loopback(name):
                figures.wrong.append(f"{text!r} leads to {address!r}")
            return "let through"

        timed(figures, f"{number} {text!r}", judge)
    figures.check(say, "refused", "let through")


def _is_of(host: str, domains: Sequence[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def test_a_redirect_of_youtube_leads_to_its_hosts(say: Say) -> None:
    """The library that would connect reads the same host."""
    figures = Figures("guards redirects of YouTube")
    for number in range(COUNT):
        chance = random.Random(f"{SEED} YouTube {number}")
        is_own = chance.random() < 0.4
        host = chance.choice(OWN) if is_own else stranger(chance, OWN)
        url = f"https://{host}{chance.choice(TAILS)}"

        def judge(url: str = url, is_own: bool = is_own) -> str:
            if not may_answer("https://www.youtube.com/redirect", url):
                if is_own:
                    figures.wrong.append(f"{url!r} is turned away")
                return "refused"
            name = httpx.URL(url).host
            if not _is_of(name, ("youtube.com", "youtu.be")):
                figures.wrong.append(f"{url!r} leads to {name}")
            return "let through"

        timed(figures, f"{number} {url!r}", judge)
    figures.check(say, "refused", "let through")


class _Trap:
    """Notes that it was unpickled."""

    sprung: list[int] = []  # noqa: RUF012

    def __reduce__(self) -> tuple[Callable[[int], None], tuple[int]]:
        return _Trap.sprung.append, (1,)


def test_a_host_unpickles_nothing_of_a_stranger(say: Say) -> None:
    """Hosts prove the key before they read an object, as `multiprocessing.connection` does it."""
    figures = Figures("guards pickles")
    from subtitle_rag.base.hosting import handshake

    key = b"k" * 32
    for number in range(max(20, COUNT // 200)):
        chance = random.Random(f"{SEED} pickle {number}")
        knows_key = chance.random() < 0.3

        def judge(knows_key: bool = knows_key, chance: random.Random = chance) -> str:
            with Listener() as listener:
                thread = Thread(
                    target=_stranger, args=(listener.address, key if knows_key else None, chance), daemon=True
                )
                thread.start()
                with listener.accept() as connection:
                    try:
                        handshake.shake_hands(connection, key, as_host=True, limit_s=10)
                        received = connection.recv()
                    except Exception:
                        return "refused"
                if not knows_key or received != "hello":
                    figures.wrong.append(f"{received!r} was read")
                return "let through"

        timed(figures, str(number), judge)
    assert _Trap.sprung == []
    figures.check(say, "refused", "let through")


def _stranger(address: Any, key: bytes | None, chance: random.Random) -> None:
    try:
        if key is not None:
            with Client(address, authkey=key) as connection:
                connection.send("hello")
            return
        with Client(address) as connection:
            for _message in range(3):
                connection.send_bytes(
                    chance.choice(
                        [pickle.dumps(_Trap()), b"#WELCOME#", b"#CHALLENGE#" + b"x" * 20, b"", chance.randbytes(99)]
                    )
                )
    except (OSError, EOFError, AppError):
        return
