"""Rules for requests: allowed hosts, allowed redirects, and the size limit of responses."""

import re
from urllib.parse import SplitResult, urlsplit

LIMIT = 64 * 2**20
"""Maximum number of bytes of a response; the largest caption tracks have less than a tenth."""
HOSTS = ("youtube.com", "youtu.be", "youtube-nocookie.com", "ytimg.com", "youtube.googleapis.com")
"""YouTube's hosts, with their subdomains."""
MEDIA_HOSTS = (*HOSTS, "googlevideo.com")
"""YouTube's hosts and its media hosts."""


def is_youtube(url: str) -> bool:
    """Whether a URL passes `is_allowed` for YouTube's hosts."""
    return is_allowed(url, HOSTS)


def is_allowed(url: str, hosts: tuple[str, ...]) -> bool:
    """Whether a URL is on one of these hosts, by HTTPS, without a port or user name."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme == "https" and parts.port in (None, 443) and "@" not in parts.netloc and _is_host(parts, hosts)
        )
    except ValueError:  # brackets, or a port that is not a number
        return False


def is_page(raw: bytes) -> bool:
    """Whether a response is a web page, so not a caption track."""
    return raw[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))


def is_block_page(url: str) -> bool:
    """Whether a URL is the page to which YouTube sends blocked clients."""
    try:
        parts = urlsplit(url)
        return parts.path.startswith("/sorry") and _is_host(parts, ("google.com",))
    except ValueError:
        return False


def may_answer(url: str, final_url: str, hosts: tuple[str, ...] = HOSTS) -> bool:
    """Whether a request may be redirected to a URL: on one of these hosts, or the request's own origin."""
    try:
        old, new = urlsplit(url), urlsplit(final_url)
    except ValueError:
        return False
    return (new.scheme, new.netloc) == (old.scheme, old.netloc) or is_allowed(final_url, hosts)


def _is_host(parts: SplitResult, domains: tuple[str, ...]) -> bool:
    host = (parts.hostname or "").lower()
    # HTTP clients differ in how they read a backslash or percent sign
    return bool(re.fullmatch(r"[a-z0-9.-]+", host)) and any(
        host == domain or host.endswith(f".{domain}") for domain in domains
    )
