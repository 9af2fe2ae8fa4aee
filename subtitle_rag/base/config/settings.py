"""Settings: the user's `config.toml`, overridden by the environment, overridden by flags.

Settings changed in the app are written to the file (`template.change_setting`). The program's own state is in the
library.
"""

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from subtitle_rag.base.config.config_file import ConfigFile, Mistake, bad_config
from subtitle_rag.base.domain.values import TABS
from subtitle_rag.base.i18n import LANGUAGES, N_, _, system_language

HOME_VARIABLE = "SUBTITLE_RAG_HOME"
LANGUAGE_VARIABLE = "SUBTITLE_RAG_LANGUAGE"
HOSTS_VARIABLE = "SUBTITLE_RAG_OLLAMA"
"""Ollama hosts, separated by commas; empty turns models off."""
OLLAMA_VARIABLE = "OLLAMA_HOST"
"""Ollama's own variable (ollama docs/faq); the config and `HOSTS_VARIABLE` override it."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths of config, data, cache and log."""

    config: Path
    """`config.toml`."""
    data: Path
    """The library and the search index."""
    cache: Path
    """Safe to delete at any time."""
    log: Path

    @property
    def library(self) -> Path:
        return self.data / "library.db"

    @property
    def index(self) -> Path:
        return self.data / "index"

    @property
    def models(self) -> Path:
        """Downloaded models, unless the settings name another folder."""
        return self.data / "models"

    @classmethod
    def under(cls, home: Path) -> "Paths":
        return cls(home / "config.toml", home / "data", home / "cache", home / "log")

    @classmethod
    def find(cls, home: str | Path | None = None) -> "Paths":
        """Return all four under `home` or `SUBTITLE_RAG_HOME`, or else the platform's own.

        Raises UsageError `bad_config` for `~` of an unknown user.
        """
        home_text = home or os.environ.get(HOME_VARIABLE)
        if home_text:
            try:
                return cls.under(Path(home_text).expanduser().absolute())
            except RuntimeError as error:
                reason = _("the system knows no such user: {name}").format(name=home_text)
                raise bad_config(Mistake("--home" if home else HOME_VARIABLE, "", reason)) from error
        from platformdirs import PlatformDirs

        dirs = PlatformDirs("subtitle-rag", appauthor=False)
        config = dirs.user_config_path / "config.toml"
        return cls(config, dirs.user_data_path, dirs.user_cache_path, dirs.user_log_path)


def setting(default: Any, about: str, **rules: Any) -> Any:
    """Return a section's field: its default, its purpose, and `ConfigFile`'s rules for its value."""
    return field(default=default, metadata={"about": about, **rules})


