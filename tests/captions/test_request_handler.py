"""The handlers that send yt-dlp's requests: through httpx, and as a browser through curl_cffi."""

import gzip
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import IPv4Address
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from yt_dlp.networking import Request
from yt_dlp.networking.exceptions import HTTPError, RequestError, TransportError
from yt_dlp.networking.impersonate import ImpersonateTarget

from subtitle_rag.captions.request_rules import MAX_REDIRECTS
from subtitle_rag.captions.session import Session
from tests.stand_ins.loopback import Loopback, Server
from tests.stand_ins.youtube import QUICK
from tests.support.cases import cases

Send = Callable[[Request], Any]


class _PathHandler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        stand_in: Site = self.server.stand_in
        length = int(self.headers.get("Content-Length") or 0)
        stand_in.requests.append(
            (
                self.command,
                self.path,
                {name.lower(): text for name, text in self.headers.items()},
                self.rfile.read(length),
            )
        )
        status, headers, body = stand_in.responses.get(self.path, (200, {}, b"body"))
        self.send_response(status)
        for name, text in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - http.server's name

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Site(Loopback):
    """A server that answers each path as it is told."""

    HANDLER = _PathHandler

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.responses: dict[str, tuple[int, dict[str, str], bytes]] = {}

    @property
    def paths(self) -> list[str]:
        return [path for _method, path, _headers, _body in self.requests]

    def redirect(self, path: str, location: str, status: int = 302) -> None:
        self.responses[path] = (status, {"Location": location}, b"gone")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        yield server


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    with Site() as server:
        yield server


@pytest.fixture(params=["httpx", "curl_cffi"])
def send(request: pytest.FixtureRequest) -> Iterator[Send]:
    """Sends a request through one of the two, as a session's extractor does."""
    if request.param == "curl_cffi":
        pytest.importorskip("curl_cffi", reason="the optional curl_cffi is not installed")
    session = Session(QUICK)
    assert session._ydl.can_impersonate or request.param == "httpx"

    def send(sent: Request) -> Any:
        if request.param == "curl_cffi":
            sent.extensions["impersonate"] = ImpersonateTarget()
        return session._ydl.urlopen(sent)

    yield send
    session.close()


def test_a_response_is_read(site: Site, send: Send) -> None:
    site.responses["/a?b=%EA%B0%80"] = (
        200,
        {"Content-Type": "text/plain", "X-Note": "한".encode().decode("latin-1")},
        b"x",
    )
    with send(Request(f"{site.base}/a?b=%EA%B0%80", headers={"X-Own": "1"})) as response:
        assert response.read() == b"x"
    assert response.status == 200
    assert response.url == f"{site.base}/a?b=%EA%B0%80"
    assert response.headers["content-type"] == "text/plain"
    ((method, _path, headers, _body),) = site.requests
    assert method == "GET"
    assert headers["x-own"] == "1"
    assert "python" not in headers["user-agent"].lower()
    assert "Mozilla/5.0" in headers["user-agent"]


@cases("path", ["/a?sig=A%3D%3D&x=a%2Cb&k=[1]", "/%EA%B0%80?q=%ea%b0%80", "/a?b='c'&d=e|f"])
def test_a_signed_address_is_sent_as_it_is(site: Site, send: Send, path: str) -> None:
    send(Request(f"{site.base}{path}")).close()
    assert site.paths[-1:] == [Request(f"{site.base}{path}").url.removeprefix(site.base)]


def test_a_body_is_sent(site: Site, send: Send) -> None:
    data = '{"context": "한"}'.encode()
    send(Request(f"{site.base}/api", data=data, headers={"Content-Type": "application/json"})).close()
    ((method, _path, headers, body),) = site.requests
    assert (method, body) == ("POST", data)
    assert headers["content-type"] == "application/json"


@cases("encoding", ["gzip", "deflate", ""])
def test_an_encoded_body_is_decoded(site: Site, send: Send, encoding: str) -> None:
    text = "자막 ".encode() * 5_000
    encode: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress, "": bytes}
    encoded = encode[encoding](text)
    site.responses["/"] = (200, {"Content-Encoding": encoding} if encoding else {}, encoded)
    assert send(Request(f"{site.base}/")).read() == text


