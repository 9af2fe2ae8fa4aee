"""Failures of installing packages, and for want of them."""

from subtitle_rag.i18n import N_

SENTENCES = {
    "ffmpeg_missing": (
        N_("Clips need ffmpeg, which is not installed."),
        N_("Install it as your system does: apt install ffmpeg, brew install ffmpeg, winget install ffmpeg."),
    ),
    "clip_failed": (
        N_("The clip could not be made by ffmpeg: {reason}."),
        N_("Check that the video plays, and that there is room in the folder."),
    ),
    "neural_missing": (
        N_("Search by meaning needs packages that are not installed here (extra neural)."),
        N_("Search for words works without them. Install them: {line}"),
    ),
    "server_missing": (
        N_("A Qdrant server needs packages that are not installed here (extra server)."),
        N_("Take url under [qdrant] out of the config, or install them: {line}"),
    ),
    "eval_missing": (
        N_("Measuring needs packages that are not installed here (extra eval)."),
        N_("Install them: {line}"),
    ),
    "mcp_missing": (
        N_("Serving other assistants needs packages that are not installed here (extra mcp)."),
        N_("Install them: {line}"),
    ),
    "web_missing": (
        N_("Showing the app in a browser needs packages that are not installed here (extra web)."),
        N_("Install them: {line}"),
    ),
    "pictures_missing": (
        N_("Preview images need packages that are not installed here (extra pictures)."),
        N_("Take pictures out of the config, or install them: {line}"),
    ),
    "packages_refused": (
        N_("This copy of the program cannot install packages by itself."),
        N_("Do it by hand: {line}"),
    ),
    "packages_failed": (
        N_("The packages could not be installed: {reason}."),
        N_("What has arrived is kept. Try again, or do it by hand: {line}"),
    ),
    "packages_cuda": (
        N_("By default pip installs PyTorch with CUDA, several gigabytes, but this computer has no GPU."),
        N_("Install them: {line}"),
    ),
    "packages_busy": (
        N_("Another subtitle-rag is installing packages."),
        N_("Wait until it has finished, or stop it, and try again."),
    ),
    "packages_disk": (
        N_("The packages need {needed} on the disk of {path}, but only {free} are free."),
        N_("Free some space and try again."),
    ),
}
