"""Failures of a user's request."""

from subtitle_rag.i18n import N_

SENTENCES = {
    "empty_query": (
        N_("The query holds nothing to search for."),
        N_("Type a word or two of the scene, for example: chicken sauce."),
    ),
    "query_too_long": (
        N_("The query has {length} characters; {limit} is the most."),
        N_("Shorten it to the few words that describe the scene."),
    ),
    "only_exclusions": (N_("The query only says what to leave out."), N_("Add a word to search for.")),
    "bad_filter": (N_("{value} is not a date for {name}."), N_("Write dates as 2026-05-31.")),
    "unknown_kind": (N_("There is no kind of video called {value}."), N_("Kinds are: video, short, stream.")),
    "excluded_filter": (
        N_("The filter {name}: cannot be excluded with a minus."),
        N_("Write {name}: without the minus to search there only; a minus before a word leaves out what holds it."),
    ),
    "unknown_retriever": (N_("There is no retriever called {name}."), N_("Retrievers that are ready: {ready}.")),
    "late_alone": (
        N_(
            "Neither the comparison of tokens (late) nor sections and videos (levels) find scenes by themselves: they "
            "order what retrievers find."
        ),
        N_("Name retrievers too: {ready}."),
    ),
    "levels_off": (
        N_("Sections and videos are not in the index: levels is false under [search] in the config."),
        N_("Set levels = true there, and run subtitle-rag rebuild."),
    ),
    "retriever_not_ready": (
        N_("The retriever {name} has nothing to search in: no model has made vectors for it."),
        N_("Retrievers that are ready: {ready}. subtitle-rag doctor shows what is missing for the others."),
    ),
    "unknown_video": (
        N_("There is no video or scene {video} in the library."),
        N_("subtitle-rag list shows the videos, subtitle-rag search the scenes."),
    ),
    "whole_too_long": (
        N_("The captions of {videos} videos are about {tokens} tokens; whole they may have {most}."),
        N_("Choose fewer with --video, --channel, --after or --before, or ask without --whole."),
    ),
    "whole_of_words": (
        N_("Phrases and excluded words choose scenes; they cannot be used where all captions are read."),
        N_("Leave them out, or ask without --whole."),
    ),
    "several_videos": (
        N_("More than one video's title holds {video}."),
        N_("Use the video's id; subtitle-rag list shows it."),
    ),
    "unknown_channel": (
        N_("There is no channel {channel} in the library."),
        N_("subtitle-rag list shows the channels."),
    ),
    "unknown_answer": (
        N_("There is no saved answer {answer}."),
        N_("subtitle-rag ask --history shows their numbers; --forget all deletes all of them."),
    ),
    "no_link": (
        N_("{video} has no link: its caption file's name carries no YouTube id."),
        N_("Rename the file to end in [id] before its extension, as yt-dlp does, and index it again."),
    ),
    "bad_time": (N_("{value} is not a time."), N_("Write times as 12:41, 1:02:33 or 761.")),
    "beyond_end": (
        N_("{value} is beyond the end of “{video}”, which lasts {length}."),
        N_("subtitle-rag show VIDEO lists its lines with their times."),
    ),
    "bad_config": (
        N_("The setting in {place} is wrong: {reason}."),
        N_("subtitle-rag config edit opens the file, subtitle-rag config validate lists every mistake in it."),
    ),
    "bad_prompt": (
        N_("The prompt file {place} cannot be used: {reason}."),
        N_("subtitle-rag config prompt contexts (or answers) prints the built-in prompt as a file to begin with."),
    ),
    "config_exists": (
        N_("The config already exists: {path}."),
        N_("subtitle-rag config edit opens it; nothing was overwritten."),
    ),
    "no_config_file": (
        N_("There is no file {path}."),
        N_("Name a config file, or none for your own; subtitle-rag config init writes one."),
    ),
    "unknown_setting": (
        N_("There is no setting {name}{near}."),
        N_("subtitle-rag config show lists the settings, subtitle-rag keys the ids of keys."),
    ),
    "no_editor": (
        N_("The editor did not work: {reason}."),
        N_("Name one in the environment variable VISUAL or EDITOR, and try again."),
    ),
    "unknown_topic": (
        N_("There is no topic and no command {name}{near}."),
        N_("subtitle-rag help lists the topics, subtitle-rag --help the commands."),
    ),
    "no_desktop_entries": (
        N_("Menu entries are made on Linux desktops alone, not on this system."),
        N_("Start subtitle-rag in a terminal."),
    ),
    "foreign_file": (
        N_("{path} already exists and was not written by this command."),
        N_("Move it away if you do not need it, and try again; nothing was overwritten."),
    ),
    "no_metadata": (
        N_("This copy runs from its source and is not installed, so its requirements are unknown."),
        N_("Install it with pip, and try again."),
    ),
    "package_missing": (N_("The package {name} is missing."), N_("Install subtitle-rag again.")),
    "package_unfit": (
        N_("{name} {installed} is here, but {wanted} is needed."),
        N_("Install subtitle-rag again, in an environment of its own."),
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
    "report_exists": (
        N_("{path} already exists."),
        N_("Name a file that does not exist yet; nothing was overwritten."),
    ),
    "unknown_mark": (N_("There is no mark {number}."), N_("subtitle-rag marks list shows their numbers.")),
    "export_exists": (N_("{path} already exists."), N_("Name another file, or replace this one with --force.")),
    "mpv_script_action": (
        N_("What is to be done with the script is not said."),
        N_("Write --install, --remove or --print."),
    ),
    "unreadable_folder": (
        N_("The folder {path} cannot be read: {reason}."),
        N_("Name the folder that the clips were written to."),
    ),
    "nothing_to_clip": (
        N_("No scene is chosen to cut."),
        N_("Name scenes (3, VIDEO@12:41), or choose them with --query or --marks."),
    ),
    "clip_without_video": (
        N_("There is no video of {video} here, and no address to download it from."),
        N_("Put the video's file beside its captions, with the same name."),
    ),
    "clip_without_picture": (N_("{file} has sound alone."), N_("Cut it without --join, and with --subs soft or none.")),
    "nothing_to_export": (
        N_("No scene is chosen to export."),
        N_("Name scenes (3, VIDEO@12:41), or choose them with --query, --video, --channel or --marks."),
    ),
    "nothing_playable": (
        N_("None of the chosen scenes can be written in this format: their videos have no file on this computer."),
        N_("Put the video files beside the captions, or use --format md or html."),
    ),
    "several_videos_in_subtitles": (
        N_("The chosen scenes are of several videos; a {format} file holds the captions of one."),
        N_("Choose the scenes of one video, for example with --video."),
    ),
    "unknown_tab": (N_("{name} is not a tab of a channel."), N_("Tabs are: {known}.")),
    "bad_queries": (
        N_("{path}, line {line}: {reason}."),
        N_(
            "Each line needs id, query, kind and gold: [{{video, start, end}}]; KorQuAD, BEIR and "
            "TREC files work as they are."
        ),
    ),
    "sweep_interrupted": (
        N_("Interrupted."),
        N_("The results so far are shown; the same command starts from the beginning."),
    ),
    "unknown_axis": (N_("There is no number {name} to vary."), N_("Numbers are: {known}.")),
    "no_last_search": (
        N_("There is no scene {number}: no search is remembered."),
        N_("Search first with subtitle-rag search, then open one of its numbers."),
    ),
    "searches_not_remembered": (
        N_("There is no scene {number} to open: searches are not remembered (remember = false under [search])."),
        N_("Open it by the time of its link, as in subtitle-rag open VIDEO@12:41, or set remember = true and search."),
    ),
    "no_such_number": (
        N_("There is no scene {number}: the last search found {last}."),
        N_("Name one of its numbers, from 1 to {last}, or search again."),
    ),
    "scene_gone": (N_("Scene {number} of the last search is no longer in the library."), N_("Search again.")),
    "no_player": (
        N_("The player {player} is not installed."),
        N_("Install it, or use --player browser, or --print for the link alone."),
    ),
    "player_failed": (
        N_("{player} could not play {link}."),
        N_("Another player or the browser may play it (the reason in {player}'s words: {reason})."),
    ),
    "player_ended": (
        N_("{player} could not play {link}: it ended at once, with status {status}."),
        N_("Start {player} by hand to see why, or choose another player."),
    ),
    "no_file_player": (
        N_("The video is a file on this computer, and no player of files is installed."),
        N_("Install mpv or VLC, or name a program under [players] in the config."),
    ),
    "needs_file": (
        N_("{player} plays only files, and the video's is not beside its captions."),
        N_("Put it there under the same name, or choose another player."),
    ),
    "needs_link": (N_("{player} opens only links, and the video has none."), N_("Choose another player.")),
    "no_screen": (
        N_("There is no screen here to play {path} on."),
        N_("Open subtitle-rag in a terminal on the desktop of this computer."),
    ),
}
