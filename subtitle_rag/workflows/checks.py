"""Checks: the state of each part, and the one command that repairs it.

Checks are quick, repair and download nothing, and only `network` sends anything.
"""

import logging
import platform
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from subtitle_rag.base.config.settings import hosts_of_environment
from subtitle_rag.base.domain.errors import EXPECTED, AppError, BusyError, FetchError, LlmError
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.installation.extractor import EXTRACTOR, yt_dlp_age
from subtitle_rag.base.installation.extras import EXTRAS, MEANING, NEURAL, YOUTUBE, missing_packages
from subtitle_rag.base.installation.package_installer import install_steps, require_extra, upgrade_line
from subtitle_rag.base.platforms import on_windows
from subtitle_rag.captions import files
from subtitle_rag.library.backup import backups, quick_check
from subtitle_rag.library.connection import UNWRITABLE, unwritable
from subtitle_rag.listening.transcribers import open_transcriber
from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind, encoder_steps
from subtitle_rag.models.neural.device import plan_graph, probe_device
from subtitle_rag.models.neural.protocols import EncoderSource
from subtitle_rag.models.prompts import NO_PROMPTS, without_prompts
from subtitle_rag.plugins import (
    ENCODERS,
    EXPORT_FORMATS,
    GROUPS,
    is_built_in,
    load_plugin,
    plugin_names,
)
from subtitle_rag.runtime import Runtime
from subtitle_rag.sharing import player
from subtitle_rag.sharing.export_formats import ExportFormat

logger = logging.getLogger(__name__)

LOW_DISK_BYTES = 500_000_000
SOLVER = "yt-dlp-ejs"
"""Package of the yt-dlp scripts that a JavaScript runtime executes."""
KEYRING = "secretstorage"
"""Package with which yt-dlp reads cookies of Chrome-like browsers on GNOME."""
UNTRIED = {"darwin": "macOS", "win32": "Windows"}
"""Supported systems without a test run (`docs/dev/platforms.md`)."""

Severity = Literal["ok", "warning", "error"]
SIGNS: dict[Severity, str] = {"ok": "✓", "warning": "!", "error": "✗"}


Finding = tuple[Severity, str] | tuple[Severity, str, str | None]
"""Result of a probe: a check without its name."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check, and its remedy."""

    name: str
    severity: Severity
    message: str
    remedy: str | None = None


def run(runtime: Runtime, *, offline: bool = False) -> Iterator[Check]:
    """Run all checks, in the order in which users meet their subjects; `offline` skips `network`."""
    for name in PROBES if not offline else (name for name in PROBES if name in OFFLINE):
        yield probe(name, runtime)


def probe(name: str, runtime: Runtime) -> Check:
    """Run one check; an exception becomes its result."""
    try:
        return Check(name, *PROBES[name](runtime))
    except AppError as error:
        logger.info("check %s failed", name, exc_info=True)
        if error.code == "library_damaged" and name != "library":  # the library's check has the remedy
            return Check(name, "warning", _("not looked at: the library cannot be read"))
        return Check(name, "error", error.message, error.hint)
    except Exception as error:  # a check that crashes is a result, too
        logger.error("check %s broke", name, exc_info=True)
        message = _("This check did not run to its end. The program says: {reason}").format(reason=repr(error))
        return Check(name, "error", message, _("Install subtitle-rag again."))


def _python(_runtime: Runtime) -> Finding:
    message = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if sys.platform not in UNTRIED:
        return "ok", message
    notice = _("this program has not been tried on {system} yet").format(system=UNTRIED[sys.platform])
    return "ok", f"{message}; {notice}"


def _terminal(_runtime: Runtime) -> Finding:
    stream = sys.stdout if hasattr(sys.stdout, "encoding") else sys.__stdout__  # the app replaces stdout
    encoding = (getattr(stream, "encoding", None) or "").lower()
    if encoding.replace("-", "") != "utf8":
        message = _("The terminal's encoding is {encoding}; Hangul will not show.").format(encoding=encoding or "?")
        locale = _("Set LANG to a UTF-8 locale, such as ko_KR.UTF-8 or C.UTF-8.")
        remedy = _("Set the environment variable PYTHONUTF8 to 1.") if on_windows() else locale
        return "warning", message, remedy
    return "ok", "UTF-8"


