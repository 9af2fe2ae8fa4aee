"""Every failure that a user can meet: a stable code, what happened, why, and what to do next.

    AppError
    ├── UsageError      the request itself cannot be met: wrong arguments, unknown video, bad config
    ├── CaptionError    one caption file or track cannot be used; the run goes on
    ├── FetchError      YouTube did not give a video or a list; whether it is asked again hangs on the code
    ├── LlmError        Ollama did not do what it was asked
    └── BusyError       the library or a service cannot be used at the moment; trying again later can help

A code's two sentences live in `SENTENCES`, so that a failure stored in the library (code and details) is told in the
language of whoever reads it. Exit codes belong to the faces (`output.exit_code_for`).
"""

from typing import Any

from subtitle_rag.i18n import N_, _

SENTENCES: dict[str, tuple[str, str]] = {
    # captions
    "unreadable": (
        N_("{path} cannot be read: {reason}."),
        N_("Check that the file exists and that you may read it."),
    ),
    "not_captions": (
        N_("{path} holds no captions: {reason}."),
        N_("Save the captions as .vtt, .srt, .sbv or .json3 and index the file again."),
    ),
    "no_cues": (
        N_("{path} is a caption file without a single spoken line."),
        N_("Nothing to do if the video has no speech; else download its captions again."),
    ),
    "too_large": (
        N_("{path} is {size} MB; caption files of more than {limit} MB are refused."),
        N_("Split the file, or check that it really holds captions."),
    ),
    "no_caption_files": (
        N_("No caption files in {path}."),
        N_("Name a folder that holds .vtt, .srt, .sbv or .json3 files."),
    ),
    # requests
    "empty_query": (
        N_("The query holds nothing to search for."),
        N_("Type a word or two of the scene, for example: chicken sauce."),
    ),
    "query_too_long": (
        N_("The query has {length} characters; {limit} is the most."),
        N_("Shorten it to the few words that describe the scene."),
    ),
    "only_exclusions": (
        N_("The query only says what to leave out."),
        N_("Add a word to look for."),
    ),
    "bad_filter": (
        N_("{value} is not a date for {name}."),
        N_("Write dates as 2026-05-31."),
    ),
    "excluded_filter": (
        N_("The filter {name}: cannot be excluded with a minus."),
        N_("Write {name}: without the minus to search there only; a minus before a word leaves out what holds it."),
    ),
    "unknown_retriever": (
        N_("There is no retriever called {name}."),
        N_("Retrievers that are ready: {ready}."),
    ),
    "unknown_video": (
        N_("There is no video or scene {video} in the library."),
        N_("subtitle-rag list shows the videos, subtitle-rag search the scenes."),
    ),
    "several_videos": (
        N_("More than one video's title holds {video}."),
        N_("Use the video's id; subtitle-rag list shows it."),
    ),
    "unknown_channel": (
        N_("There is no channel {channel} in the library."),
        N_("subtitle-rag list shows the channels."),
    ),
    "no_link": (
        N_("{video} has no link: its caption file's name carries no YouTube id."),
        N_("Rename the file to end in [id] before its extension, as yt-dlp does, and index it again."),
    ),
    "bad_time": (
        N_("{value} is not a time."),
        N_("Write times as 12:41, 1:02:33 or 761."),
    ),
    "bad_config": (
        N_("The setting in {path} is wrong: {reason}."),
        N_("Correct that setting; subtitle-rag paths shows where the file lies."),
    ),
    "unsupported_source": (
        N_("{source} is neither a caption file nor a folder, or it does not exist."),
        N_("Name a .vtt, .srt, .sbv or .json3 file, a folder of them, or an address on YouTube."),
    ),
    "unsupported_url": (
        N_("{url} is not a channel, playlist or video on YouTube."),
        N_("Paste an address such as https://www.youtube.com/@handle, a playlist's or a video's."),
    ),
    "bad_pattern": (
        N_("{pattern} is not a regular expression: {reason}."),
        N_("Put a backslash before characters such as ( [ * + ? that are meant as they are."),
    ),
    "unknown_tab": (
        N_("{name} is no tab of a channel."),
        N_("Tabs are: {known}."),
    ),
    "bad_queries": (
        N_("{path}, line {line}: {reason}."),
        N_("Each line needs id, query, kind and gold: [{{video, start, end}}]; a KorQuAD file is taken whole."),
    ),
    "no_player": (
        N_("The player {player} is not installed."),
        N_("Install it, or use --player browser, or --print for the link alone."),
    ),
    # YouTube
    "members_only": (
        N_("{title} is for members of its channel only."),
        N_("If you are a member, give the app your browser's cookies: cookies_from_browser in the config."),
    ),
    "private": (
        N_("{title} is private."),
        N_("Nothing to do, unless its owner gives your account access: then set cookies_from_browser in the config."),
    ),
    "age_restricted": (
        N_("{title} is shown to signed-in adults only."),
        N_("Set cookies_from_browser in the config, then run subtitle-rag sync --retry."),
    ),
    "geo_blocked": (
        N_("{title} is not shown in your country."),
        N_("Set a proxy in another country in the config, then run subtitle-rag sync --retry."),
    ),
    "not_found": (
        N_("{title} is not there: it was removed, or the address is wrong."),
        N_("Check the address; nothing to do where a video was removed."),
    ),
    "upcoming": (
        N_("{title} has not begun yet."),
        N_("It is asked for again after it has been shown: subtitle-rag sync."),
    ),
    "live": (
        N_("{title} is live; captions come when it has ended."),
        N_("It is asked for again later: subtitle-rag sync."),
    ),
    "no_captions": (
        N_("{title} has no captions in {languages}."),
        N_("YouTube may add them later: sync asks again. --translated takes machine translations."),
    ),
    "caption_blocked": (
        N_("YouTube sent empty captions for {title}."),
        N_("It is asked for again later; if it stays so, update yt-dlp or set cookies_from_browser in the config."),
    ),
    "caption_damaged": (
        N_("The captions of {title} came damaged: {reason}."),
        N_("They are asked for again later: subtitle-rag sync."),
    ),
    "empty_tab": (
        N_("{title} has no such tab."),
        N_("Choose other tabs with --tabs, or leave them out."),
    ),
    "rate_limited": (
        N_("YouTube asks for fewer requests, at {title}."),
        N_("The queue rests and goes on by itself; raise pause_min and pause_max in the config if it happens often."),
    ),
    "bot_check": (
        N_("YouTube wants to know whether a person is asking, at {title}."),
        N_("Waiting helps, or set cookies_from_browser in the config; the queue goes on by itself."),
    ),
    "network": (
        N_("YouTube cannot be reached for {title}: {reason}."),
        N_("Check the connection and the proxy in the config; what is left is kept, subtitle-rag sync goes on."),
    ),
    "cookies_unreadable": (
        N_("The cookies cannot be used: {reason}."),
        N_("Correct cookies_from_browser or cookie_file in the config. Firefox works everywhere, Chrome does not."),
    ),
    "yt_dlp_outdated": (
        N_("YouTube answered in a way that yt-dlp {version} does not understand, at {title}: {reason}."),
        N_("Update it: pip install --upgrade yt-dlp. What is left is kept, subtitle-rag sync goes on."),
    ),
    "youtube_busy": (
        N_("Another subtitle-rag is fetching from YouTube into {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    # Ollama
    "llm_off": (
        N_("No Ollama is set: the list of hosts under [llm] is empty."),
        N_("Name one in hosts under [llm] in the config. Search works without it."),
    ),
    "llm_not_running": (
        N_("Ollama does not answer at {host}."),
        N_("Start it with ollama serve, or set hosts under [llm] in the config. Search works without it."),
    ),
    "llm_broke_off": (
        N_("Ollama at {host} broke off: {reason}."),
        N_("See whether it still runs (ollama ps), then try again: what is done is kept."),
    ),
    "llm_timeout": (
        N_("Ollama at {host} gave no sign of life for {seconds} seconds."),
        N_("Raise timeout under [llm] in the config, or take a smaller model: subtitle-rag models list."),
    ),
    "llm_busy": (
        N_("Ollama at {host} has too many requests waiting: {reason}."),
        N_("Try again later; what is done is kept."),
    ),
    "llm_model_missing": (
        N_("Ollama at {host} does not have the model {model}."),
        N_("subtitle-rag models get {model} fetches it."),
    ),
    "llm_model_unknown": (
        N_("There is no model {model} to fetch."),
        N_("Check the name; subtitle-rag models list shows those that are offered."),
    ),
    "llm_out_of_memory": (
        N_("{model} does not fit into memory at {host}: {reason}."),
        N_("Close other programs, or take a smaller model: subtitle-rag models list."),
    ),
    "llm_overflow": (
        N_("The text is too long for {model}: {n_prompt_tokens} tokens, and there is room for {n_ctx}."),
        N_("Take a model with a longer context: subtitle-rag models list."),
    ),
    "llm_nonsense": (
        N_("Ollama at {host} gave no proper answer: {reason}."),
        N_("Try again; if it happens often, update Ollama or take another model: subtitle-rag models list."),
    ),
    "llm_cloud_refused": (
        N_("{model} runs in Ollama's cloud, which would be sent your captions."),
        N_("Choose one that runs here: subtitle-rag models list. To allow this one, name it in cloud under [llm]."),
    ),
    "llm_host_refused": (
        N_("{host} is not this computer; it would be sent your captions."),
        N_("If you want that, set remote = true under [llm] in the config."),
    ),
    "llm_host_unusable": (
        N_("{host} is not the address of an Ollama."),
        N_("Write it as http://127.0.0.1:11434 in hosts under [llm] in the config."),
    ),
    "llm_failed": (
        N_("Ollama at {host} failed: {reason}."),
        N_("Its log says more; updating Ollama or taking another model may help."),
    ),
    "llm_stopped": (
        N_("Stopped."),
        N_("Everything that was done is kept; it goes on from here."),
    ),
    "contexts_busy": (
        N_("Another subtitle-rag is writing contexts into {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    # the library
    "library_readonly": (
        N_("The library in {path} cannot be written: {reason}."),
        N_("Make the folder writable, or choose another with --home."),
    ),
    "disk_full": (
        N_("The disk that holds {path} is full."),
        N_("Free some space and run the same command again: it goes on where it stopped."),
    ),
    "library_busy": (
        N_("Another subtitle-rag is indexing into {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    "library_locked": (
        N_("The library in {path} is held by another program."),
        N_("Close that program and try again."),
    ),
    "library_damaged": (
        N_("The library file {path} is damaged: {reason}."),
        N_("Put a backup in its place, or move it away and index your captions again."),
    ),
    "library_newer": (
        N_("The library {path} was made by a newer subtitle-rag (schema {found}, this one knows {known})."),
        N_("Update subtitle-rag."),
    ),
    "index_mismatch": (
        N_("The search index in {path} was made by other rules ({found}, now {expected})."),
        N_("Run subtitle-rag rebuild: it makes the index anew from the library; nothing is downloaded."),
    ),
    "index_damaged": (
        N_("The search index in {path} cannot be used: {reason}."),
        N_("Run subtitle-rag rebuild: it makes the index anew from the library; nothing is downloaded."),
    ),
    "index_locked": (
        N_("The search index in {path} is held by another program."),
        N_("Close that program and try again."),
    ),
    "index_unreachable": (
        N_("The process that holds the search index did not answer: {reason}."),
        N_("Try again; if it happens again, subtitle-rag doctor says more."),
    ),
    "interrupted": (
        N_("Interrupted."),
        N_("Everything that was done is kept; the same command goes on from here."),
    ),
    "unexpected": (
        N_("Something unexpected happened: {reason}."),
        N_("The details are in {log}. Nothing that was done before is lost."),
    ),
}
"""Code → (what and why, what to do next), as message ids with the details' names in braces."""


class AppError(Exception):
    """A failure with a stable `code` and the `details` that its sentences name."""

    def __init__(self, code: str, **details: Any) -> None:
        self.code = code
        self.details = details
        super().__init__(code, details)

    @property
    def message(self) -> str:
        return _(SENTENCES[self.code][0]).format(**self.details)

    @property
    def hint(self) -> str:
        return _(SENTENCES[self.code][1]).format(**self.details)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.code, self.details)


def _restore(kind: type[AppError], code: str, details: dict[str, Any]) -> AppError:
    return kind(code, **details)


class UsageError(AppError):
    """The request itself cannot be met."""


class CaptionError(AppError):
    """One caption file or track cannot be used."""


class FetchError(AppError):
    """YouTube did not give a video's captions, or a list of videos.

    The detail `retry_at`, where there is one, is YouTube's own word on when to ask again, in Unix seconds.
    """


class LlmError(AppError):
    """Ollama did not do what it was asked. `model` and `host` are among the details."""


class BusyError(AppError):
    """The library or a service cannot be used at the moment."""
