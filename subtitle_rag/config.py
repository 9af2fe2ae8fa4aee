"""Settings: what the user wrote in `config.toml`, overridden by the environment, overridden by flags.

The file is only ever read. What the program itself remembers lives in the library.
"""

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """`[player]`"""

    default: str = "browser"
    """`browser`, `mpv`, `iina`, `vlc`, or a name from `[players]`."""
    lead_in: int = 2
    """Seconds before the scene at which playing starts."""


@dataclass(frozen=True, slots=True)
class TuiSettings:
    """`[tui]`"""

    kitty_keyboard: bool = False
    """Speak the Kitty keyboard protocol, which breaks Hangul input on some terminals."""
    theme: str = ""
    """The name of one of Textual's themes."""


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
    table = _read(paths.config)
    _known(paths.config, "", table, ("language", "players", *_SECTIONS))
    from_environment = os.environ.get(LANGUAGE_VARIABLE)
    chosen = language or from_environment or table.get("language") or system_language()
    if chosen not in LANGUAGES:
        place = "--language" if language else LANGUAGE_VARIABLE if from_environment else str(paths.config)
        reason = _("language is {value}, but only {known} are known").format(value=chosen, known=", ".join(LANGUAGES))
        raise UsageError("bad_config", path=place, reason=reason)
    sections = {name: _section(paths.config, name, table.get(name, {})) for name in _SECTIONS}
    hosts = os.environ.get(HOSTS_VARIABLE)
    if hosts is not None:
        given = tuple(host.strip() for host in hosts.split(",") if host.strip())
        sections["llm"] = replace(sections["llm"], hosts=given)
    return Settings(paths, chosen, players=_players(paths.config, table.get("players", {})), **sections)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError("bad_config", path=str(path), reason=error.strerror) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError("bad_config", path=str(path), reason=str(error)) from error


def _known(path: Path, prefix: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for name in table:
        if name not in keys:
            near = difflib.get_close_matches(name, keys, n=1)
            reason = _("there is no setting {name}").format(name=prefix + name)
            if near:
                reason += _(" (did you mean {name}?)").format(name=prefix + near[0])
            raise UsageError("bad_config", path=str(path), reason=reason)


def _section(path: Path, name: str, table: Any) -> Any:
    kind = _SECTIONS[name]
    if not isinstance(table, dict):
        raise UsageError("bad_config", path=str(path), reason=_("{name} must be a table").format(name=name))
    entries = {entry.name: entry for entry in fields(kind)}
    _known(path, f"{name}.", table, tuple(entries))
    defaults = kind()
    values = {}
    for key, value in table.items():
        wanted = type(getattr(defaults, key))
        values[key] = _value(path, f"{name}.{key}", wanted, entries[key].metadata, value)
    return kind(**values)


def _value(path: Path, name: str, wanted: type[Any], rules: Mapping[Any, Any], value: Any) -> Any:
    """The value if it is of the wanted type and within its field's `least`, `among` and `empty`."""
    if wanted is tuple:
        value = () if value == [] and rules.get("empty") else _strings(path, name, value)
    if type(value) is not wanted:
        reason = _("{name} must be of the type {type}").format(name=name, type=wanted.__name__)
        raise UsageError("bad_config", path=str(path), reason=reason)
    least, known = rules.get("least", 0), rules.get("among", ())
    if wanted is int and value < least:
        reason = _("{name} must be at least {least}").format(name=name, least=least)
        raise UsageError("bad_config", path=str(path), reason=reason)
    one_of = rules.get("one_of", ())
    if one_of and value not in one_of:
        reason = _("{name} may be {known}").format(name=name, known=", ".join(one_of))
        raise UsageError("bad_config", path=str(path), reason=reason)
    if known and not all(part in known for part in value):
        reason = _("{name} may hold {known}").format(name=name, known=", ".join(known))
        raise UsageError("bad_config", path=str(path), reason=reason)
    return value


def _strings(path: Path, name: str, value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and value and all(isinstance(part, str) for part in value)):
        raise UsageError("bad_config", path=str(path), reason=_("{name} must be a list of strings").format(name=name))
    return tuple(value)


def _players(path: Path, table: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(table, dict):
        raise UsageError("bad_config", path=str(path), reason=_("{name} must be a table").format(name="players"))
    players = {}
    for name, entry in table.items():
        if isinstance(entry, dict):
            _known(path, f"players.{name}.", entry, ("command",))
        command = entry.get("command") if isinstance(entry, dict) else None
        players[name] = _strings(path, f"players.{name}.command", command)
    return players