def _paths(runtime: Runtime) -> Finding:
    """Report the folders of the home, and the backups of the library."""
    paths = runtime.settings.paths
    copies = backups(paths.library)
    size = byte_size(sum(copy.bytes for copy in copies))
    folders = _("config {config}, data {data}, cache {cache}, log {log}").format(
        config=paths.config, data=paths.data, cache=paths.cache, log=paths.log
    )
    return "ok", f"{folders}, " + n_(
        "{n} copy of the library, {size}", "{n} copies of the library, {size}", len(copies), size=size
    )


def _library(runtime: Runtime) -> Finding:
    """Count the library, and check its file for damage and that it can be written."""
    if problem := quick_check(runtime.library.path):
        raise AppError("library_damaged", path=str(runtime.library.path), reason=problem)
    try:
        runtime.library.database.check_writable()
    except BusyError as error:
        if error.code in UNWRITABLE:  # it can be searched; another process may also be writing it
            return "warning", error.message, error.hint
    counts = runtime.library.counts()
    message = _("{videos} videos, {windows} windows in {path}").format(
        videos=counts.videos, windows=counts.windows, path=runtime.library.path
    )
    failed = (
        sum(bool(s.failure) and s.failure not in EXPECTED for s in runtime.library.videos()) if counts.failed else 0
    )
    if failed:
        return "warning", message, _("subtitle-rag status says why {n} failed.").format(n=failed)
    return "ok", message


def _files(runtime: Runtime) -> Finding:
    """Check that the caption files are still in their places."""
    videos = [state.video for state in runtime.library.videos() if state.video.source]
    if lost_videos := files.gone_sources(videos):
        first, further = lost_videos[0], len(lost_videos) - 1
        error = AppError("file_gone", title=first.title, path=str(first.source))
        more = n_("{n} more is gone too.", "{n} more are gone too.", further) if further else ""
        return "warning", f"{error.message} {more}".rstrip(), error.hint
    return "ok", n_("{n} caption file", "{n} caption files", len(videos))


def _index(runtime: Runtime) -> Finding:
    counts = runtime.library.counts()
    points = min(runtime.index.count(), counts.searchable)  # the index may have points of others
    message = _("{points} of {windows} windows are searchable").format(points=points, windows=counts.windows)
    if counts.searchable < counts.windows:
        return "warning", message, _("subtitle-rag index with the same folders goes on where it stopped.")
    return "ok", message


def _qdrant(runtime: Runtime) -> Finding:
    """Check the configured server, and the encryption of its key."""
    from urllib.parse import urlsplit

    settings = runtime.settings.qdrant
    if not settings.url:
        return "ok", _("no server; the index is in the library's folder")
    server = runtime.server
    if not runtime.library.counts().searchable:
        server.create()
    message = _("Qdrant {version} at {place}, {n} windows").format(
        version=server.version, place=server.place, n=server.count()
    )
    parts = urlsplit(server.place)
    if settings.api_key_env and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return "warning", message, _("The key is sent unencrypted: write https in url under [qdrant].")
    return "ok", message


def _analyzer(runtime: Runtime) -> Finding:
    # A running host has loaded it, or will soon.
    is_hosted = runtime.prioritize_queries or {"host", "server"} & vars(runtime).keys()
    analyzer = runtime.words if is_hosted else runtime.analyzer
    forms = next(analyzer.morphemes(["꽃게를 먹었어요"])).forms
    if forms != ("꽃게", "먹"):
        return "error", _("Kiwi analyses {text} wrongly.").format(text="꽃게를"), _("Install subtitle-rag again.")
    return "ok", f"kiwipiepy {version('kiwipiepy')}"


def _disk(runtime: Runtime) -> Finding:
    folder = runtime.settings.paths.data
    while not folder.exists() and folder != folder.parent:  # a Windows drive may be missing
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise unwritable(folder, error) from error
    message = _("{free} free in {path}").format(free=byte_size(free), path=folder)
    if free < LOW_DISK_BYTES:
        return "warning", message, _("Free some space, or move the library with --home.")
    return "ok", message


