"""Rules for requests: which hosts they may reach, who may answer, and how long a response is."""

import re
from urllib.parse import SplitResult, urlsplit

LIMIT = 64 * 2**20
"""Maximum bytes of a response; the largest caption track has less than a tenth."""
HOSTS = ("youtube.com", "youtu.be", "youtube-nocookie.com", "ytimg.com", "youtube.googleapis.com")
"""YouTube's hosts, with their subdomains."""
MEDIA_HOSTS = (*HOSTS, "googlevideo.com")
"""YouTube's hosts with those of its media."""


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


def may_answer(url: str, final_url: str, hosts: tuple[str, ...] = HOSTS) -> bool:
    """Return whether a request may be led to a URL: one of these hosts, or its own origin."""
    try:
        old, new = urlsplit(url), urlsplit(final_url)
    except ValueError:
        return False
    return (new.scheme, new.netloc) == (old.scheme, old.netloc) or is_allowed(final_url, hosts)


def _is_host(parts: SplitResult, domains: tuple[str, ...]) -> bool:
    host = (parts.hostname or "").lower()
    # a backslash or percent sign would be read in another way by whoever connects
    return bool(re.fullmatch(r"[a-z0-9.-]+", host)) and any(
        host == domain or host.endswith(f".{domain}") for domain in domains
    )
