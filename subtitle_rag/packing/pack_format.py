"""The format of a pack: names of its members, their limits, and its manifest. docs/en/packs.md describes it."""

from dataclasses import asdict, dataclass, field
from typing import Any

from subtitle_rag.library import THEME
from subtitle_rag.packing.fields import Fields

FORMAT = "subtitle-rag pack"
VERSION = 1
"""A reader refuses a greater one. Additional keys of records and of the manifest keep the version."""

MANIFEST = "manifest.json"
VIDEOS = "videos.jsonl"
CHANNELS = "channels.jsonl"
MARKS = "marks.jsonl"
SOURCES = "sources.jsonl"
ANSWERS = "answers.jsonl"
SETTINGS = "settings.jsonl"
VECTORS = "vectors.jsonl"
MEMBERS = (VIDEOS, CHANNELS, MARKS, SOURCES, ANSWERS, SETTINGS, VECTORS)
"""The members behind the manifest, in the order in which they are read. Each is in every pack; most can be empty."""

SHARED_SETTINGS = (THEME,)
"""Keys of the table `setting` that belong to the library and not to the machine."""

MAX_MANIFEST = 1_000_000
MAX_LINE = 128 * 2**20
"""Bytes of a record: a video with captions of 32 MB, its windows and their contexts."""
MAX_OTHER_LINE = 24 * 2**20
"""Bytes of a record of another member: a list of a million videos."""
MAX_RATIO = 200
"""Greatest compression of a member that is larger than `FREE_BYTES`; captions reach 20."""
FREE_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class MemberSum:
    """Size and checksum of a member, uncompressed."""

    bytes: int
    sha256: str
    records: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a pack, and by which rules it was made."""

    version: int = VERSION
    app: str = ""
    """Version of the app that has written it."""
    made_at: str = ""
    rule: str = ""
    """Of the windows."""
    whole: bool = False
    """It has the whole library."""
    encoder: str = ""
    """Of the vectors that the library searched; empty without vectors."""
    members: dict[str, MemberSum] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"format": FORMAT, **asdict(self)}


def read_manifest(fields: Fields) -> Manifest:
    """Read a manifest of the known version; raises FieldError."""
    members = fields.record("members")
    return Manifest(
        fields.integer("version", VERSION, VERSION),
        fields.text("app", 100),
        fields.text("made_at", 40),
        fields.text("rule", 100),
        fields.flag("whole"),
        fields.text("encoder", 200),
        {name: _member_sum(members.record(name)) for name in MEMBERS},
    )


def _member_sum(fields: Fields) -> MemberSum:
    return MemberSum(
        fields.integer("bytes", 0, 2**50), fields.match("sha256", r"[0-9a-f]{64}"), fields.integer("records", 0, 2**40)
    )
