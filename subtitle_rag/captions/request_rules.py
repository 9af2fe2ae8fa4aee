"""Rules for requests: which hosts they may reach, where a redirect may lead, and how long a response is."""

import re
from urllib.parse import SplitResult, urljoin, urlsplit

LIMIT = 64 * 2**20
"""Maximum bytes of a response; the largest caption track has less than a tenth."""
HOSTS = ("youtube.com", "youtu.be", "youtube-nocookie.com", "ytimg.com", "youtube.googleapis.com")
"""YouTube's hosts, with their subdomains."""
MEDIA_HOSTS = (*HOSTS, "googlevideo.com")
"""YouTube's hosts with those of its media."""
REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5


def is_youtube(url: str) -> bool:
    """Return whether a URL is one of YouTube's hosts, as `is_allowed` has it."""
    return is_allowed(url, HOSTS)


def is_allowed(url: str, hosts: tuple[str, ...]) -> bool:
    """Return whether a URL is one of these hosts by HTTPS, without a port or user name of its own."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme == "https" and parts.port in (None, 443) and "@" not in parts.netloc and _is_host(parts, hosts)
        )
    except ValueError:  # brackets, ports that are no number
        return False


def is_page(raw: bytes) -> bool:
    """Whether a response is a web page, which no caption track is."""
    return raw[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))


def is_block_page(url: str) -> bool:
    """Return whether YouTube sends those whom it blocks to this page."""
    try:
        parts = urlsplit(url)
        return parts.path.startswith("/sorry") and _is_host(parts, ("google.com",))
    except ValueError:
        return False


def redirect_url(url: str, location: str, hosts: tuple[str, ...] = HOSTS) -> str | None:
    """Return the URL to which a response leads; None unless it is one of these hosts or of the same origin."""
    try:
        old, new = urlsplit(url), urlsplit(urljoin(url, location))
    except ValueError:
        return None
    is_same = (new.scheme, new.netloc) == (old.scheme, old.netloc)
    return new.geturl() if is_same or is_allowed(new.geturl(), hosts) else None


def redirect_method(method: str, status: int) -> str:
    """Return the method of the request after a redirect, as browsers choose it (RFC 9110, 15.4)."""
    is_get = (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST")
    return "GET" if is_get else method


def _is_host(parts: SplitResult, domains: tuple[str, ...]) -> bool:
    host = (parts.hostname or "").lower()
    # a backslash or percent sign would be read in another way by whoever connects
    return bool(re.fullmatch(r"[a-z0-9.-]+", host)) and any(
        host == domain or host.endswith(f".{domain}") for domain in domains
    )
