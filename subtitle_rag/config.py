"""Settings: what the user wrote in `config.toml`, overridden by the environment, overridden by flags.

The file is only ever read. What the program itself remembers lives in the library.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from subtitle_rag.config_file import ConfigFile
from subtitle_rag.domain import TABS
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import LANGUAGES, _, system_language

HOME_VARIABLE = "SUBTITLE_RAG_HOME"
LANGUAGE_VARIABLE = "SUBTITLE_RAG_LANGUAGE"
HOSTS_VARIABLE = "SUBTITLE_RAG_OLLAMA"
"""Hosts of Ollama with commas between them; empty switches models off."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Where things lie."""

    config: Path
    """`config.toml`"""
    data: Path
    """The library and the search index."""
    cache: Path
    """Deletable at any time."""
    log: Path

    @property
    def library(self) -> Path:
        return self.data / "library.db"

    @property
    def index(self) -> Path:
        return self.data / "index"

    @property
    def models(self) -> Path:
        """Fetched models, unless the settings name another folder."""
        return self.data / "models"

    @classmethod
    def under(cls, home: Path) -> "Paths":
        return cls(home / "config.toml", home / "data", home / "cache", home / "log")

    @classmethod
    def find(cls, home: str | Path | None = None) -> "Paths":
        """All four under `home` or `SUBTITLE_RAG_HOME` where one is given, else in the platform's places."""
        place = home or os.environ.get(HOME_VARIABLE)
        if place:
            return cls.under(Path(place).expanduser().absolute())
        from platformdirs import PlatformDirs

        dirs = PlatformDirs("subtitle-rag", appauthor=False)
        config = dirs.user_config_path / "config.toml"
        return cls(config, dirs.user_data_path, dirs.user_cache_path, dirs.user_log_path)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`[search]`"""

    limit: int = field(default=20, metadata={"least": 1})
    """Scenes that a search shows."""
    remember: bool = True
    """Whether the app keeps the last searches, in the library."""


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """`[player]`"""

    default: str = ""
    """`browser`, `mpv`, `iina`, `vlc`, or a name from `[players]`; empty: the one chosen in the app."""
    lead_in: int = 2
    """Seconds before the scene at which playing starts, in the browser too."""


@dataclass(frozen=True, slots=True)
class TuiSettings:
    """`[tui]`"""

    kitty_keyboard: bool = False
    """Speak the Kitty keyboard protocol, which breaks Hangul input on some terminals."""
    theme: str = ""
    """The name of one of Textual's themes, or of one from `[themes]`; empty: the one that was chosen last."""
    pictures: bool = False
    """Show scenes with a picture, where the terminal can draw one; each sheet of pictures is a request to YouTube."""
    notify: bool = False
    """Ring and name in the terminal's title the end of a long job, when somebody is in another window."""


@dataclass(frozen=True, slots=True)
class ThemeSettings:
    """`[themes.NAME]`: colours as CSS writes them; those that are left empty follow from the others."""

    primary: str = ""
    secondary: str = ""
    accent: str = ""
    foreground: str = ""
    background: str = ""
    surface: str = ""
    panel: str = ""
    boost: str = ""
    success: str = ""
    warning: str = ""
    error: str = ""
    dark: bool = True
    ansi: bool = False
    """The colours are the terminal's own: `ansi_blue`, `ansi_default`."""
    luminosity_spread: float = 0.15
    """How far lighter and darker shades lie from their colour."""
    text_alpha: float = 0.95
    variables: Mapping[str, str] = field(default_factory=dict)
    """Textual's other theme variables, such as `footer-key-foreground`."""


@dataclass(frozen=True, slots=True)
class YoutubeSettings:
    """`[youtube]`: how politely, and as whom, captions are fetched. Times are seconds."""

    tabs: tuple[str, ...] = field(default=TABS, metadata={"among": TABS})
    """What a channel brings."""
    pause_min: int = 5
    """Between one video and the next, at least."""
    pause_max: int = 10
    """And at most."""
    pause_request: int = 1
    """Between two requests for the same video or list."""
    back_off: int = 2
    """First wait before a refused request is repeated; it doubles with every repetition."""
    rest: int = 3600
    """The queue's rest after a block for which YouTube names no time."""
    cookies_from_browser: str = ""
    """As yt-dlp writes it: `firefox`, `chrome:Profile 1`."""
    cookie_file: str = ""
    """Cookies in Netscape's format; the file is never written to."""
    proxy: str = ""


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """`[llm]`: the local models, which Ollama serves."""

    hosts: tuple[str, ...] = field(default=("http://127.0.0.1:11434",), metadata={"empty": True})
    """Where Ollama answers; several share the work, none switches models off."""
    model: str = ""
    """What writes contexts; empty: what suits this machine's memory."""
    cloud: tuple[str, ...] = field(default=(), metadata={"empty": True})
    """Models by name that may run in Ollama's cloud, which is sent the captions then."""
    remote: bool = False
    """Whether `hosts` may name other computers, which are sent the captions then."""
    timeout: int = field(default=600, metadata={"least": 1})
    """Seconds without a sign of life; a long prompt is given more by itself."""
    keep_alive: str = "30m"
    """How long the model stays in memory after an answer."""


DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = ("auto", "float32", "bfloat16", "float16", "int8")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`[models]`: the neural models, which run in this program."""

    encoder: str = "BAAI/bge-m3"
    """By its name in the manifest, or a folder; empty searches without one."""
    reranker: str = "BAAI/bge-reranker-v2-m3"
    """Likewise."""
    folder: str = ""
    """Where fetched models lie; empty: with the library."""
    device: str = field(default="auto", metadata={"one_of": DEVICES})
    precision: str = field(default="auto", metadata={"one_of": PRECISIONS})
    """`int8` is the fastest on a CPU and rounds the most."""


@dataclass(frozen=True, slots=True)
class QdrantSettings:
    """`[qdrant]`: a server or cluster in the place of the embedded index."""

    url: str = ""
    """Empty: the embedded index."""
    api_key_env: str = ""
    """The environment variable that holds the key."""
    shards: int = field(default=1, metadata={"least": 1})
    replication: int = field(default=1, metadata={"least": 1})
    """Both count when the collection is made."""
    timeout: int = field(default=30, metadata={"least": 1})
    """Seconds for one call."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a user can set."""

    paths: Paths
    language: str
    search: SearchSettings = field(default_factory=SearchSettings)
    player: PlayerSettings = field(default_factory=PlayerSettings)
    tui: TuiSettings = field(default_factory=TuiSettings)
    youtube: YoutubeSettings = field(default_factory=YoutubeSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    models: ModelSettings = field(default_factory=ModelSettings)
    qdrant: QdrantSettings = field(default_factory=QdrantSettings)
    players: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`[players]`: name → command, with `{url}` and `{seconds}` filled in."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """`[keys]`: what a key does, by its id → the keys that do it, with commas between; the app knows the ids."""
    themes: Mapping[str, ThemeSettings] = field(default_factory=dict)


_SECTIONS: dict[str, type[Any]] = {
    "search": SearchSettings,
    "player": PlayerSettings,
    "tui": TuiSettings,
    "youtube": YoutubeSettings,
    "llm": LlmSettings,
    "models": ModelSettings,
    "qdrant": QdrantSettings,
}


def load(home: str | Path | None = None, language: str | None = None) -> Settings:
    """The settings in force; arguments are flags that the user typed.

    Raises:
        UsageError: `bad_config`, naming the file and the key.
    """
    paths = Paths.find(home)
    file = ConfigFile.read(paths.config)
    file.known("", file.table, ("language", "players", "keys", "themes", *_SECTIONS))
    from_environment = os.environ.get(LANGUAGE_VARIABLE)
    chosen = language or from_environment or file.table.get("language") or system_language()
    if chosen not in LANGUAGES:
        place = "--language" if language else LANGUAGE_VARIABLE if from_environment else str(paths.config)
        reason = _("language is {value}, but only {known} are known").format(value=chosen, known=", ".join(LANGUAGES))
        raise UsageError("bad_config", path=place, reason=reason)
    sections = {name: file.section(name, kind) for name, kind in _SECTIONS.items()}
    hosts = os.environ.get(HOSTS_VARIABLE)
    if hosts is not None:
        given = tuple(host.strip() for host in hosts.split(",") if host.strip())
        sections["llm"] = replace(sections["llm"], hosts=given)
    themes = {name: file.entry(f"themes.{name}", theme, ThemeSettings) for name, theme in file.tables("themes").items()}
    return Settings(paths, chosen, players=_players(file), keys=file.texts("keys"), themes=themes, **sections)


def _players(file: ConfigFile) -> dict[str, tuple[str, ...]]:
    players = {}
    for name, entry in file.tables("players").items():
        command = None
        if isinstance(entry, dict):
            file.known(f"players.{name}.", entry, ("command",))
            command = entry.get("command")
        players[name] = file.strings(f"players.{name}.command", command)
    return players