def test_a_response_without_end_is_cut(site: Site, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.captions.request_rules.LIMIT", 100)
    bomb = gzip.compress(bytes(10_000_000))
    site.responses["/"] = (200, {"Content-Encoding": "gzip"}, bomb)
    assert len(send(Request(f"{site.base}/")).read()) == 101
    site.responses["/"] = (200, {}, b"x" * 5_000)
    assert send(Request(f"{site.base}/")).read() == b"x" * 101


@cases("status", [301, 302, 303, 307, 308])
def test_no_redirect_reaches_another_host(site: Site, elsewhere: Site, send: Send, status: int) -> None:
    port = elsewhere.base.rpartition(":")[2]
    for path, location in {
        "/foreign": elsewhere.base,
        "/name": f"http://localhost:{port}/",
        "/user": f"https://www.youtube.com@127.0.0.1:{port}/",
        "/relative": f"//127.0.0.1:{port}/",
        "/file": "file:///etc/passwd",
        "/data": "data:text/plain,x",
        "/broken": "http://[::1",
        "/twice": "/foreign",
    }.items():
        site.redirect(path, location, status)
        with pytest.raises(RequestError):
            send(Request(f"{site.base}{path}"))
    assert elsewhere.paths == []


def test_a_redirect_inside_is_followed_and_a_circle_left(site: Site, send: Send) -> None:
    site.redirect("/own", "/end")
    site.redirect("/backslash", "http:\\\\127.0.0.2\\")  # no host, as RFC 3986 reads it
    assert send(Request(f"{site.base}/backslash")).read() == b"body"
    site.redirect("/loop", "/loop")
    assert send(Request(f"{site.base}/own")).read() == b"body"
    with pytest.raises(HTTPError) as refused:
        send(Request(f"{site.base}/loop"))
    assert refused.value.response.closed or refused.value.response.read() == b"gone"
    assert site.paths.count("/loop") == MAX_REDIRECTS + 1


def test_a_redirect_of_a_post_keeps_the_body_only_where_it_may(site: Site, send: Send) -> None:
    site.redirect("/see", "/end", 303)
    site.redirect("/keep", "/end", 307)
    for path in ("/see", "/keep"):
        send(Request(f"{site.base}{path}", data=b"body")).close()
    assert [(method, body) for method, path, _headers, body in site.requests if path == "/end"] == [
        ("GET", b""),
        ("POST", b"body"),
    ]


@cases("status", [400, 403, 404, 429, 500, 503])
def test_a_refusal_is_an_error_of_yt_dlp(site: Site, send: Send, status: int) -> None:
    site.responses["/"] = (status, {"Retry-After": "7"}, b"why")
    with pytest.raises(HTTPError) as refused:
        send(Request(f"{site.base}/"))
    assert refused.value.status == status
    assert refused.value.response.headers["Retry-After"] == "7"
    assert refused.value.response.read() == b"why"


def test_cookies_are_sent_and_kept(site: Site, send: Send) -> None:
    site.responses["/set"] = (200, {"Set-Cookie": "a=1; Path=/"}, b"")
    for path in ("/set", "/then"):
        send(Request(f"{site.base}{path}")).close()
    first, then = (headers for _method, _path, headers, _body in site.requests)
    assert "cookie" not in first
    assert then["cookie"] == "a=1"


def test_a_connection_that_breaks_is_an_error_of_yt_dlp(site: Site, send: Send) -> None:
    site.responses["/"] = (200, {"Content-Length": "100", "Connection": "close"}, b"short")
    with pytest.raises(TransportError):
        send(Request(f"{site.base}/"))
    site.responses["/"] = (200, {"Content-Encoding": "gzip"}, b"no gzip")
    with pytest.raises(TransportError):
        send(Request(f"{site.base}/"))
    site.stop()
    with pytest.raises(TransportError):
        send(Request(f"{site.base}/"))


@cases("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/plain,x", "ws://127.0.0.1/"])
def test_no_other_scheme_is_sent(send: Send, url: str) -> None:
    with pytest.raises(RequestError):
        send(Request(url))


