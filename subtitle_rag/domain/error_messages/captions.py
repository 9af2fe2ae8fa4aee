"""Failures of captions, and of fetching them from YouTube."""

from subtitle_rag.i18n import N_

SENTENCES = {
    # captions
    "unreadable": (N_("{path} cannot be read: {reason}."), N_("Check that the file exists and that you may read it.")),
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
    "too_much_text": (
        N_("{path} holds {reason}, more than the captions of a video can have."),
        N_("Split the file, or check that it really holds captions."),
    ),
    "caption_unexpected": (
        N_("{path} cannot be used: reading it failed with {reason}, a fault of this program."),
        N_("Other files are not affected. subtitle-rag doctor --report FILE writes a bug report."),
    ),
    "no_caption_files": (
        N_("No caption files in {path}."),
        N_("Name a folder that holds .vtt, .srt, .sbv or .json3 files."),
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
        N_("{title} was not found: it was removed, or the address is wrong."),
        N_("Check the address. If the video was removed, there is nothing to do."),
    ),
    "upcoming": (N_("{title} has not begun yet."), N_("It is tried again once it is published: subtitle-rag sync.")),
    "live": (
        N_("{title} is live; captions come when it has ended."),
        N_("It is tried again later: subtitle-rag sync."),
    ),
    "no_captions": (
        N_("{title} has no captions in {languages}."),
        N_("YouTube may add them later: sync checks again. --translated fetches machine translations."),
    ),
    "caption_blocked": (
        N_("YouTube sent empty captions for {title}."),
        N_("It is tried again later. If that does not help, update yt-dlp or set cookies_from_browser in the config."),
    ),
    "caption_damaged": (
        N_("The captions of {title} came damaged: {reason}."),
        N_("They are tried again later: subtitle-rag sync."),
    ),
    "empty_tab": (N_("{title} has no such tab."), N_("Choose other tabs with --tabs, or leave them out.")),
    "rate_limited": (
        N_("YouTube limits requests (“{title}”)."),
        N_("The queue rests and resumes by itself; raise pause_min and pause_max in the config if it happens often."),
    ),
    "bot_check": (
        N_("YouTube asks for proof that you are not a robot (“{title}”)."),
        N_("Wait, or set cookies_from_browser in the config; the queue resumes by itself."),
    ),
    "network": (
        N_("Could not connect to YouTube for “{title}”: {reason}."),
        N_("Check the connection and the proxy in the config. Nothing is lost: subtitle-rag sync resumes."),
    ),
    "cookies_unreadable": (
        N_("The cookies cannot be used: {reason}."),
        N_("Correct cookies_from_browser or cookie_file in the config. Firefox works everywhere, Chrome does not."),
    ),
    "yt_dlp_outdated": (
        N_("YouTube's answer for {title} could not be read by yt-dlp {version}: {reason}."),
        N_("Update it with subtitle-rag self update yt-dlp. Nothing is lost: subtitle-rag sync resumes."),
    ),
    "youtube_busy": (
        N_("Another subtitle-rag is fetching from YouTube into {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
}
