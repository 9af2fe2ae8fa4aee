"""The two sentences of every error: `CODE` says what happened and why, `CODE.hint` what to do next.

They are message ids, with the names of the error's details in braces.
"""

from subtitle_rag.base.i18n import N_

SENTENCES: dict[str, str] = {
    # captions
    "unreadable": N_("{path} cannot be read: {reason}."),
    "unreadable.hint": N_("Check that it exists and that you may read it."),
    "not_captions": N_("{path} holds no captions: {reason}."),
    "not_captions.hint": N_("Save the captions as .srt or .vtt, and index the file again."),
    "unknown_encoding": N_("{path} is in an encoding that is not known here."),
    "unknown_encoding.hint": N_(
        "Open it in an editor in the encoding that shows its letters right, save it as UTF-8, and index it again."
    ),
    "doubtful_encoding": N_("{path} was read as {encoding}, which is not certain."),
    "doubtful_encoding.hint": N_("If letters in it are wrong, save it as UTF-8 and index it again."),
    "garbled": N_("{path} is garbled: {reason}."),
    "garbled.hint": N_("Get the original file, or download it again: letters that are lost do not come back."),
    "repaired_text": N_("{path} was saved in the wrong encoding; its letters were put right."),
    "repaired_text.hint": N_("If letters in it are wrong, get the original file, and index it again."),
    "damaged_times": N_(
        "{path} has cues whose times cannot be read: {n}. Their text stands between the others, or is left out."
    ),
    "damaged_times.hint": N_("If scenes of it begin at a wrong second, correct these times, and index it again."),
    "left_out_formats": N_("Left out: {files}. Their captions are pictures, or in a format that is not read."),
    "left_out_formats.hint": N_("Turn them into .srt with Subtitle Edit or ffmpeg, and index them again."),
    "left_out_archives": N_("Left out: {files}. Archives are not opened."),
    "left_out_archives.hint": N_("Unpack them, and index the folder again."),
    "left_out_tracks": N_("Left out, because another file of the same video is taken: {files}."),
    "left_out_tracks.hint": N_("If one of them is another video, give it a name of its own, and index it again."),
    "file_gone": N_("The file of {title} is gone: {path}."),
    "file_gone.hint": N_(
        "Its captions are kept. Mount its disk; or if it was moved, name the folder where it is now: it "
        "stays the same video."
    ),
    "left_out_films": N_("Left out: {files}. These films and sound files have no captions beside or inside them."),
    "left_out_films.hint": N_(
        "Put caption files of the same name beside them; or make captions by subtitle-rag listen FOLDER."
    ),
    "left_out_unseen": N_(
        "Left out: {files}. These films have no captions beside them, and ffmpeg is missing to look inside."
    ),
    "left_out_unseen.hint": N_("Install ffmpeg, or put caption files named like the films beside them."),
    "no_cues": N_("{path} is a caption file without a single spoken line."),
    "no_cues.hint": N_("Nothing to do if the video has no speech; else download its captions again."),
    "too_large": N_("{path} is too large: {reason}."),
    "too_large.hint": N_("Split the file, or check that it really holds captions."),
    "caption_unexpected": N_("{path} cannot be used: reading it failed with {reason}, a fault of this program."),
    "caption_unexpected.hint": N_("Other files are not affected. Please report it with the lines of the log."),
    "no_caption_files": N_("No caption files in {path}."),
    "no_caption_files.hint": N_(
        "Name a folder that holds such files: {formats}. Of films and sound, subtitle-rag listen FOLDER makes captions."
    ),
    # listening
    "sound_unreadable": N_("{path} cannot be listened to: {reason}."),
    "sound_unreadable.hint": N_("Check that a player plays it; a damaged file can be recorded or fetched again."),
    "no_sound": N_("{path} has no sound."),
    "no_sound.hint": N_("Nothing to do: there is nothing to hear in it."),
    "protected": N_("{title} is protected against copying; its sound cannot be used."),
    "protected.hint": N_("Listen to a copy without protection, if you have the right to one."),
    "listening_ended": N_("Listening to {path} was cut off: {reason}."),
    "listening_ended.hint": N_(
        "What was heard before is kept; try again. If it ends there again, the file is at fault."
    ),
    "model_memory": N_("The model {name} does not fit into memory."),
    "model_memory.hint": N_(
        "Close other programs, or set a smaller model under [models] in the config. What is done is kept."
    ),
    "listening_memory": N_("There is not enough memory to listen to {path} with {model}."),
    "listening_memory.hint": N_(
        "What was heard before is kept. Close other programs, or set a smaller model: speech under [models] in the "
        "config."
    ),
    # YouTube
    "members_only": N_("{title} is for members of its channel only."),
    "members_only.hint": N_(
        "If you are a member, give the app your browser's cookies: cookies_from_browser in the config."
    ),
    "private": N_("{title} is private."),
    "private.hint": N_(
        "Nothing to do, unless its owner gives your account access: then set cookies_from_browser in the config."
    ),
    "age_restricted": N_("{title} is shown to signed-in adults only."),
    "age_restricted.hint": N_("Set cookies_from_browser in the config, then run subtitle-rag sync --retry."),
    "geo_blocked": N_("{title} is not shown in your country."),
    "geo_blocked.hint": N_("Set a proxy in another country in the config, then run subtitle-rag sync --retry."),
    "not_found": N_("{title} was not found: it was removed, or the address is wrong."),
    "not_found.hint": N_("Check the address. If the video was removed, there is nothing to do."),
    "payment_required": N_("{title} is for those only who paid for it."),
    "payment_required.hint": N_("If your account has it, set cookies_from_browser in the config."),
    "not_served": N_("YouTube did not hand out {title}: {reason}. Its page does not say that it was removed."),
    "not_served.hint": N_("It is tried again after a day, a week, then every month. Updating yt-dlp can help."),
    "captions_withheld": N_("YouTube gives the captions of {title} only to its own player."),
    "captions_withheld.hint": N_("It is tried again after a day, a week, then every month. Updating yt-dlp can help."),
    "script_required": N_("YouTube gives {title} only to programs that run the JavaScript of its player."),
    "script_required.hint": N_("Install what runs it: {line}"),
    "upcoming": N_("{title} has not begun yet."),
    "upcoming.hint": N_("It is tried again once it is published: subtitle-rag sync."),
    "sign_in_required": N_("{title} is shown to signed-in users only."),
    "sign_in_required.hint": N_("Set cookies_from_browser in the config, then try again."),
    "live": N_("{title} is live; it has captions and sound when it has ended."),
    "live.hint": N_("It is tried again later: subtitle-rag sync. To listen to it, run the same command again then."),
    "film_no_captions": N_("{title} has no captions beside or inside it."),
    "film_no_captions.hint": N_("subtitle-rag listen makes them on this machine."),
    "half_heard": N_("{title} is heard up to {heard} of {length}."),
    "half_heard.hint": N_("subtitle-rag listen goes on with it."),
    "empty_tab": N_("{title} has no videos there."),
    "empty_tab.hint": N_("Check the address; --tabs chooses among videos, shorts and streams."),
    "processing": N_("YouTube is still processing {title}."),
    "processing.hint": N_("It is fetched later: subtitle-rag sync."),
    "nothing_heard": N_("The model understood no speech in {title}."),
    "nothing_heard.hint": N_("If somebody speaks in it, try a larger model: subtitle-rag listen --again --model NAME."),
    "nothing_to_hear": N_("{source} has nothing to listen to: no film or sound file, video or channel of the library."),
    "nothing_to_hear.hint": N_("Name a film, a folder, an address, or a video or channel of subtitle-rag list."),
    "busy": N_("Another subtitle-rag is {work} in {path}."),
    "busy.hint": N_("Wait until it has finished, or stop it there, and try again."),
    "no_captions": N_("{title} has no captions in {languages}."),
    "no_captions.hint": N_("YouTube may add them later: sync checks again. --translated fetches machine translations."),
    "caption_blocked": N_("YouTube sent no captions for {title}, but an empty file or a web page."),
    "caption_blocked.hint": N_(
        "It is tried again later. If that does not help, update yt-dlp or set cookies_from_browser in the config."
    ),
    "caption_damaged": N_("The captions of {title} came damaged: {reason}."),
    "caption_damaged.hint": N_("They are tried again later: subtitle-rag sync."),
    "rate_limited": N_("YouTube limits requests (“{title}”)."),
    "rate_limited.hint": N_("The queue rests and resumes by itself; raise pause in the config if it happens often."),
    "bot_check": N_("YouTube asks for proof that you are not a robot (“{title}”)."),
    "bot_check.hint": N_("Wait, or set cookies_from_browser in the config; the queue resumes by itself."),
    "network": N_("Could not connect to YouTube for “{title}”: {reason}."),
    "network.hint": N_("Check the connection and the proxy in the config. Nothing is lost: subtitle-rag sync resumes."),
    "cookies_unreadable": N_("The cookies cannot be used: {reason}."),
    "cookies_unreadable.hint": N_(
        "Correct cookies_from_browser or cookie_file in the config. Firefox works everywhere, Chrome does not."
    ),
    "yt_dlp_outdated": N_("YouTube's answer for {title} could not be read by yt-dlp {version}: {reason}."),
    "yt_dlp_outdated.hint": N_(
        "Update it: subtitle-rag doctor shows the line for that. Nothing is lost: subtitle-rag sync resumes."
    ),
    # a user's request
    "empty_query": N_("The query holds nothing to search for."),
    "empty_query.hint": N_("Type a word or two of the scene, for example: chicken sauce. A minus only leaves out."),
    "query_too_long": N_("The query has {length} characters; {limit} is the most."),
    "query_too_long.hint": N_("Shorten it to the few words that describe the scene."),
    "bad_value": N_("{value} is not a valid {kind}."),
    "bad_value.hint": N_("Write it as {form}."),
    "unknown_value": N_("There is no {kind} called {name}."),
    "unknown_value.hint": N_("Choose one of these: {known}."),
    "excluded_filter": N_("The filter {name}: cannot be excluded with a minus."),
    "excluded_filter.hint": N_(
        "Write {name}: without the minus to search there only; a minus before a word leaves out what holds it."
    ),
    "retriever_not_ready": N_("The retriever {name} cannot be used: {reason}."),
    "retriever_not_ready.hint": N_(
        "Retrievers that are ready: {ready}. subtitle-rag doctor shows what is missing for the others."
    ),
    "unknown": N_("There is no {kind} “{name}”."),
    "unknown.hint": N_("{command} shows what there is."),
    "whole_too_long": N_("The captions of {videos} videos are about {tokens} tokens; whole they may have {most}."),
    "whole_too_long.hint": N_("Choose fewer with --video, --channel, --after or --before, or ask without --whole."),
    "whole_of_words": N_("Phrases and excluded words choose scenes; they cannot be used where all captions are read."),
    "whole_of_words.hint": N_("Leave them out, or ask without --whole."),
    "several_named": N_("{name} can mean more than one video or channel: {names}."),
    "several_named.hint": N_("Use the whole name, or the id; subtitle-rag list shows it."),
    "plugin_broken": N_("The plug-in {name} of {package} cannot be used: {reason}."),
    "plugin_broken.hint": N_("Update or remove its package; everything else works without it."),
    "no_link": N_("{video} has no link: its caption file's name carries no YouTube id."),
    "no_link.hint": N_("Rename the file to end in [id] before its extension, as yt-dlp does, and index it again."),
    "beyond_end": N_("{value} is beyond the end of “{video}”, which lasts {length}."),
    "beyond_end.hint": N_("subtitle-rag show VIDEO lists its lines with their times."),
    "bad_config": N_("The setting in {place} is wrong: {reason}."),
    "bad_config.hint": N_("subtitle-rag config edit opens the file, subtitle-rag config lists every mistake in it."),
    "bad_prompt": N_("The prompt file {place} cannot be used: {reason}."),
    "bad_prompt.hint": N_("Correct the file, or take it out of [prompts] in the config to use the built-in prompt."),
    "config_exists": N_("The config already exists: {path}."),
    "config_exists.hint": N_("subtitle-rag config edit opens it; nothing was overwritten."),
    "setting_changed": N_("{name} has been changed in the config file meanwhile."),
    "setting_changed.hint": N_("Nothing was overwritten. See what it says, and change it again if you still want to."),
    "no_editor": N_("The editor did not work: {reason}."),
    "no_editor.hint": N_("Name one in the environment variable VISUAL or EDITOR, and try again."),
    "list_unreadable": N_("The list of channels in {path} cannot be read: {reason}."),
    "list_unreadable.hint": N_(
        "Name subscriptions.csv of Google Takeout or its archive, an OPML file, a browser's bookmarks as "
        "HTML, or a file with an address a line."
    ),
    "unsupported_source": N_("{source} is neither a caption file nor a folder, or it does not exist."),
    "unsupported_source.hint": N_("Name a caption file ({formats}), a folder of them, or an address on YouTube."),
    "unsupported_url": N_("{url} is not a channel, playlist or video on YouTube: {reason}."),
    "unsupported_url.hint": N_("Paste an address such as https://www.youtube.com/@handle, a playlist's or a video's."),
    "bad_pattern": N_("{pattern} is not a regular expression: {reason}."),
    "bad_pattern.hint": N_("Put a backslash before characters such as ( [ * + ? that are meant as they are."),
    "range_silent": N_("{video} has no captions between {start} and {end}."),
    "range_silent.hint": N_("Name a range in which somebody speaks; subtitle-rag show VIDEO lists the lines."),
    "export_exists": N_("{path} already exists."),
    "export_exists.hint": N_("Name another file, or replace this one with --force."),
    "is_folder": N_("{path} is a folder."),
    "is_folder.hint": N_("Name a file in it: {example}."),
    "nothing_chosen": N_("No scene is chosen."),
    "nothing_chosen.hint": N_(
        "Name scenes (3, VIDEO@12:41), or choose them with --query, --video, --channel or --marks."
    ),
    "clip_without_video": N_("There is no video of {video} here, and no address to download it from."),
    "clip_without_video.hint": N_("Put the video's file beside its captions, with the same name."),
    "clip_folder": N_("{path} is the name of a video, and the clips go into a folder."),
    "clip_folder.hint": N_("Name a folder, or with --join a file that ends in .mp4."),
    "clip_without_picture": N_("{file} has sound alone."),
    "clip_without_picture.hint": N_("Cut it without --join, and with --subs soft or none."),
    "export_without_file": N_("The format {format} can only be a file."),
    "export_without_file.hint": N_("Name it with -o, for example -o cards.apkg."),
    "no_playable_scene": N_(
        "None of the chosen scenes can be played: their videos have neither a file here nor a link."
    ),
    "no_playable_scene.hint": N_("Put the video files beside the captions, with the same names."),
    "several_videos_in_subtitles": N_(
        "The chosen scenes are of several videos; a {format} file holds the captions of one."
    ),
    "several_videos_in_subtitles.hint": N_("Choose the scenes of one video, for example with --video."),
    "bad_line": N_("{path}, line {line}: {reason}."),
    "bad_line.hint": N_("Each line needs {form}."),
    "no_such_scene": N_("There is no scene {number}: {reason}."),
    "no_such_scene.hint": N_(
        "Search again with subtitle-rag search, or name a time, as in subtitle-rag open VIDEO@12:41."
    ),
    "player_failed": N_("{player} could not play {link}: {reason}."),
    "player_failed.hint": N_("Choose another player, or open the link by hand."),
    "no_player": N_("The player {player} is not installed."),
    "no_player.hint": N_("Install it, or use --player browser, or --print for the link alone."),
    "no_file_player": N_("The video is a file on this computer, and no player of files is installed."),
    "no_file_player.hint": N_("Install mpv or VLC, or name a program under [players] in the config."),
    "player_unfit": N_("{player} cannot play this video: {reason}."),
    "player_unfit.hint": N_("Choose another player."),
    "no_screen": N_("There is no screen here to play {path} on."),
    "no_screen.hint": N_("Open subtitle-rag in a terminal on the desktop of this computer."),
    # Ollama
    "llm_off": N_("No Ollama is set: the list of hosts under [llm] is empty."),
    "llm_off.hint": N_("Name one in hosts under [llm] in the config. Search works without it."),
    "llm_not_running": N_("Ollama does not answer at {host}."),
    "llm_not_running.hint": N_(
        "Start it with ollama serve, or set hosts under [llm] in the config. Search works without it."
    ),
    "llm_broke_off": N_("Ollama at {host} broke off: {reason}."),
    "llm_broke_off.hint": N_("See whether it still runs (ollama ps), then try again: what is done is kept."),
    "llm_timeout": N_("Ollama at {host} did not respond for {seconds} seconds."),
    "llm_timeout.hint": N_("Take a smaller model: subtitle-rag models list shows them."),
    "llm_model_missing": N_("Ollama at {host} does not have the model {model}."),
    "llm_model_missing.hint": N_("subtitle-rag models get {model} fetches it."),
    "encoder_changed": N_("Ollama's {name} does not fit the vectors: {reason}."),
    "encoder_changed.hint": N_(
        "subtitle-rag vectors makes them again; ollama pull {name} fetches the model that is meant. Search "
        "for words works without it."
    ),
    "encoder_waits": N_("Ollama has no room for {name} beside the model that writes contexts."),
    "encoder_waits.hint": N_("Scenes are found by words until the contexts are written."),
    "llm_out_of_memory": N_("{model} does not fit into memory at {host}: {reason}."),
    "llm_out_of_memory.hint": N_("Close other programs, or choose a smaller model: subtitle-rag models list."),
    "llm_overflow": N_("{model} cannot read the whole text: of its {n_prompt_tokens} tokens the server reads {read}."),
    "llm_overflow.hint": N_(
        "Its beginning would be lost, so none of the answer is used. Take a model with a longer context: "
        "subtitle-rag models list."
    ),
    "contexts_unusable": N_("{model} has written no context that helps to find a scene, in {n} windows in a row."),
    "contexts_unusable.hint": N_(
        "It enters no search. Take another model for contexts write --model: subtitle-rag models list."
    ),
    "llm_nonsense": N_("Ollama at {host} sent an invalid answer: {reason}."),
    "llm_nonsense.hint": N_(
        "Try again; if it happens often, update Ollama or take another model: subtitle-rag models list."
    ),
    "llm_cloud_refused": N_("{model} runs in Ollama's cloud; your captions would be sent there."),
    "llm_cloud_refused.hint": N_(
        "Choose one that runs here: subtitle-rag models list. To allow this one, name it in cloud under [llm]."
    ),
    "llm_host_refused": N_("{host} is not this computer; your captions would be sent there."),
    "llm_host_refused.hint": N_("If you want that, set remote = true under [llm] in the config."),
    "llm_failed": N_("Ollama at {host} failed: {reason}."),
    "llm_failed.hint": N_("See Ollama's log. Updating Ollama or choosing another model may help."),
    "llm_stopped": N_("Stopped."),
    "llm_stopped.hint": N_("Everything done so far is kept; it resumes from here."),
    # encoders and rerankers
    "model_kind": N_("{name} is no {kind}."),
    "model_kind.hint": N_(
        "Name another under [models] in the config; subtitle-rag models list shows what each model is."
    ),
    "model_missing": N_("The model {name} is not here."),
    "model_missing.hint": N_("subtitle-rag models get {name} fetches it."),
    "model_damaged": N_("The model {name} is damaged: {reason}."),
    "model_damaged.hint": N_(
        "subtitle-rag models get {name} fetches the damaged files again; repair a folder of your own by hand."
    ),
    "model_unreachable": N_("The process of the neural models did not answer: {reason}."),
    "model_unreachable.hint": N_(
        "Try again; if memory is short, close other programs or set smaller models under [models] in the config."
    ),
    "model_unsupported": N_(
        "This computer's processor lacks an instruction that the program of the neural models needs; "
        "the search goes on by words."
    ),
    "model_unsupported.hint": N_(
        'Have Ollama make the vectors, as with encoder = "ollama:bge-m3" under [models] in the config, or set '
        'encoder = "" to search by words alone.'
    ),
    "model_changed": N_("{name} on {host} is not the model that this program knows: {file}."),
    "model_changed.hint": N_("Nothing was changed. Update subtitle-rag, and check HF_ENDPOINT if it names a mirror."),
    "disk_short": N_("Writing to {path} needs {needed} of free space, and {free} are free."),
    "disk_short.hint": N_(
        "Free some space and run the same command again, or choose another folder in the config. What is "
        "there stays as it is."
    ),
    "unwritable": N_("{path} cannot be written: {reason}."),
    "unwritable.hint": N_("Name a file or folder where you may write, on a disk that has room."),
    "hub_unreachable": N_("Downloading {name} from {host} failed: {reason}."),
    "hub_unreachable.hint": N_(
        "Check the connection and the proxy (Ollama uses the HTTPS_PROXY that it was started with), or try "
        "again later. What was downloaded is kept; the same command resumes."
    ),
    "hub_refused": N_("{name} cannot be downloaded from {host}: {reason}."),
    "hub_refused.hint": N_(
        "Log in with hf auth login if an account is needed; check HF_ENDPOINT and HF_HUB_OFFLINE if they are set. "
        "Otherwise update subtitle-rag."
    ),
    # packages: missing ones, and installing them
    "ffmpeg_missing": N_("Clips need ffmpeg, which is not installed."),
    "ffmpeg_missing.hint": N_(
        "Install it as your system does: apt install ffmpeg, brew install ffmpeg, winget install ffmpeg."
    ),
    "clip_failed": N_("The clip could not be made by ffmpeg: {reason}."),
    "clip_failed.hint": N_("Check that the video plays, and that there is room in the folder."),
    "film_unreadable": N_("The captions in the film cannot be read by ffmpeg: {reason}."),
    "film_unreadable.hint": N_("Check that it plays; a caption file beside it is read without ffmpeg."),
    "missing_extra": N_("{purpose} needs packages that are not installed here (extra {extra})."),
    "missing_extra.hint": N_("Install them: {line}"),
    "packages_failed": N_("The packages are not installed: {reason}."),
    "packages_failed.hint": N_("Do it by hand: {line}"),
    # generated questions and judgements
    "not_own_file": N_("{path}, line {line}: not written by {command}."),
    "not_own_file.hint": N_("Name another file; this one stays as it is."),
    "questions_differ": N_("{path} was begun with another {name}: {before}, now {now}."),
    "questions_differ.hint": N_("To continue that file, leave out --model, --seed and --videos; or name another file."),
    "questions_refused": N_(
        "{n} times in a row the model made no question that could be used, the last time because of: {reason}."
    ),
    "questions_refused.hint": N_(
        "Run the same command again, which goes on with other windows, or take another --model and another file."
    ),
    "questions_short": N_("Only {n} of {count} questions could be made; no windows are left for: {kinds}."),
    "questions_short.hint": N_("Index more videos and run the same command again, or ask for fewer with --count."),
    "no_questions": N_("There are no questions in {path}."),
    "no_questions.hint": N_("subtitle-rag eval make FILE has a local model make some."),
    "not_plain": N_("The search would leave out a part of this: {query}."),
    "not_plain.hint": N_("Leave out double quotes, minus signs before words, and filters such as channel: or after:."),
    "no_contexts": N_("There are no contexts to export."),
    "no_contexts.hint": N_("subtitle-rag contexts write has a local model write them."),
    "contexts_foreign": N_("The library has none of the videos in {path}, among them {video}."),
    "contexts_foreign.hint": N_("Index these videos first, or name the home of their library with --home."),
    "contexts_kept": N_("{path} would replace the contexts of {n} windows, by {models}. Nothing was imported."),
    "contexts_kept.hint": N_("--replace replaces them, --keep imports the others only."),
    "judge_same": N_("{model} writes the contexts; as a judge it would favour its own words."),
    "judge_same.hint": N_(
        "Fetch another with subtitle-rag models get, and name it with --model. --allow-same lets it judge anyway."
    ),
    "encoder_off": N_("No encoder is set: encoder under [models] in the config is empty."),
    "encoder_off.hint": N_("Name one there; subtitle-rag models list shows them. Search for words works without it."),
    # the library
    "library_readonly": N_("The library in {path} cannot be written: {reason}."),
    "library_readonly.hint": N_("Make the folder writable, or choose another with --home."),
    "disk_full": N_("The disk of {path} is full."),
    "disk_full.hint": N_("Free some space and run the same command again: it resumes where it stopped."),
    "locked": N_("Another program is using {path}."),
    "locked.hint": N_("Close that program and try again."),
    "library_damaged": N_("The library file {path} is damaged: {reason}."),
    "library_damaged.hint": N_(
        "Run subtitle-rag doctor --repair: it puts the last sound copy in its place and names what that lacks."
    ),
    "library_lost": N_("The library file {path} is missing or empty, but there are copies of it."),
    "library_lost.hint": N_(
        "Run subtitle-rag doctor --repair: it puts the last copy in its place. To start over, delete {folder}."
    ),
    "library_moved": N_("The library file {path} is no longer there: it was moved or deleted while it was open."),
    "library_moved.hint": N_(
        "Put it back, or quit and start subtitle-rag with its new folder (--home or SUBTITLE_RAG_HOME)."
    ),
    "library_unrecoverable": N_(
        "The library file {path} is damaged ({reason}), and there is no sound copy of it. Nothing was changed."
    ),
    "library_unrecoverable.hint": N_(
        "Move it and the folders backups and index beside it away, and index your captions again."
    ),
    "index_orphaned": N_(
        "The library {path} is empty, but its search index holds {n} windows: the library file was lost."
    ),
    "index_orphaned.hint": N_("Put the file back in its place. To start over, run subtitle-rag rebuild."),
    "newer_version": N_("{path} was made by a newer subtitle-rag (schema {found}, this one knows {known})."),
    "newer_version.hint": N_("Update subtitle-rag."),
    "library_older": N_(
        "The library {path} was made by an older subtitle-rag (schema {found}, this one needs {known})."
    ),
    "library_older.hint": N_(
        "Export your marks, contexts and glossaries with the older subtitle-rag (export --marks, contexts export,"
        " contexts glossary); then move the file and the folders backups and index beside it away, and index your"
        " captions again."
    ),
    "index_mismatch": N_("The search index in {path} was made by another version of subtitle-rag."),
    "index_mismatch.hint": N_(
        "Run subtitle-rag rebuild: it makes a new index from the library; nothing is downloaded."
    ),
    "index_damaged": N_("The search index in {path} cannot be used: {reason}."),
    "index_damaged.hint": N_("Run subtitle-rag rebuild: it makes a new index from the library; nothing is downloaded."),
    "system_limit": N_("The system gives no more memory, threads or files for {path}: {reason}."),
    "system_limit.hint": N_(
        "Nothing is lost. Close other programs, or raise the limit that ulimit -a shows, and try again."
    ),
    "disk_error": N_("The disk of {path} reports an error: {reason}."),
    "disk_error.hint": N_("Nothing was deleted. Check the disk, copy the folder to another one, and try again."),
    "index_unreachable": N_("The process of the search index did not answer: {reason}."),
    "index_unreachable.hint": N_(
        "Try again. If it happens again, close other programs or end the process that is named; subtitle-rag doctor"
        " says where the log is."
    ),
    "index_moved": N_("The search index has moved to {place} since the app was opened."),
    "index_moved.hint": N_(
        "Leave the app and open it again. Until then the earlier index is searched, and nothing can be added."
    ),
    "index_elsewhere": N_("The search index is {found}, but the config names {wanted}."),
    "index_elsewhere.hint": N_(
        "Run subtitle-rag rebuild, which fills that one from the library, or correct url under [qdrant] in the config."
    ),
    # a Qdrant server
    "qdrant_url": N_("That is not the address of a Qdrant server."),
    "qdrant_url.hint": N_(
        "Write it as http://host:6333 or https://host:6333; a key belongs in an environment variable."
    ),
    "qdrant_refused": N_("The Qdrant server at {url} gives no access: {reason}."),
    "qdrant_refused.hint": N_(
        "Put a key that may write into an environment variable, and name that in api_key_env under [qdrant] "
        "in the config."
    ),
    "qdrant_unreachable": N_("The Qdrant server at {url} cannot be used at the moment: {reason}."),
    "qdrant_unreachable.hint": N_(
        "See whether it runs and whether url under [qdrant] in the config is right; what is done is kept. To search "
        "without it, take url out of the config and run subtitle-rag rebuild, which makes an index in the library's "
        "folder."
    ),
    "qdrant_old": N_("The Qdrant server at {url} is version {found}; at least {oldest} is needed."),
    "qdrant_old.hint": N_("Update the server."),
    "qdrant_failed": N_("The Qdrant server at {url} could not fulfil a request: {reason}."),
    "qdrant_failed.hint": N_(
        "See whether url under [qdrant] in the config is that of a Qdrant server; its log says more."
    ),
    "sample_library": N_("The sample cannot be changed."),
    "sample_library.hint": N_("{key} opens your own library. What you bring in there stays there."),
    "interrupted": N_("Interrupted."),
    "interrupted.hint": N_("Everything done so far is kept; the same command resumes from here."),
    "output_unwritable": N_("The output could not be written: {reason}."),
    "output_unwritable.hint": N_("Make room, or send it elsewhere; what the command did is done."),
    "unexpected": N_("Something unexpected happened: {reason}."),
    "unexpected.hint": N_("The details are in {log}. Nothing that was done before is lost."),
}
