"""yt-dlp as a captions-only program uses it, for the tests of the stand-in of YouTube."""

from itertools import islice
from typing import Any

import yt_dlp
from yt_dlp.networking.common import Request
from yt_dlp.networking.impersonate import ImpersonateTarget

SITE = "https://www.youtube.com"


class Log:
    """What yt-dlp says, kept."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def debug(self, message: str) -> None: ...

    def error(self, message: str) -> None: ...

    def warning(self, message: str) -> None:
        self.warnings.append(message)


class Reader:
    """yt-dlp with the settings of a captions-only program, without their pauses."""

    def __init__(self, **changes: Any) -> None:
        self.log = Log()
        clients = {"player_client": ["default", "web"], "player_skip": ["js"]}
        settings = {
            "quiet": True,
            "noprogress": True,
            "color": "no_color",
            "logger": self.log,
            "skip_download": True,
            "cachedir": False,
            "allowed_extractors": [r"youtube(:(tab|playlist|truncated_id|truncated_url|consent))?", "youtubeytbe"],
            "noplaylist": True,
            "ignoreerrors": False,
            "ignore_no_formats_error": False,
            "extractor_retries": 2,
            "js_runtimes": {},
            "socket_timeout": 20,
            "retry_sleep_functions": {"extractor": lambda n: 0},
            "extractor_args": {
                "youtube": {**clients, "skip": ["hls", "dash", "translated_subs"]},
                "youtubetab": {"approximate_date": ["1"]},
            },
        }
        self.ydl = yt_dlp.YoutubeDL(settings | changes)

    def look(self, path: str) -> dict[str, Any]:
        found = self.ydl.extract_info(f"{SITE}/{path}", download=False, process=False)
        assert isinstance(found, dict)
        return found

    def video(self, id: str) -> dict[str, Any]:
        return self.look(f"watch?v={id}")

    def entries(self, path: str, count: int | None = None) -> list[dict[str, Any]]:
        return list(islice(self.look(path)["entries"], count))

    def fetch(self, url: str) -> bytes:
        with self.ydl.urlopen(Request(url, extensions={"impersonate": ImpersonateTarget()})) as answer:
            read = answer.read()
        assert isinstance(read, bytes)
        return read

    def caption(self, id: str, key: str = "ko-orig", ext: str = "json3") -> bytes:
        info = self.video(id)
        formats = {**info["automatic_captions"], **info["subtitles"]}[key]
        return self.fetch(next(each["url"] for each in formats if each["ext"] == ext))