def _player(runtime: Runtime) -> Finding:
    settings = runtime.settings
    name = player.default(settings)
    if not player.installed(name, settings.players):
        error = AppError("no_player", player=name)
        return "warning", error.message, error.hint
    message = name
    if name == player.MPV and name not in settings.players:
        try:
            message = player.mpv.version([player.mpv.program() or name]) or name
        except OSError as error:
            logger.info("mpv does not start", exc_info=True)
            message = _("mpv is installed but does not start. It said: {reason}").format(reason=error)
            return "warning", message, _("Install it again, or choose another player.")
        trouble, reason = _("mpv plays files but no links, for it finds no yt-dlp that runs."), ""
        path = player.mpv.extractor_path(settings.paths.cache)
        try:
            message = f"{message}, yt-dlp {player.mpv.version([path])}" if path else ""
        except OSError as error:
            logger.info("mpv's yt-dlp does not start", exc_info=True)
            message, reason = "", " " + _("It said: {reason}").format(reason=error)
        if not message:
            return "warning", trouble + reason, _("Install subtitle-rag again.")
    if not player.can_show():
        return "warning", _("There is no screen to play on here; links are shown instead.")
    return "ok", message


def _yt_dlp(runtime: Runtime) -> Finding:
    """Check whether yt-dlp is outdated, by its age and recent failures."""
    age = yt_dlp_age(runtime.library.failure_details("yt_dlp_outdated"))
    message = f"yt-dlp {age.version}"
    if not age.is_due:
        return "ok", message
    reason = _("It is {n} days old.").format(n=age.days)
    if age.has_failed:
        reason = _("YouTube has answered in a way that it does not understand.")
    return "warning", message, f"{reason} {upgrade_line(EXTRACTOR)}"


def _javascript(runtime: Runtime) -> Finding:
    """Check the JavaScript runtime for YouTube's player: clips, links in mpv and a few videos need it."""
    from subtitle_rag.youtube.session import javascript_runtimes

    line = install_steps(YOUTUBE)
    runtimes = javascript_runtimes()
    names = [f"{each.name} {each.version}" for each in runtimes if each.is_accepted]
    if not names:
        names = [_("{name} {version} is too old").format(name=each.name, version=each.version) for each in runtimes]
        has_failed = bool(runtimes or runtime.library.failure_details("script_required"))
        remedy = _("Optional: clips and links in mpv can need a JavaScript runtime. Install it: {line}")
        message = ", ".join(names) or _("none")
        return "warning" if has_failed else "ok", message, remedy.format(line=line)
    try:
        names.append(f"{SOLVER} {version(SOLVER)}")
    except PackageNotFoundError:
        remedy = _("yt-dlp needs {package} besides. Install it: {line}").format(package=SOLVER, line=line)
        return "warning", ", ".join(names), remedy
    return "ok", ", ".join(names)


def _listening(runtime: Runtime) -> Finding:
    """Check the optional transcription of videos without captions, and its queue."""
    waiting = len(runtime.library.listenings.due())
    try:
        message = open_transcriber(runtime.models).model
    except AppError as error:
        remedy = _("Optional: videos without captions are listened to. {remedy}").format(remedy=error.hint)
        return "warning" if waiting else "ok", error.message, remedy
    if waiting:
        sentence = n_(
            "{n} video waits: subtitle-rag listen goes on with it.",
            "{n} videos wait: subtitle-rag listen goes on with them.",
            waiting,
        )
        message = f"{message}; {sentence}"
    return "ok", message


def _impersonation(_runtime: Runtime) -> Finding:
    """Check whether requests for captions look like a browser's, according to yt-dlp."""
    from subtitle_rag.base.config.settings import YoutubeSettings
    from subtitle_rag.youtube.session import Session

    line = install_steps(YOUTUBE)
    try:
        message = f"curl_cffi {version('curl_cffi')}"
    except PackageNotFoundError:
        remedy = _("Optional: requests that look like a browser's are refused less often. Install it: {line}")
        return "ok", _("none"), remedy.format(line=line)
    with closing(Session(YoutubeSettings())) as session:
        if session.can_impersonate:
            return "ok", message
    remedy = _("yt-dlp does not accept this version, so captions are fetched without it. Install one: {line}")
    return "warning", message, remedy.format(line=line)


