"""Failures of the library and its index."""

from subtitle_rag.i18n import N_

SENTENCES = {
    # the library
    "library_readonly": (
        N_("The library in {path} cannot be written: {reason}."),
        N_("Make the folder writable, or choose another with --home."),
    ),
    "disk_full": (
        N_("The disk of {path} is full."),
        N_("Free some space and run the same command again: it resumes where it stopped."),
    ),
    "library_busy": (
        N_("Another subtitle-rag is indexing into {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    "library_locked": (N_("Another program is using the library in {path}."), N_("Close that program and try again.")),
    "library_damaged": (
        N_("The library file {path} is damaged: {reason}."),
        N_("Run subtitle-rag doctor --repair: it saves what can be read, and takes the rest from the last copy."),
    ),
    "library_lost": (
        N_("The library file {path} is missing or empty, but there are copies of it."),
        N_("Run subtitle-rag doctor --repair: it restores the last copy. To start over, delete {folder}."),
    ),
    "library_unrecoverable": (
        N_("Nothing can be read from the library file {path}, and there is no copy of it: {reason}."),
        N_("Move the file away and index your captions again."),
    ),
    "index_orphaned": (
        N_("The library {path} is empty, but its search index holds {n} windows: the library file was lost."),
        N_("Put the file back in its place. To start over, run subtitle-rag rebuild."),
    ),
    "library_newer": (
        N_("The library {path} was made by a newer subtitle-rag (schema {found}, this one knows {known})."),
        N_("Update subtitle-rag."),
    ),
    "index_mismatch": (
        N_("The search index in {path} was made by other rules ({found}, now {expected})."),
        N_("Run subtitle-rag rebuild: it makes a new index from the library; nothing is downloaded."),
    ),
    "index_damaged": (
        N_("The search index in {path} cannot be used: {reason}."),
        N_("Run subtitle-rag rebuild: it makes a new index from the library; nothing is downloaded."),
    ),
    "index_locked": (
        N_("Another program is using the search index in {path}."),
        N_("Close that program and try again."),
    ),
    "system_limit": (
        N_("The system gives no more memory, threads or files for {path}: {reason}."),
        N_("Nothing is lost. Close other programs, or raise the limit that ulimit -a shows, and try again."),
    ),
    "disk_error": (
        N_("The disk of {path} reports an error: {reason}."),
        N_("Nothing was deleted. Check the disk, copy the folder to another one, and try again."),
    ),
    "rebuild_space": (
        N_("A new search index in {path} needs {needed} of free space, and {free} are free."),
        N_("Free some space and run the same command again. The search index stays as it is until then."),
    ),
    "index_unreachable": (
        N_("The process of the search index did not answer: {reason}."),
        N_("Try again; if it happens again, subtitle-rag doctor says more."),
    ),
    "index_moved": (
        N_("The search index has moved to {place} since the app was opened."),
        N_("Leave the app and open it again. Until then the earlier index is searched, and nothing can be added."),
    ),
    "index_elsewhere": (
        N_("The search index is {found}, but the config names {wanted}."),
        N_(
            "Move it with subtitle-rag migrate --to {wanted}, make a new one with subtitle-rag rebuild, or correct url "
            "under [qdrant] in the config."
        ),
    ),
    "same_index": (
        N_("The index is {place} already."),
        N_("Name another place with --to: the address of a Qdrant server, or embedded."),
    ),
    "index_differs": (
        N_("The index {place} does not answer like the one it was made from: {reason}."),
        N_("Run the same command again: it completes what is there. Until then the earlier index is the one in use."),
    ),
    # a Qdrant server
    "qdrant_url": (
        N_("That is not the address of a Qdrant server."),
        N_("Write it as http://host:6333 or https://host:6333; a key belongs into an environment variable."),
    ),
    "qdrant_no_key": (
        N_("The environment variable {variable} holds no key for the Qdrant server."),
        N_("Set it, or correct api_key_env under [qdrant] in the config."),
    ),
    "qdrant_unreachable": (
        N_("The Qdrant server at {url} cannot be used at the moment: {reason}."),
        N_("See whether it runs and whether url under [qdrant] in the config is right; what is done is kept."),
    ),
    "windows_missing": (
        N_("The Qdrant server at {url} lacks {n} of this library's {known} windows; the others are searched."),
        N_("The app puts them back by itself; without it the next subtitle-rag sync or index does."),
    ),
    "qdrant_key_needed": (
        N_("The Qdrant server at {url} needs a key."),
        N_("Put the key into an environment variable and name that in api_key_env under [qdrant] in the config."),
    ),
    "qdrant_refused": (
        N_("The Qdrant server at {url} refuses the key in {variable}."),
        N_("Put a key that may write into that environment variable."),
    ),
    "qdrant_old": (
        N_("The Qdrant server at {url} is version {found}; at least {oldest} is needed."),
        N_("Update the server."),
    ),
    "qdrant_failed": (
        N_("The Qdrant server at {url} could not fulfil a request: {reason}."),
        N_("See whether url under [qdrant] in the config is that of a Qdrant server; its log says more."),
    ),
    "qdrant_others": (
        N_(
            "The collection {collection} at {url} was made by other rules, and {n} of its windows are other libraries'."
        ),
        N_(
            "Update subtitle-rag on all machines that use it. Or delete that collection on the server, and run"
            " subtitle-rag rebuild on each of them."
        ),
    ),
    "nothing_to_pack": (
        N_("No video with captions is chosen to pack."),
        N_("Name channels, or choose videos with --video; --all packs the whole library."),
    ),
    "pack_unreadable": (
        N_("The pack {path} cannot be read: {reason}."),
        N_("Choose a file that subtitle-rag pack has written."),
    ),
    "pack_foreign": (
        N_("{path} is not a pack of subtitle-rag, or its end is missing."),
        N_("Nothing was changed. Choose a file that subtitle-rag pack has written, or copy it again."),
    ),
    "pack_damaged": (
        N_("The pack {path} is damaged or was altered: {reason}."),
        N_("Nothing was changed. Copy the file again, or get it from its author again."),
    ),
    "pack_newer": (
        N_("The pack {path} was written by a newer subtitle-rag (format {found}, this one knows {known})."),
        N_("Nothing was changed. Update subtitle-rag."),
    ),
    "sample_library": (
        N_("The sample cannot be changed."),
        N_("{key} opens your own library. What you bring in there stays there."),
    ),
    "interrupted": (N_("Interrupted."), N_("Everything done so far is kept; the same command resumes from here.")),
    "unexpected": (
        N_("Something unexpected happened: {reason}."),
        N_("The details are in {log}. Nothing that was done before is lost."),
    ),
}