def table(kind: type[Any], about: str) -> Any:
    """Return a field that is a table, with its purpose."""
    return field(default_factory=kind, metadata={"about": about, "kind": kind})


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`[search]`"""

    limit: int = setting(20, N_("How many scenes a search shows."), least=1)
    remember: bool = setting(
        True, N_("Whether searches and the last place are kept and offered again; open NUMBER needs them too.")
    )


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """`[player]`"""

    default: str = setting(
        "", N_("What plays scenes: browser, mpv, iina, vlc, or a name from [players]; empty: the browser.")
    )
    lead_in: int = setting(2, N_("Start playing this many seconds before the scene, in the browser too."))


@dataclass(frozen=True, slots=True)
class TuiSettings:
    """`[tui]`"""

    theme: str = setting("", N_("calm-dark, calm-light or a theme of Textual; empty: the one chosen last in the app."))


@dataclass(frozen=True, slots=True)
class YoutubeSettings:
    """`[youtube]`"""

    languages: tuple[str, ...] = setting(("ko",), N_("Languages of the captions to fetch, best first."))
    tabs: tuple[str, ...] = setting(
        TABS, N_("What is fetched of a channel: videos, shorts, streams, or some of them."), among=TABS
    )
    pause: int = setting(8, N_("The longer, the less likely YouTube blocks you; it varies up to about twice as long."))
    rest: int = setting(3600, N_("Seconds to pause when YouTube blocks requests without saying for how long."))
    cookies_from_browser: str = setting(
        "", N_("Fetches as its user, also videos for members: firefox, chrome:Profile 1.")
    )
    cookie_file: str = setting("", N_("A cookie file in Netscape format; it is only read."))
    proxy: str = setting("", N_("The proxy for requests to YouTube, such as socks5://127.0.0.1:9050."), address=True)

    @property
    def longest_pause_s(self) -> float:
        """Longest pause between two videos: 15 by default."""
        return self.pause * 15 / 8

    @property
    def request_pause_s(self) -> float:
        """Pause between two requests for the same video or list: 1 by default."""
        return self.pause / 8

    @property
    def back_off_s(self) -> float:
        """Pause before a refused request is repeated, doubled each time: 2 by default."""
        return self.pause / 4

    @property
    def video_s(self) -> float:
        """Mean time per video without the network: its pause, and the pause before its page.

        By yt-dlp's wiki, YouTube blocks guests beyond 300 videos an hour: 12 seconds each.
        """
        return (self.pause + self.longest_pause_s) / 2 + self.request_pause_s


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """`[llm]`: local models, served by Ollama."""

    hosts: tuple[str, ...] = setting(
        ("http://127.0.0.1:11434",),
        N_("Where Ollama answers; several share the work, none switches AI off."),
        empty=True,
        address=True,
    )
    model: str = setting("", N_("Describes scenes and answers questions; empty: what suits this computer's memory."))
    contexts: str = setting(
        "ask",
        N_("Describes each scene in the background, to find more scenes: ask (once, with the time), always, never."),
        one_of=("ask", "always", "never"),
    )
    cloud: tuple[str, ...] = setting(
        (), N_("Names of models that may run in Ollama's cloud; captions are then sent there."), empty=True
    )
    remote: bool = setting(False, N_("Whether hosts may name other computers; captions are then sent there."))


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """`[prompts]`: the user's prompt files; relative paths start at the config file's folder."""

    contexts: str = setting("", N_("Prompt file for contexts; empty: the built-in prompt."))
    answers: str = setting("", N_("Prompt file for answers; empty: the built-in prompt."))


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`[models]`: neural models that run in this program."""

    encoder: str = setting(
        "BAAI/bge-m3",
        N_(
            "The model that searches by meaning: a name from models list, also ollama:NAME, a folder or an ONNX "
            "graph; empty: none."
        ),
    )
    reranker: str = setting(
        "BAAI/bge-reranker-v2-m3",
        N_("The model that puts the best scenes first: a name from models list, or a folder; empty: none."),
    )
    speech: str = setting(
        "Systran/faster-whisper-small",
        N_("The model that hears speech where there are no captions: a name from models list, or a folder."),
    )
    folder: str = setting("", N_("The folder of fetched models; empty: beside the library."))


@dataclass(frozen=True, slots=True)
class QdrantSettings:
    """`[qdrant]`: a server or cluster in place of the embedded index."""

    url: str = setting("", N_("The server's address; empty: the index is in the library's folder."), address=True)
    api_key_env: str = setting("", N_("The environment variable that holds the key; never the key itself."))


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings."""

    paths: Paths
    language: str
    search: SearchSettings = table(SearchSettings, N_("Search"))
    player: PlayerSettings = table(PlayerSettings, N_("Playing scenes"))
    tui: TuiSettings = table(TuiSettings, N_("The app in the terminal"))
    youtube: YoutubeSettings = table(YoutubeSettings, N_("How slowly, and with whose account, captions are fetched"))
    llm: LlmSettings = table(LlmSettings, N_("Local models that write contexts and answer, through Ollama"))
    prompts: PromptSettings = table(PromptSettings, N_("Prompts of your own: text files with named places"))
    models: ModelSettings = table(ModelSettings, N_("Neural models, which run in a process of this program"))
    qdrant: QdrantSettings = table(
        QdrantSettings, N_("A Qdrant server or cluster instead of the index in the library's folder")
    )
    players: Mapping[str, tuple[str, ...]] = table(dict, N_("Players of your own; {url} and {seconds} are filled in"))
    """`[players]`: name → command, with `{url}` and `{seconds}` filled in."""
    keys: Mapping[str, str] = table(dict, N_("Keys of the app by their ids, which docs/reference/settings.md lists"))
    """`[keys]`: id of a command → its keys, separated by commas; the app knows the ids."""
    is_sample: bool = False
    """Whether the library is the sample, which accepts no videos of the user's."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Key → the flag or environment variable that overrode file and default."""


ABOUT = {
    "language": N_("Language of the interface; default: the system's."),
    **{each.name: each.metadata["about"] for each in fields(Settings) if "about" in each.metadata},
}
"""Purposes of top-level settings and tables."""
SECTIONS: Mapping[str, type[Any]] = {
    each.name: each.metadata["kind"] for each in fields(Settings) if is_dataclass(each.metadata.get("kind"))
}
"""The tables with fixed keys; the user chooses the keys of `players` and `keys`."""


