"""The topics of `subtitle-rag help`. Lists come from the code itself, so that both stay equal."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

from subtitle_rag import config, log_file
from subtitle_rag.config import SECTIONS, Settings, about, about_field
from subtitle_rag.i18n import LANGUAGES, N_, _
from subtitle_rag.library import backup_folder
from subtitle_rag.manual.blocks import Block, Heading, Lines, Terms
from subtitle_rag.output import SCHEMA, ExitCode

EXIT_CODES = {
    ExitCode.DONE: N_("Done; also where no scene was found."),
    ExitCode.FAILED: N_("Failed."),
    ExitCode.USAGE: N_("The command or the config is wrong."),
    ExitCode.TRY_LATER: N_(
        "Try again later: YouTube refuses, Ollama or Qdrant cannot be reached, or the library is "
        "busy, locked, read-only or on a full disk."
    ),
    ExitCode.INTERRUPTED: N_("Interrupted; the same command resumes."),
}
ENVIRONMENT = {
    config.HOME_VARIABLE: N_("The folder that holds config, data, cache and log together, as --home does."),
    config.LANGUAGE_VARIABLE: N_("The language of messages and screens, as --language does."),
    config.HOSTS_VARIABLE: N_("Ollama hosts, separated by commas; empty: no models."),
    config.OLLAMA_VARIABLE: N_(
        "Ollama's own variable: its host, where neither the config nor the variable above has one."
    ),
    log_file.DEBUG_VARIABLE: N_("Set to 1: write everything to the log, also queries and captions, as --debug does."),
    "SUBTITLE_RAG_HOST_LINGER": N_("Seconds that the index stays loaded after its last use (20)."),
    "SUBTITLE_RAG_NEURAL_LINGER": N_("Seconds that the process of the neural models stays after its last use (300)."),
    "SUBTITLE_RAG_NEURAL_IDLE": N_("Seconds after which an unused neural model leaves memory (600)."),
}
"""The program's own variables."""
FILTERS = {
    "channel": N_("only channels whose name holds this"),
    "video": N_("only videos whose title holds this, or the video with this id"),
    "after": N_("only videos published on this day or later"),
    "before": N_("only videos published on this day or earlier"),
    "kind": N_("only videos of this kind"),
    "speaker": N_("only scenes in which somebody of this name speaks, where the captions name speakers"),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A task or a subject of the help."""

    name: str
    korean: str
    """Its name in Korean, under which it is found too."""
    title: str
    blocks: Callable[[Settings], Iterator[Block]]


def _syntax(_settings: Settings) -> Iterator[Block]:
    from subtitle_rag.retrieval.search.query import KINDS, KOREAN

    yield _(
        "Type what you remember of the scene. A word is found with any particle and ending, and with or without the"
        " spaces. Names that automatic captions misheard are found too, and count less."
    )
    values = {
        "channel": "식탁",
        "video": "캠핑",
        "after": "2026-01-01",
        "before": "2026-12-31",
        "kind": "short",
        "speaker": "홍길동",
    }
    yield Terms(
        ("꽃게 먹은 곳", _("these words in any form")),
        ('"찍어 먹"', _("just these words, whatever the spaces")),
        ("치킨 -광고", _("no scene that holds the word behind the minus")),
        *((f"{name}:{values[name]}  {KOREAN[name]}:{values[name]}", _(text)) for name, text in FILTERS.items()),
    )
    yield _("Kinds, and how they may be written:")
    yield Terms(*((kind, ", ".join(words)) for kind, words in KINDS.items()))
    yield _(
        "Put a name with spaces in quotes after the colon, or leave its spaces out. Options such "
        "as --channel do the same; subtitle-rag search --help lists them."
    )
    yield Lines('subtitle-rag search "치킨 소스" --channel 느긋한식탁', "subtitle-rag search 국수 -- -광고")


def _keys(settings: Settings) -> Iterator[Block]:
    from subtitle_rag.domain import UsageError
    from subtitle_rag.tui.keys import COMMANDS, keymap
    from subtitle_rag.tui.text import key_meaning

    yield _("The keys of the app. F1 in the app shows those of the place where you are.")
    try:
        keymap.check(settings.keys, settings.paths.config)
        keymap.activate(settings.keys)
    except UsageError:  # config validate reports it; the default keys are shown
        keymap.activate({})
    yield Terms(*((" ".join(map(keymap.key_text, keymap.keys(id))), key_meaning(id)) for id in COMMANDS))
    yield _("[keys] in the config changes them by their ids, which subtitle-rag keys lists:")
    yield Lines("[keys]", '"app.library" = "F10,Ctrl+B"')


def _config(settings: Settings) -> Iterator[Block]:
    from subtitle_rag.config import EXAMPLE_PLAYER, to_toml

    yield _(
        "Settings are in {path}. A flag wins over an environment variable, that over the file, that over the "
        "default. subtitle-rag config init writes a file with all of them, config edit opens it, config validate "
        "lists its mistakes, config show prints the values in force and where each was set, config schema prints a "
        "JSON Schema for editors."
    ).format(path=settings.paths.config)
    yield Terms(("language", f"{about('language')} ({', '.join(LANGUAGES)})"))
    for name, kind in SECTIONS.items():
        yield Heading(f"[{name}]  {about(name)}")
        section = kind()
        rows = ((f"{each.name} = {to_toml(getattr(section, each.name))}", about_field(each)) for each in fields(kind))
        yield Terms(*rows)
    yield Heading(f"[players.NAME]  {about('players')}")
    yield Lines(f"command = {to_toml(EXAMPLE_PLAYER)}")
    yield Heading(f"[keys]  {about('keys')}")
    yield Heading(f"[themes.NAME]  {about('themes')}")
    yield Terms(*((each.name, about_field(each)) for each in fields(config.ThemeSettings)))
    yield Heading(_("Environment variables"))
    yield Terms(*((name, _(text)) for name, text in ENVIRONMENT.items()))


def _exit_codes(_settings: Settings) -> Iterator[Block]:
    yield _("What a command ends with, for scripts ($?):")
    yield Terms(*((str(int(code)), _(text)) for code, text in EXIT_CODES.items()))


def _json(_settings: Settings) -> Iterator[Block]:
    yield _("With --json a command prints one document on stdout. Progress, warnings and errors go to stderr.")
    yield Terms(
        ("schema", _("the version of all this: {version}").format(version=SCHEMA)),
        ("command", _("the command that ran")),
        ("status", _("success; partial: done, with errors; error: not done")),
        ("result", _("the result of the command, or null")),
        ("errors", _("code, message, hint and video of each error; codes stay the same in every language")),
    )
    yield _(
        "index, sync, contexts and vectors take --jsonl too: a line of JSON for every event, while it happens."
        " Times are seconds, moments ISO 8601 in UTC."
    )
    yield Lines("subtitle-rag search 치킨 --json | jq -r '.result.scenes[].jump.url'")


def _youtube(settings: Settings) -> Iterator[Block]:
    pauses = settings.youtube
    yield _(
        "Only captions are fetched, never video or sound: two or three requests for a video, one for a "
        "channel with nothing new. There is a pause of {least} to {most} seconds between two "
        "videos, which makes at most {n} videos an hour; YouTube blocks guests at about 300. How many "
        "videos a list has and how long they take is told before the first one."
    ).format(least=pauses.pause_min, most=pauses.pause_max, n=f"{3_600 / max(1, pauses.video_s):,.0f}")
    yield Terms(
        ("subtitle-rag index URL", _("import a channel, playlist or video")),
        ("subtitle-rag sync", _("new videos of what is followed, and what is due again")),
        ("subtitle-rag sync --retry", _("ask again at once for all that failed")),
        ("subtitle-rag status", _("what failed, why, and when it is asked for again")),
    )
    yield _(
        "Captions written by a person come first. Automatic ones are taken if there are no others, or "
        "if these say little; machine translations only with --translated. When YouTube refuses, "
        "the queue rests and resumes by itself; with --no-wait it ends with exit code 3. However "
        "it ends, the same command resumes it."
    )
    yield _(
        "For videos that need an account, set cookies_from_browser or cookie_file under "
        "[youtube] in the config. If YouTube refuses often, longer pauses (pause_min, pause_max) "
        "or a newer yt-dlp help."
    )


def _files(_settings: Settings) -> Iterator[Block]:
    from subtitle_rag.captions import FORMATS

    yield _("subtitle-rag index takes caption files, and folders with all that is below them, in these formats:")
    yield Terms(*((" ".join(each.suffixes), _(each.title)) for each in FORMATS.values()))
    yield _("A file in another format than its name says is read all the same.")
    yield Lines("subtitle-rag index ~/captions")


def _contexts(settings: Settings) -> Iterator[Block]:
    yield _(
        "A context is one or two sentences on what a window is about, written by a local model that has read the"
        " whole video. It finds scenes whose own words do not name their subject. It needs Ollama ({hosts});"
        " search works without it."
    ).format(hosts=", ".join(settings.llm.hosts) or "–")
    yield Terms(
        ("subtitle-rag models get", _("fetch the model that suits this computer")),
        ("subtitle-rag contexts write", _("write those that are missing; index and sync do so at their end")),
        ("subtitle-rag contexts status --suspect", _("list those that mention things which are not in their video")),
        ("subtitle-rag contexts glossary CHANNEL --edit", _("give the model a channel's proper nouns")),
    )
    yield _(
        "You can stop it at any time; it resumes where it was. A model in a cloud is used only "
        "if its name is in cloud, another computer's only with remote = true, both under [llm] "
        "in the config."
    )


def _meaning(settings: Settings) -> Iterator[Block]:
    yield _(
        "Two neural models find scenes by meaning: an encoder compares windows with the query, a "
        "reranker puts the best scenes first. Both run on this computer, with or without a GPU. "
        "Until you fetch them, search is by words alone."
    )
    yield Terms(
        ("subtitle-rag models list", _("the models that are offered, their size, and which are here")),
        (
            f"subtitle-rag models get {settings.models.encoder} {settings.models.reranker}".rstrip(),
            _("fetch both; what has arrived is kept"),
        ),
        ("subtitle-rag vectors write", _("have the encoder read all windows, the newest first")),
        ("subtitle-rag search QUERY --explain", _("which retriever found what, at which rank")),
    )
    yield _("device and precision under [models] in the config say what they run on, and how exactly.")


def _privacy(settings: Settings) -> Iterator[Block]:
    yield _(
        "Captions, contexts, vectors, queries and answers stay on this computer. There is no "
        "telemetry and no update check. What leaves it, and when:"
    )
    yield Terms(
        (
            "YouTube",
            _("requests for the addresses that you give, on index and sync; for the section of a clip; one by doctor"),
        ),
        (_("Preview images"), _("requests to YouTube for the scenes you look at, only with pictures = true")),
        (_("Models"), _("requests to Ollama's registry and the Hugging Face hub, when you fetch one")),
        (_("Packages"), _("requests to the index of packages, when you install an extra or update yt-dlp")),
        ("Ollama", _("captions and questions go to its hosts; others than this computer need remote = true")),
        ("Qdrant", _("captions and vectors go to the server that you name under [qdrant]")),
        ("subtitle-rag mcp", _("what the assistant that you connect asks for")),
    )
    yield _(
        "The log holds no queries and captions unless --debug is given, and never cookies, keys and passwords."
        " subtitle-rag ask --forget all deletes the kept"
        " answers; remember = false under [search] keeps no searches."
    )
    yield _("The log is in {path}.").format(path=settings.paths.log)


def _backup(settings: Settings) -> Iterator[Block]:
    paths = settings.paths
    yield Terms(
        (str(paths.config), _("the settings; the program writes there only what you ask for")),
        (str(paths.library), _("the library: captions, contexts, answers; what cannot be made again is here")),
        (str(backup_folder(paths.library)), _("its last copies, made by every run that changes it")),
        (str(paths.index), _("the search index; subtitle-rag rebuild makes it again")),
        (str(paths.models), _("fetched models; models get brings them again")),
        (str(paths.cache), _("may be deleted at any time")),
        (str(paths.log), _("the log; may be deleted at any time")),
    )
    yield _(
        "Three copies of the library are kept: the last one, that of an earlier day, and that of an earlier week."
        " If the library is damaged or lost, this command saves what can be read, takes the rest from a copy, and"
        " lists what is lost; the damaged file stays:"
    )
    yield Lines("subtitle-rag doctor --repair")
    yield _(
        "To keep a backup on another disk, copy the config and the library while nothing runs, or with SQLite's own"
        " command, which may be used at any time:"
    )
    yield Lines(f'sqlite3 "{paths.library}" ".backup library-backup.db"')
    yield _(
        "To bring it back, there or on another machine, put the copy in the library's place and run subtitle-rag"
        " rebuild, then vectors write if you search by meaning. --home DIR or SUBTITLE_RAG_HOME keeps everything"
        " together in one folder."
    )


def _troubleshooting(_settings: Settings) -> Iterator[Block]:
    yield Terms(
        ("subtitle-rag doctor", _("what is installed, what is missing, and how to fix it")),
        ("subtitle-rag config validate", _("all that is wrong in the config, by line")),
        ("subtitle-rag status", _("which videos failed, why, and what to do")),
        ("subtitle-rag doctor --repair", _("recover a damaged library")),
        ("subtitle-rag rebuild", _("replace a damaged search index; nothing is lost")),
        ("subtitle-rag models check", _("verify the files of fetched models")),
        ("subtitle-rag --debug …", _("write everything to the log, also queries and captions")),
    )
    yield _(
        "If Hangul comes apart or is doubled while typing, leave kitty_keyboard off and set LANG "
        "to a UTF-8 locale. Over SSH, links are shown and copied instead of played. If a scene "
        "is not found, try fewer words, then contexts and search by meaning."
    )


TOPICS = (
    Topic("syntax", "검색어", N_("What a query may hold"), _syntax),
    Topic("keys", "키", N_("The app's keys"), _keys),
    Topic("config", "설정", N_("Settings and environment variables"), _config),
    Topic("exit-codes", "종료코드", N_("What commands end with"), _exit_codes),
    Topic("json", "제이슨", N_("Output for programs"), _json),
    Topic("youtube", "유튜브", N_("Captions from YouTube"), _youtube),
    Topic("files", "파일", N_("Caption files on this computer"), _files),
    Topic("contexts", "문맥", N_("Contexts: scenes that do not name their subject"), _contexts),
    Topic("meaning", "뜻", N_("Search by meaning"), _meaning),
    Topic("privacy", "개인정보", N_("What leaves this computer, and what never does"), _privacy),
    Topic("backup", "백업", N_("Where files are, and how to back them up"), _backup),
    Topic("troubleshooting", "문제해결", N_("When something does not work"), _troubleshooting),
)


def find_topic(name: str) -> Topic | None:
    """Return the topic with this name, in either language."""
    folded_name = name.casefold()
    return next((topic for topic in TOPICS if folded_name in (topic.name, topic.korean)), None)
