"""Guard of hosts: by default only this computer may be called, so that captions stay on it."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.base.i18n import _
from subtitle_rag.models.ollama.server_errors import tidy

_PORTS = {"http": 80, "https": 443}
_DEFAULT_PORT = 11434


def _bad_host(host: str) -> LlmError:
    kind, form = _("Ollama address"), "http://127.0.0.1:11434"
    return LlmError("bad_value", value=tidy(host), kind=kind, form=form, host=tidy(host))


def address(host: str, *, remote: bool, origin: str = "") -> str:
    """Return the host as `scheme://name:port`, parsed like Ollama's own programs.

    `origin` is the setting with the host, for errors. `0.0.0.0` and `::` are addresses to listen on, so they become
    this computer's loopback address (ollama envconfig, `ConnectableHost`). The default port is 11434, or the scheme's
    if there is a scheme.

    Raises:
        LlmError: `bad_value`, or `llm_host_refused` for another computer without `remote`.
    """
    scheme, parted, rest = host.strip().partition("://")
    if not parted:
        scheme, rest = "http", host.strip()
    scheme = scheme.lower()
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        raise _bad_host(host) from None
    if not name and port:  # `:11435`, as accepted by Ollama's programs
        name = "127.0.0.1"
    is_valid = _ip(name) or re.fullmatch(r"[\w.-]+", name)
    if scheme not in _PORTS or not is_valid or parts.username is not None or parts.query or parts.fragment:
        raise _bad_host(host)
    if (ip := _ip(name)) and ip.is_unspecified:
        name = "127.0.0.1" if ip.version == 4 else "::1"
    if not (remote or _loopback(name)):
        raise LlmError("llm_host_refused", host=f"{tidy(host)} ({origin})" if origin else tidy(host))
    port = port or (_PORTS[scheme] if parted else _DEFAULT_PORT)
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}{parts.path.rstrip('/')}"


def is_local(host: str) -> bool:
    """Whether an `address` is this computer's."""
    return _loopback(urlsplit(host).hostname or "")


def canonical(model: str) -> str:
    """Return a model's name with its tag, in lower case, for comparison."""
    name = model.strip().lower()
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def is_cloud_name(model: str) -> bool:
    """Whether a model name routes requests to Ollama's cloud (ollama internal/modelref)."""
    tag = canonical(model).rpartition(":")[2]
    return tag == "cloud" or tag.endswith("-cloud")


def _loopback(name: str) -> bool:
    address = _ip(name)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return name == "localhost" if address is None else address.is_loopback


def _ip(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None