def _cookies(runtime: Runtime) -> Finding:
    """Check that the configured cookies are readable; sends nothing."""
    from subtitle_rag.youtube.session import Session

    settings = runtime.settings.youtube
    if not (settings.cookie_file or settings.cookies_from_browser):
        return "ok", _("none; none are needed for public videos")
    with closing(Session(settings)) as session:
        try:
            n = session.cookies()
        except FetchError as error:
            if KEYRING not in error.message:
                raise
            logger.info("the keyring cannot be read", exc_info=True)
            remedy = _("The keyring of GNOME holds their key. Install what reads it: {line}")
            return "error", error.message, remedy.format(line=upgrade_line(KEYRING))
    return "ok", n_("{n} cookie for YouTube", "{n} cookies for YouTube", n)


def _network(runtime: Runtime) -> Finding:
    """Request YouTube's empty page: the only check that sends anything."""
    from subtitle_rag.youtube.youtube import YouTube

    settings = replace(runtime.settings.youtube, cookie_file="", cookies_from_browser="")
    try:
        with YouTube(settings) as youtube:
            youtube.reach()
    except FetchError as error:  # search works without it
        logger.info("YouTube cannot be reached", exc_info=True)
        return "warning", error.message, error.hint
    return "ok", _("YouTube answers")


def _ollama(runtime: Runtime) -> Finding:
    """Check the model for contexts, which is optional."""
    from subtitle_rag.contexts.planning import lacks_shared_memory, prompt_sizes

    model = runtime.context_model
    try:
        with runtime.llms() as hosts:
            infos = [host.check(model) for host in hosts]
            sizes = [prompt_sizes(host, info).least for host, info in zip(hosts, infos, strict=True)]
    except LlmError as error:
        logger.info("Ollama cannot be used", exc_info=True)
        gain = _("Optional: with contexts, scenes are found that name nothing. {remedy}")
        return "warning", error.message, gain.format(remedy=error.hint)
    variables = hosts_of_environment()
    origins = dict.fromkeys(f" ({variables[host]})" for host in runtime.settings.llm.hosts if host in variables)
    message = f"Ollama {', '.join(info.server for info in infos)}, {model}{''.join(origins)}"
    if not all(info.structured for info in infos):
        remedy = _("Update Ollama: this one does not hold every model to the form of an answer.")
        return "warning", message, remedy
    if any(map(lacks_shared_memory, infos, sizes)):
        remedy = _("There is memory for a context of {n} tokens: answers load the model anew. Close other programs.")
        return "warning", message, remedy.format(n=f"{min(sizes):,}")
    return "ok", message


def _device(runtime: Runtime) -> Finding:
    extra = runtime.models.required_extra(runtime.models.configured(ENCODER))
    if extra is MEANING and extra.is_installed:
        return "ok", plan_graph(waits=False).line
    if not NEURAL.is_installed:
        return "ok", _("not looked at: search by meaning is not installed")
    return probe_device()


GAINS: dict[Kind, str] = {
    ENCODER: N_("Optional: with an encoder, scenes are found by what they mean. {remedy}"),
    RERANKER: N_("Optional: with a reranker, the best scenes come first. {remedy}"),
}


def _model(runtime: Runtime, kind: Kind) -> Finding:
    """Check the files of a neural model, which is optional."""
    gain = _(GAINS[kind])
    name = runtime.models.configured(kind)
    if not name:
        return "ok", _("none is set")
    extra = runtime.models.required_extra(name)
    if extra is None:  # Ollama or a plug-in runs it
        return _encoder_elsewhere(runtime, name, gain)
    try:
        require_extra(extra)
        files = runtime.models.files(name, kind)
        if files.graph:  # takes a second; PyTorch would take several, and gigabytes
            runtime.neural.call("load", files)
    except AppError as error:
        lighter = kind == ENCODER and not extra.is_installed
        remedy = (_ollama_remedy(runtime) or _light_remedy(name)) if lighter else ""
        return "warning", error.message, gain.format(remedy=remedy or error.hint)
    return "ok", _encoder_text(runtime, name, files.id) if kind == ENCODER else files.id


