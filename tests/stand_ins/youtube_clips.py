"""Content of the YouTube stand-in: channels, playlists, videos and their caption tracks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Lines = Sequence[tuple[int, int, str]]

State = Literal[
    "public",
    "private",
    "deleted",
    "members_only",
    "age_restricted",
    "bot_check",
    "geo_blocked",
    "session_limit",
    "paid",
    "unavailable",
    "upcoming",
    "live",
    "was_live",
]

LINES: Lines = (
    (1_200, 4_100, "얘들아, 오늘은 멸치 육수부터 끓여 볼게요"),
    (4_100, 7_400, "불은 약하게 두고 십오 분만 기다립니다"),
    (7_400, 9_900, "[음악]"),
    (9_900, 13_500, "그러면 이렇게 국물이 맑아져요"),
)

LANGUAGE_NAMES = {"ko": "Korean", "en": "English", "ja": "Japanese", "de": "German", "zh-Hans": "Chinese (Simplified)"}

GONE_FROM_TABS: frozenset[State] = frozenset({"private", "deleted"})
FOR_ACCOUNTS: frozenset[State] = frozenset({"private", "members_only", "age_restricted"})
SCRIPTLESS = frozenset({"VISIONOS", "ANDROID_VR", "ANDROID", "IOS"})
"""Clients that get an address of the media without running a script."""
NOT_FOR_KIDS = frozenset({"VISIONOS", "ANDROID_VR"})


@dataclass
class Caption:
    """One caption track of a video."""

    language: str = "ko"
    kind: Literal["asr", "manual"] = "asr"
    lines: Lines = LINES
    name: str = ""  # distinguishes manual tracks in one language
    body: bytes | None = None  # sent instead of the lines; b"" is YouTube's empty 200
    exp: str = ""  # "xpe": the track needs a PO token and is empty without one
    clients: frozenset[str] | None = None  # player clients that get the track, such as "WEB"; None: all

    def is_told(self, client: str) -> bool:
        return self.clients is None or client in self.clients

    @property
    def vss_id(self) -> str:
        if self.kind == "asr":
            return f"a.{self.language}"
        return f".{self.language}.{self.name}" if self.name else f".{self.language}"

    @property
    def label(self) -> str:
        name = LANGUAGE_NAMES.get(self.language, self.language)
        if self.kind == "asr":
            return f"{name} (auto-generated)"
        return f"{name} - {self.name}" if self.name else name


@dataclass
class Clip:
    """A video. If it has a `stream` that is neither upcoming nor live, the stream is over."""

    id: str
    title: str
    captions: list[Caption] = field(default_factory=lambda: [Caption()])
    flat_title: str | None = None  # title in lists, where YouTube may translate it; None: the same
    published: str = "2026-05-02T09:00:00+09:00"
    age: str = "3 weeks ago"
    duration: int = 600
    description: str = ""
    kind: Literal["video", "short", "stream"] = "video"
    state: State = "public"
    states: Mapping[str, State] = field(default_factory=dict)  # states that differ by player client, such as {"WEB": …}
    opens_to_accounts: bool = False  # whether an account can see it although it is private, for members or for adults
    kids: bool = False  # made for kids: headset clients are refused
    embeddable: bool = True
    starts_at: int | None = None  # Unix seconds of an upcoming video
    media: bytes = b""  # an MP4 with picture and sound; if empty, there are no formats
    media_url: str = ""  # address at the stand-in
    chapters: list[tuple[int, str]] = field(default_factory=list)  # (start in seconds, title)
    heatmap: list[float] = field(default_factory=list)  # 0 to 1, evenly spaced over the video
    live_chat: bool = False

    def state_for(self, client: str, *, account: bool) -> State:
        """Return the state for a player client, as a guest or with an account's cookies."""
        state = self.states.get(client, self.state)
        if account and self.opens_to_accounts and state in FOR_ACCOUNTS:
            state = "public"
        if state == "public" and self.kids and client in NOT_FOR_KIDS:
            return "unavailable"
        return state

    @property
    def over(self) -> bool:
        """Whether it is the recording of a stream."""
        return self.state == "was_live" or (self.kind == "stream" and self.state not in ("upcoming", "live"))


@dataclass
class Channel:
    """A channel, newest video first. Its tabs follow from the kinds of its videos; an empty tab does not exist."""

    id: str
    handle: str
    name: str
    clips: list[Clip] = field(default_factory=list)
    aliases: tuple[str, ...] = ()  # names that answer as /c/NAME, /user/NAME and /NAME
    description: str = ""
    left_out: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Ids of public videos missing from its lists (`videos`, `UU`, `UULF`)."""
    counts: bool = True  # whether its lists of uploads have a count

    @property
    def listed(self) -> list[Clip]:
        return [clip for clip in self.clips if clip.state not in GONE_FROM_TABS]


@dataclass
class Playlist:
    id: str
    title: str
    clips: list[Clip] = field(default_factory=list)
    channel: Channel | None = None
    count: int | None = None  # reported number of videos; None: not reported


_UPLOADS = {"UULF": ("video",), "UUSH": ("short",), "UULV": ("stream",)}


@dataclass
class Site:
    """All channels, playlists and videos."""

    channels: list[Channel] = field(default_factory=list)
    playlists: list[Playlist] = field(default_factory=list)
    loose: list[Clip] = field(default_factory=list)  # videos in no list
    token_clients: frozenset[str] = frozenset()  # clients whose tracks are all empty without a token, and say so

    def clip(self, id: str) -> Clip | None:
        lists = (
            self.loose,
            *(channel.clips for channel in self.channels),
            *(playlist.clips for playlist in self.playlists),
        )
        return next((clip for clips in lists for clip in clips if clip.id == id), None)

    def channel_of(self, clip: Clip) -> Channel:
        """Return a video's channel; a video without one gets its own."""
        made_by = [playlist.channel for playlist in self.playlists if playlist.channel and clip in playlist.clips]
        for channel in self.channels:
            if any(each is clip for each in channel.clips):
                return channel
        return made_by[0] if made_by else Channel("UC" + "x" * 22, "@nobody", "이름 없는 채널")

    def channel(self, name: str) -> Channel | None:
        """Return a channel by id, handle or alias."""
        wanted = name.casefold()
        for channel in self.channels:
            known = (channel.handle, *channel.aliases)
            if name == channel.id or wanted in [each.casefold() for each in known]:
                return channel
        return None

    def playlist(self, id: str) -> Playlist | None:
        """Return a playlist by id, or a channel's list of uploads (UU, UULF, UUSH, UULV)."""
        for playlist in self.playlists:
            if playlist.id == id:
                return playlist
        prefix = id[:-22]
        channel = self.channel(f"UC{id[-22:]}")
        if channel is None or prefix not in ("UU", *_UPLOADS):
            return None
        kinds = _UPLOADS.get(prefix, ("video", "short", "stream"))
        clips = [clip for clip in channel.clips if clip.kind in kinds]
        left_out = channel.left_out.get(prefix, ())
        if not clips or left_out == "*":
            return None
        count = sum(clip.state not in GONE_FROM_TABS for clip in clips) if channel.counts else None
        listed = [clip for clip in clips if clip.id not in left_out]
        return Playlist(id, f"Uploads from {channel.name}", listed, channel, count)
