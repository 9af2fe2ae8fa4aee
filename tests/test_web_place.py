"""Where `serve` listens, and which names are its own."""

import errno
import socket
from unittest.mock import create_autospec

import pytest

from subtitle_rag.domain import AppError
from subtitle_rag.web_place import ListenAddress, canonical_name, is_same_origin, listen

HERE = ListenAddress("127.0.0.1", "127.0.0.1", 8000)
IPV6 = ListenAddress("::1", "::1", 8000)
LAN = ListenAddress("192.168.0.2", "192.168.0.2", 8000)
NAMED = ListenAddress("kitchen.local", "192.168.0.2", 8000)
EVERYWHERE = ListenAddress("0.0.0.0", "0.0.0.0", 8000)


@pytest.mark.parametrize(
    ("header", "place", "is_answered"),
    [
        ("127.0.0.1:8000", HERE, True),
        ("localhost:9000", HERE, True),
        ("LocalHost:8000", HERE, True),
        ("localhost.:8000", HERE, True),
        ("[::1]:9000", HERE, True),
        ("[0:0:0:0:0:0:0:1]", HERE, True),
        ("[::ffff:127.0.0.1]:8000", HERE, True),
        ("localhost", IPV6, True),
        ("localhost.example:8000", HERE, False),
        ("127.0.0.1.example", HERE, False),
        ("localhost..", HERE, False),
        ("x@localhost:8000", HERE, False),
        ("localhost:8000/x", HERE, False),
        ("localhost:8000:9000", HERE, False),
        ("localhost:99999", HERE, False),
        ("localhost:", HERE, False),
        ("ｌｏｃａｌｈｏｓｔ:8000", HERE, False),
        ("192.168.0.2:8000", HERE, False),
        ("[::1", HERE, False),
        ("", HERE, False),
        ("192.168.0.2:9000", LAN, True),
        ("localhost:8000", LAN, False),
        ("KITCHEN.local.:8000", NAMED, True),
        ("192.168.0.2:8000", NAMED, True),
        ("192.168.0.2:8000", EVERYWHERE, True),
        ("localhost:8000", EVERYWHERE, True),
        ("rebound.example:8000", EVERYWHERE, False),
    ],
)
def test_only_names_that_no_other_site_can_take_are_answered(
    header: str, place: ListenAddress, is_answered: bool
) -> None:
    assert place.answers(header) is is_answered


@pytest.mark.parametrize(
    ("origin", "header", "is_same"),
    [
        ("http://localhost:8000", "localhost:8000", True),
        ("http://localhost", "localhost:80", True),
        ("http://localhost:80", "localhost", True),
        ("http://localhost:8000", "LOCALHOST.:8000", True),
        ("http://[::1]:8000", "[0:0::1]:8000", True),
        ("https://localhost:8000", "localhost:8000", False),
        ("http://localhost:9000", "localhost:8000", False),
        ("http://localhost", "localhost:8000", False),
        ("http://localhost:8000/", "localhost:8000", False),
        ("http://x@localhost:8000", "localhost:8000", False),
        ("null", "localhost:8000", False),
        ("", "", False),
    ],
)
def test_an_origin_is_compared_as_browsers_mean_it(origin: str, header: str, is_same: bool) -> None:
    assert is_same_origin(origin, header) is is_same


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("LOCALHOST.", "localhost"),
        ("127.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("[::1]", "::1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("0:0:0:0:0:0:0:0", "::"),
        ("부엌.local", "xn--or3bu5m.local"),
        ("10a", "10a"),
        ("", ""),
        ("부..엌", ""),
    ],
)
def test_a_name_has_one_spelling(host: str, name: str) -> None:
    assert canonical_name(host) == name


@pytest.mark.parametrize(
    ("name", "number", "port", "url"),
    [
        ("127.0.0.1", "127.0.0.1", 80, "http://127.0.0.1"),
        ("localhost", "127.0.0.1", 8000, "http://127.0.0.1:8000"),
        ("kitchen.local", "192.168.0.2", 8000, "http://kitchen.local:8000"),
        ("::1", "::1", 8000, "http://[::1]:8000"),
        ("0.0.0.0", "0.0.0.0", 8000, "http://127.0.0.1:8000"),
    ],
)
def test_the_address_is_one_that_a_browser_opens(name: str, number: str, port: int, url: str) -> None:
    place = ListenAddress(name, number, port)
    assert place.url() == url
    assert place.answers(url.removeprefix("http://"))


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST.", "::1", "[::1]", "127.1"])
def test_the_address_of_a_socket_is_reached_and_answered(host: str) -> None:
    listening, place, url = listen(host, 0)
    with listening:
        name, _colon, port = url.removeprefix("http://").rpartition(":")
        socket.create_connection((name.strip("[]"), int(port)), timeout=5).close()
        assert place.answers(f"{name}:{port}")
        assert place.is_loopback
        assert not place.is_any


@pytest.mark.parametrize(("host", "is_dual"), [("::", True), ("0:0::0", True), ("0", False), ("0.0.0.0", False)])
def test_every_address_includes_the_one_to_open(host: str, is_dual: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's socket of `::` takes no IPv4 unless it is told."""
    options: dict[str, object] = {}
    listening = create_autospec(socket.socket, instance=True)
    listening.getsockname.return_value = ("::" if is_dual else "0.0.0.0", 8000)

    def serve(_address: object, **named: object) -> socket.socket:
        options.update(named)
        return listening  # type: ignore[no-any-return]

    monkeypatch.setattr(socket, "create_server", serve)
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: True)
    _socket, place, url = listen(host, 8000)
    assert options["dualstack_ipv6"] is is_dual
    assert place.is_any
    assert not place.is_loopback
    assert url == "http://127.0.0.1:8000"
    assert place.answers("127.0.0.1:8000")
    if is_dual:
        monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
        assert listen(host, 8000)[2] == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [
        ("", 0, "not a host name"),
        ("부..엌", 0, "not a host name"),
        ("a..b", 0, "knows no address"),
        ("x" * 300, 0, "knows no address"),
        ("fe80::1%lo", 0, "zone"),
        ("127.0.0.1", 6000, "browsers"),
    ],
)
def test_what_cannot_be_served_is_a_sentence(host: str, port: int, reason: str) -> None:
    with pytest.raises(AppError) as refused:
        listen(host, port)
    assert refused.value.code == "web_address"
    assert reason in refused.value.details["reason"]


def test_a_port_that_is_taken_is_told() -> None:
    listening, place, _url = listen("127.0.0.1", 0)
    with listening, pytest.raises(AppError) as refused:
        listen("127.0.0.1", place.port)
    assert "another program" in refused.value.details["reason"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EACCES, "1024"),
        (errno.EADDRNOTAVAIL, "not an address of this computer"),
        (errno.EMFILE, "Too many open files"),
    ],
)
def test_a_socket_that_the_system_refuses_is_told(number: int, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(AppError) as refused:
        listen("127.0.0.1", 80)
    assert reason in refused.value.details["reason"]