def test_a_proxy_that_cannot_be_used_is_an_error_of_yt_dlp(site: Site, send: Send) -> None:
    with pytest.raises(RequestError):
        send(Request(f"{site.base}/", proxies={"all": "http://127.0.0.1:1"}))
    with pytest.raises(RequestError):
        send(Request(f"{site.base}/", proxies={"all": "socks5://127.0.0.1:1"}))
    assert site.paths == []


def test_a_socks_proxy_is_used(site: Site, send: Send) -> None:
    """It is asked to connect to the host by name, so that no name is resolved here."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        greetings: list[bytes] = []

        def answer() -> None:
            connection, _address = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"\x05\x00")
                greetings.append(connection.recv(200))
                connection.sendall(b"\x05\x00\x00\x01" + bytes(6))
                connection.recv(2_000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")

        thread = Thread(target=answer, daemon=True)
        thread.start()
        proxy = f"socks5h://127.0.0.1:{listener.getsockname()[1]}"
        assert send(Request("http://name.invalid/", proxies={"all": proxy})).read() == b"body"
        thread.join(10)
    assert b"name.invalid" in greetings[0]


def test_an_http_proxy_gets_the_whole_address(site: Site, send: Send) -> None:
    send(Request("http://name.invalid/a", proxies={"all": site.base})).close()
    assert site.paths == ["http://name.invalid/a"]
    site.requests.clear()
    send(Request(f"{site.base}/b", proxies={"all": "http://127.0.0.1:1", "no": "127.0.0.1"})).close()
    assert site.paths == ["/b"]


@pytest.mark.parametrize("name", ["_create_instance", "_get_instance", "_send", "_get_headers", "RH_NAME"])
def test_the_insides_of_yt_dlps_own_handlers_do_not_matter(
    site: Site, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever they are renamed to, requests are sent, and redirects refused."""
    for handler in ("_urllib.UrllibRH", "_requests.RequestsRH", "_curlcffi.CurlCFFIRH"):
        monkeypatch.setattr(f"yt_dlp.networking.{handler}.{name}", None, raising=False)
    site.redirect("/foreign", "https://example.com/")
    session = Session(QUICK)
    assert session._ydl.urlopen(Request(f"{site.base}/")).read() == b"body"
    with pytest.raises(TransportError, match=r"example\.com, which is not of YouTube"):
        session._ydl.urlopen(Request(f"{site.base}/foreign"))
    session.close()


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """The certificate of an authority that only this test knows, and what serves by one that it signed."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def signed(name: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, is_ca: bool) -> bytes:
        def named(text: str) -> Any:
            return x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, text)])

        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(named("authority"), named(name), key.public_key(), 1 + is_ca)
        builder = builder.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
        builder = builder.add_extension(x509.BasicConstraints(is_ca, None), critical=True)
        host = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
        certificate = builder.add_extension(host, critical=False).sign(signer, hashes.SHA256())
        return bytes(certificate.public_bytes(serialization.Encoding.PEM))

    top, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "authority.pem").write_bytes(signed("authority", top, top, True))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(encoding, form, serialization.NoEncryption())
    (tmp_path / "server.pem").write_bytes(signed("server", key, top, False) + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    return tmp_path / "authority.pem", context


def test_a_certificate_is_checked_by_the_authorities_that_the_user_names(
    site: Site, send: Send, authority: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A company's own, in SSL_CERT_FILE."""
    certificate, context = authority
    assert site._server
    site._server.socket = context.wrap_socket(site._server.socket, server_side=True, do_handshake_on_connect=False)
    url = site.base.replace("http:", "https:")
    with pytest.raises(TransportError):
        send(Request(url))
    assert site.requests == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    session = Session(QUICK)
    extensions = {"impersonate": ImpersonateTarget()} if session.can_impersonate else {}
    for kind in ({}, extensions):
        assert session._ydl.urlopen(Request(url, extensions=kind)).read() == b"body"
    session.close()
    site.failures[:] = [text for text in site.failures if "SSLError" not in text]  # of the client that hung up
