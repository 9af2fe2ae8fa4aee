"""The address at which `serve` listens, and which `Host` and `Origin` headers name it. Nothing heavy is imported here.

A name that another site could point at this computer (DNS rebinding) is never the server's. A port says nothing about
that, and a forwarded one differs.
"""

import errno
import ipaddress
import os
import re
import socket
from contextlib import suppress
from dataclasses import dataclass

from subtitle_rag.domain import AppError
from subtitle_rag.i18n import _

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HTTP_PORT = 80
REFUSED_PORTS = frozenset(
    (
        *(1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109),
        *(110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530),
        *(531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045),
        *(4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    )
)
"""Ports that no browser opens (fetch.spec.whatwg.org, "bad port")."""
_AUTHORITY = re.compile(r"(?P<name>[0-9A-Za-z_.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where a server listens."""

    name: str
    """The canonical name or number that the user chose."""
    number: str
    """The address of the socket."""
    port: int

    @property
    def is_any(self) -> bool:
        """Whether it listens on all of this computer's addresses."""
        return ipaddress.ip_address(self.number).is_unspecified

    @property
    def is_loopback(self) -> bool:
        """Whether only this computer reaches it."""
        return ipaddress.ip_address(self.number).is_loopback

    def url(self, *, takes_ipv4: bool = True) -> str:
        """Return an address that a browser on this computer opens.

        `localhost` may be another server's at the address of the other family, so it is written as a number.
        """
        name = self.number if self.name == "localhost" else self.name
        if self.is_any:
            name = LOOPBACK[0] if takes_ipv4 else "::1"
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}" if self.port == HTTP_PORT else f"http://{host}:{self.port}"

    def answers(self, host_header: str) -> bool:
        """Return whether a request with this header is for this server."""
        entry = authority(host_header)
        if entry is None:
            return False
        name = entry[0]
        if self.is_any:
            return name == "localhost" or _number(name) is not None
        return name in (self.name, self.number) or (self.number in LOOPBACK and name in LOOPBACK)


def authority(text: str) -> tuple[str, int] | None:
    """Return the canonical name and the port of a `Host` header; None for anything else."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    name, port = canonical_name(match["name"]), int(match["port"] or HTTP_PORT)
    return (name, port) if name and 0 < port < 1 << 16 else None


def is_same_origin(origin: str, host_header: str) -> bool:
    """Return whether an `Origin` header names the server that the `Host` header names."""
    scheme, _mark, rest = origin.partition("://")
    origin_host = authority(rest)
    return scheme.lower() == "http" and origin_host is not None and origin_host == authority(host_header)


def canonical_name(host: str) -> str:
    """Return one spelling of a host name or number, as browsers send it; empty if it can be none.

    Case, the root's dot, brackets, the notation of a number and the script of a name make no difference.
    """
    name = host.strip().removeprefix("[").removesuffix("]") if ":" in host else host.strip()
    name = name.removesuffix(".").lower()
    number = _number(name)
    if number is not None:
        return str(getattr(number, "ipv4_mapped", None) or number)
    if re.fullmatch(r"[0-9a-fx]+(?:\.[0-9a-fx]+){0,3}", name) and name[0].isdigit():
        with suppress(OSError):  # 127.1, 0x7f.1: a browser sends them in full
            return socket.inet_ntoa(socket.inet_aton(name))
    with suppress(UnicodeError):
        return name if name.isascii() else name.encode("idna").decode("ascii")
    return ""


def listen(host: str, port: int) -> tuple[socket.socket, ListenAddress, str]:
    """Return a socket that listens, its place, and the address to open in a browser.

    Raises:
        AppError: `web_address`.
    """
    name = canonical_name(host)
    if not name:
        raise AppError("web_address", host=host or "''", port=port, reason=_("it is not a host name"))
    if "%" in name:
        raise AppError("web_address", host=host, port=port, reason=_("no browser opens an address with a zone"))
    if port in REFUSED_PORTS:
        raise AppError("web_address", host=host, port=port, reason=_("browsers refuse this port"))
    try:
        addresses = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family = min(addresses, key=lambda info: info[0] != socket.AF_INET)[0]
        is_dual = name == "::" and socket.has_dualstack_ipv6()
        listening = socket.create_server((name, port), family=family, dualstack_ipv6=is_dual)
    except (OSError, OverflowError, ValueError) as error:  # the last: a name that no codec takes
        raise AppError("web_address", host=host, port=port, reason=_reason(error)) from error
    number, own_port = listening.getsockname()[:2]
    listen_address = ListenAddress(name, number, own_port)
    return listening, listen_address, listen_address.url(takes_ipv4=family == socket.AF_INET or is_dual)


def _reason(error: Exception) -> str:
    if isinstance(error, socket.gaierror | UnicodeError):
        return _("this computer knows no address of that name")
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return _("another program listens there")
        case errno.EACCES | errno.EPERM:
            return _("the system does not allow it (ports below 1024 are an administrator's)")
        case errno.EADDRNOTAVAIL | errno.EINVAL | errno.EAFNOSUPPORT:
            return _("it is not an address of this computer")
        case int() as number:
            return os.strerror(number)
    return str(error)


def _number(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
