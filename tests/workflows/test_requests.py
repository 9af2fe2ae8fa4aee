"""What a session makes of answers that come by yt-dlp's own ways: Python's, and as a browser through curl_cffi."""

import gzip
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from yt_dlp.networking import Request
from yt_dlp.networking.exceptions import HTTPError, RequestError, TransportError
from yt_dlp.networking.impersonate import ImpersonateTarget

from subtitle_rag.youtube.session import Session
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


@pytest.fixture(params=["urllib", "curl_cffi"])
def send(request: pytest.FixtureRequest) -> Iterator[Send]:
    """Sends a request through one of the two, as a session's extractor does."""
    if request.param == "curl_cffi":
        pytest.importorskip("curl_cffi", reason="the optional curl_cffi is not installed")
    session = Session(QUICK)
    assert session.can_impersonate or request.param == "urllib"

    def send(sent: Request) -> Any:
        if request.param == "curl_cffi":
            sent.extensions["impersonate"] = ImpersonateTarget()
        return session._ydl.urlopen(sent)

    yield send
    session.close()


def test_a_response_without_end_is_cut(site: Site, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.youtube.request_rules.LIMIT", 100)
    bomb = gzip.compress(bytes(10_000_000))
    site.responses["/"] = (200, {"Content-Encoding": "gzip"}, bomb)
    assert len(send(Request(f"{site.base}/")).read()) == 101
    site.responses["/"] = (200, {}, b"x" * 5_000)
    assert send(Request(f"{site.base}/")).read() == b"x" * 101


def test_no_answer_of_another_host_is_read(site: Site, elsewhere: Site, send: Send) -> None:
    port = elsewhere.base.rpartition(":")[2]
    for path, location in {
        "/foreign": elsewhere.base,
        "/name": f"http://localhost:{port}/",
        "/twice": "/foreign",
    }.items():
        site.redirect(path, location)
        with pytest.raises(TransportError, match="which is not of YouTube"):
            send(Request(f"{site.base}{path}"))
    site.redirect("/own", "/end")
    assert send(Request(f"{site.base}/own")).read() == b"body"


@cases("status", [400, 403, 404, 429, 500, 503])
def test_a_refusal_is_an_error_of_yt_dlp(site: Site, send: Send, status: int) -> None:
    site.responses["/"] = (status, {"Retry-After": "7"}, b"why")
    with pytest.raises(HTTPError) as refused:
        send(Request(f"{site.base}/"))
    assert refused.value.status == status
    assert refused.value.response.headers["Retry-After"] == "7"
    assert refused.value.response.read() == b"why"


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


def test_no_file_of_this_machine_is_read(send: Send) -> None:
    with pytest.raises(RequestError):
        send(Request("file:///etc/passwd"))


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
    monkeypatch.setattr("curl_cffi.curl.DEFAULT_CACERT", str(certificate))  # read when it is imported
    session = Session(QUICK)
    extensions = {"impersonate": ImpersonateTarget()} if session.can_impersonate else {}
    for kind in ({}, extensions):
        assert session._ydl.urlopen(Request(url, extensions=kind)).read() == b"body"
    session.close()
    site.failures[:] = [text for text in site.failures if "SSLError" not in text]  # of the client that hung up
