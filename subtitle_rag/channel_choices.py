"""The choice of channels from a list, before anything of them is fetched.

A list that was read is kept in the library with what is chosen and counted, until the user takes the choice or drops
it. YouTube is asked for the number of videos only where the user wants it: a request or two for each channel.
"""

import logging
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.captions import AddressList, Source, YouTube, refusals
from subtitle_rag.domain import ChannelCounted, FetchError, FetchEstimate, UsageError, natural_key, squeeze, tidy
from subtitle_rag.fetching import estimate_text
from subtitle_rag.library import channel_choice, hold_lock, put_channel_choice

if TYPE_CHECKING:
    from subtitle_rag.config import YoutubeSettings
    from subtitle_rag.library import Library

logger = logging.getLogger(__name__)

_NUMBERS = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
ALL = ("all", "모두")
"""What chooses every channel that is not followed."""


@dataclass(frozen=True, slots=True)
class ChannelChoice:
    """A channel, playlist or video of a list."""

    source: Source
    name: str
    is_followed: bool = False
    """It is in the library already."""
    is_chosen: bool = False
    videos: int | None = None
    """As YouTube counts them; None while nobody has asked, and where it does not count."""
    failure: str = ""
    """Why it was not counted."""

    @property
    def url(self) -> str:
        return self.source.url

    @property
    def label(self) -> str:
        return self.name or self.source.key

    def has(self, text: str) -> bool:
        """Whether its name or key has a text, in any case and spacing."""
        return squeeze(text) in squeeze(f"{self.name} {self.source.key}")


def begin_choice(library: "Library", listed: AddressList) -> list[ChannelChoice]:
    """Return the choice among the sources of a list, by name, and keep it. One that is kept already goes on.

    What was chosen and counted before of the same sources stays.
    """
    before = {choice.url: choice for choice in kept_choice(library)}
    choices = []
    for entry in listed.entries:
        choice = before.get(entry.source.url) or ChannelChoice(entry.source, entry.name)
        choices.append(replace(choice, name=entry.name or choice.name))
    keep_choice(library, choices)
    return kept_choice(library)


def kept_choice(library: "Library") -> list[ChannelChoice]:
    """Return the choice that was left, by name."""
    choices = []
    for record in channel_choice(library):
        with suppress(UsageError):  # this version does not accept the address
            source = Source.from_record(record)
            is_video = source.kind == "video"
            present = library.video(source.key) if is_video else library.sources.find(source.url)
            is_followed = present is not None
            if not (is_followed and record["chosen"]):
                values = (record["chosen"], record["videos"], record["failure"])
                choices.append(ChannelChoice(source, record["name"], is_followed, *values))
    return sorted(choices, key=lambda choice: natural_key(choice.label))


def keep_choice(library: "Library", choices: Iterable[ChannelChoice]) -> None:
    """Keep a choice as it is; an empty one ends it."""
    records = [
        {
            "url": choice.url,
            "tabs": list(choice.source.tabs),
            "name": choice.name,
            "chosen": choice.is_chosen,
            "videos": choice.videos,
            "failure": choice.failure,
        }
        for choice in choices
    ]
    put_channel_choice(library, records)


def take_choice(library: "Library", choices: Sequence[ChannelChoice]) -> tuple[Source, ...]:
    """Keep the choice, and return the chosen sources.

    Those leave the list once they are in the library, so that a run that was killed loses none; the others stay in it
    for another time.
    """
    keep_choice(library, choices)
    return tuple(choice.source for choice in choices if choice.is_chosen)


def choose(choices: Sequence[ChannelChoice], text: str) -> list[ChannelChoice]:
    """Choose by numbers and names, with commas between: 1,3-5,김치; `all` are those that are not followed.

    Raises:
        UsageError: `unknown_choice`.
    """
    chosen_at: set[int] = set()
    for part in filter(None, map(tidy, text.split(","))):
        matches = _numbered(part, len(choices))
        if not matches:
            matches = {at for at, choice in enumerate(choices) if choice.has(part)}
        if part.casefold() in ALL:
            matches = {at for at, choice in enumerate(choices) if not choice.is_followed}
        elif not matches:
            raise UsageError("unknown_choice", name=part)
        chosen_at |= matches
    return [replace(choice, is_chosen=at in chosen_at) for at, choice in enumerate(choices)]


def _numbered(text: str, count: int) -> set[int]:
    """Return the places of a number, or of a span of them; none for another text."""
    match = _NUMBERS.fullmatch(text)
    if not match:
        return set()
    first, last = int(match[1]), int(match[2] or match[1])
    return set(range(max(1, first) - 1, min(last, count))) if first else set()


def estimate(choices: Iterable[ChannelChoice], settings: "YoutubeSettings") -> str:
    """Return how many videos these have and how long they take, as far as they are counted: about 1,200 videos,
    fetched in about 4 h. Empty if none is."""
    counted = [choice.videos for choice in choices if choice.videos is not None]
    if not counted:
        return ""
    return estimate_text(FetchEstimate("", sum(counted), fetch_seconds(sum(counted), settings), at_most=False))


def fetch_seconds(videos: int, settings: "YoutubeSettings") -> int:
    """Return the seconds that `videos` videos take at the settings' pace."""
    return round(videos * settings.video_s)


def count_videos(
    library: "Library",
    settings: "YoutubeSettings",
    choices: Iterable[ChannelChoice],
    stop: threading.Event | None = None,
) -> Iterator[ChannelCounted]:
    """Ask YouTube how many videos each source has that is not counted, in their order, at the pace of all requests.

    A refusal of this machine ends it, and is a rest for all requests. Raises BusyError `youtube_busy`, and FetchError
    `cookies_unreadable`.
    """
    stop = stop or threading.Event()
    until, code = library.sources.current_rest(settings.rest)
    with hold_lock(library.path.parent, "youtube"), YouTube(settings, stop.wait) as youtube:
        for choice in choices:
            if stop.is_set():
                return
            if choice.videos is not None:
                continue
            if until:
                yield ChannelCounted(choice.url, choice.label, None, code, is_last=True)
                return
            counted = _count(youtube, choice, settings)
            if counted.failure in refusals.STORED_RESTS:
                library.sources.put_rest(int(time.time()) + settings.rest, counted.failure)
            yield counted
            if counted.is_last:
                return


def _count(youtube: YouTube, choice: ChannelChoice, settings: "YoutubeSettings") -> ChannelCounted:
    if choice.source.kind == "video":
        return ChannelCounted(choice.url, choice.label, 1)
    key = choice.source.key
    try:
        listing = youtube.listing(choice.source, settings.tabs, key if key.startswith("UC") else None)
        videos = listing.count()
    except FetchError as error:
        if error.code not in refusals.RULES:
            raise
        logger.info("a source was not counted", exc_info=True)
        is_last = refusals.RULES[error.code].rests_after == 1
        return ChannelCounted(choice.url, choice.label, None, error.code, is_last=is_last)
    name = listing.name if listing.name != key else choice.label
    return ChannelCounted(choice.url, choice.name or name, videos)


def with_count(choices: Iterable[ChannelChoice], counted: ChannelCounted) -> list[ChannelChoice]:
    """Return the choices with what YouTube has said of one."""
    return [
        replace(choice, name=choice.name or counted.name, videos=counted.videos, failure=counted.failure)
        if choice.url == counted.url
        else choice
        for choice in choices
    ]