def _encoder_text(runtime: Runtime, name: str, id: str) -> str:
    """Return an encoder's id for display, with a note if its prompts are unknown."""
    text = without_prompts(id)
    return text if runtime.models.knows_prompts(name) else f"{text}; {_(NO_PROMPTS)}"


def _light_remedy(name: str) -> str:
    """Return the remedy for the light step instead of the full one; empty for an encoder of the user's choice."""
    steps = encoder_steps()
    if not steps or name != steps[-1].encoder or (light := steps[0]).extra is None:
        return ""
    models_bytes = sum(model.disk_gb for model in light.models) * 1e9
    if light.extra.is_installed:
        return _("The light step takes {size}: subtitle-rag models get {name} --use.").format(
            size=byte_size(models_bytes), name=light.encoder
        )
    size = byte_size(light.extra.megabytes * 1e6 + models_bytes)
    return _("The light step takes {size}: {install}; then subtitle-rag models get {name} --use.").format(
        size=size, install=install_steps(light.extra), name=light.encoder
    )


def _ollama_remedy(runtime: Runtime) -> str:
    """Return how to make the vectors with Ollama, without further packages; empty if it does not answer."""
    try:
        offer = runtime.offered_encoder()
    except LlmError:
        logger.info("Ollama cannot make vectors", exc_info=True)
        return ""
    remedy = _("Ollama does it without further packages: write encoder = {name} under [models] in {path}.").format(
        name=f'"{offer.name}"', path=runtime.settings.paths.config
    )
    fetch = _("subtitle-rag models get {name} fetches it.").format(name=offer.name)
    return remedy if offer.is_pulled else f"{remedy} {fetch}"


def _encoder_elsewhere(runtime: Runtime, name: str, gain: str) -> Finding:
    """Check an encoder run by Ollama or a plug-in."""
    try:
        encoder = runtime.neural.encoder()
        if encoder is None:
            raise AppError("model_missing", name=name)
    except AppError as error:
        logger.info("the encoder cannot be used", exc_info=True)
        return "warning", error.message, gain.format(remedy=error.hint)
    return "ok", _encoder_text(runtime, name, encoder.id)


def _packages(_runtime: Runtime) -> Finding:
    if missing := missing_packages():
        message = _("Packages are missing: {names}").format(names=", ".join(missing))
        return "error", message, _("Install subtitle-rag again.")
    installed = [extra.name for extra in EXTRAS.values() if extra.is_installed]
    extras = _("extras: {names}").format(names=", ".join(installed)) if installed else _("no extras")
    return "ok", f"qdrant-edge-py {version('qdrant-edge-py')}, {extras}"


def _plugins(_runtime: Runtime) -> Finding:
    kinds: dict[str, type] = {EXPORT_FORMATS: ExportFormat, ENCODERS: EncoderSource}
    names, broken = [], []
    for group in GROUPS:
        for name in plugin_names(group):
            if is_built_in(group, name):
                continue
            names.append(name)
            try:
                load_plugin(group, name, kinds[group])
            except AppError as error:
                broken.append(error)
    if broken:
        return "warning", " ".join(error.message for error in broken), broken[0].hint
    return "ok", ", ".join(names) or _("none")


PROBES: dict[str, Callable[[Runtime], Finding]] = {
    "python": _python,
    "terminal": _terminal,
    "packages": _packages,
    "plugins": _plugins,
    "paths": _paths,
    "disk": _disk,
    "library": _library,
    "files": _files,
    "qdrant": _qdrant,
    "index": _index,
    "kiwi": _analyzer,
    "player": _player,
    "yt-dlp": _yt_dlp,
    "javascript": _javascript,
    "impersonation": _impersonation,
    "cookies": _cookies,
    "ollama": _ollama,
    "device": _device,
    "encoder": lambda runtime: _model(runtime, ENCODER),
    "reranker": lambda runtime: _model(runtime, RERANKER),
    "listening": _listening,
    "network": _network,
}

OFFLINE = frozenset(PROBES) - {"network"}
"""Checks that send nothing."""
DOORS = frozenset(
    {
        "library",
        "files",
        "qdrant",
        "index",
        "kiwi",
        "player",
        "yt-dlp",
        "javascript",
        "encoder",
        "reranker",
        "listening",
    }
)
"""Checks that open parts of the runtime."""