def about(name: str) -> str:
    """Return the purpose of a top-level setting or table, in the current language."""
    sentence = ABOUT[name]
    return _(sentence)


def about_field(each: "Field[Any]") -> str:
    """Return the purpose of a table's setting, in the current language."""
    sentence: str = each.metadata["about"]
    return _(sentence)


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The settings, with their mistakes and origins."""

    settings: Settings
    file: ConfigFile
    mistakes: tuple[Mistake, ...]
    """Mistakes, where the defaults apply."""

    @property
    def overrides(self) -> Mapping[str, str]:
        return self.settings.overrides


def hosts_of_environment() -> dict[str, str]:
    """Return the Ollama hosts in the environment, each with its variable."""
    own_hosts = os.environ.get(HOSTS_VARIABLE)
    variable, text = (
        (OLLAMA_VARIABLE, os.environ.get(OLLAMA_VARIABLE, "")) if own_hosts is None else (HOSTS_VARIABLE, own_hosts)
    )
    return {host.strip(): variable for host in text.split(",") if host.strip()}


def host_origin(host: str, settings: LlmSettings) -> str:
    """Return the origin of a host: a variable, the config or the default; "" for any other host."""
    variable = hosts_of_environment().get(host.strip())
    if variable or host not in settings.hosts:
        return variable or ""
    return _("the default") if settings.hosts == LlmSettings().hosts else _("hosts under [llm] in the config")


def load(home: str | Path | None = None, language: str | None = None) -> Settings:
    """Return the effective settings; arguments are the user's flags.

    Raises:
        UsageError: `bad_config`, with file, line and key.
    """
    reading = read(home, language)
    if reading.mistakes:
        raise bad_config(reading.mistakes[0])
    return reading.settings


def read(home: str | Path | None = None, language: str | None = None, path: Path | None = None) -> LoadedConfig:
    """Return the settings with all mistakes in file and environment; `path` names another file."""
    paths = Paths.find(home)
    overrides = {"paths": "--home" if home else HOME_VARIABLE} if home or os.environ.get(HOME_VARIABLE) else {}
    file = ConfigFile.read(path or paths.config)
    file.note_unknown("", file.table, ABOUT)
    language_code = _language(file, language, overrides)
    sections = {name: file.section(name, file.table.get(name, {}), kind) for name, kind in SECTIONS.items()}
    hosts = hosts_of_environment()
    is_own = HOSTS_VARIABLE in os.environ
    if is_own or (hosts and "hosts" not in file.table.get("llm", {})):
        sections["llm"] = replace(sections["llm"], hosts=tuple(hosts))
        overrides["llm.hosts"] = HOSTS_VARIABLE if is_own else OLLAMA_VARIABLE
    settings = Settings(
        paths,
        language_code,
        players=_players(file),
        keys=file.texts("keys"),
        overrides=overrides,
        **sections,
    )
    return LoadedConfig(settings, file, tuple(file.mistakes))


def read_again(settings: Settings) -> LoadedConfig:
    """Read the file and the environment of these settings again, with the same flags."""
    home = settings.paths.config.parent if "paths" in settings.overrides else None
    is_flag = settings.overrides.get("language") == "--language"
    return read(home, settings.language if is_flag else None)


def _language(file: ConfigFile, flag: str | None, overrides: dict[str, str]) -> str:
    """Return the current language; record an unknown one as a mistake."""
    file_value = file.table.get("language")
    if flag or os.environ.get(LANGUAGE_VARIABLE):
        overrides["language"] = "--language" if flag else LANGUAGE_VARIABLE
    code = flag or os.environ.get(LANGUAGE_VARIABLE) or file_value or system_language()
    if code in LANGUAGES:
        return str(code)
    message = _("language is {value}, but only {known} are known").format(value=code, known=", ".join(LANGUAGES))
    if "language" in overrides:
        file.mistakes.append(Mistake(overrides["language"], "language", message))
    else:
        file.note("language", message)
    return system_language()


def _players(file: ConfigFile) -> dict[str, tuple[str, ...]]:
    players = {}
    for name, entry in file.tables("players").items():
        command = None
        if isinstance(entry, dict):
            file.note_unknown(f"players.{name}.", entry, ("command",))
            command = entry.get("command")
        if strings := file.strings(f"players.{name}.command", command):
            players[name] = strings
    return players
