"""Failures of made questions and of judgements."""

from subtitle_rag.i18n import N_

SENTENCES = {
    "not_own_file": (
        N_("{path}, line {line}: not written by {command}."),
        N_("Name another file; this one stays as it is."),
    ),
    "unwritable": (
        N_("{path} cannot be written: {reason}."),
        N_("Name a file in a folder where you may write, on a disk that has room."),
    ),
    "questions_differ": (
        N_("{path} was begun with another {name}: {before}, now {now}."),
        N_("To continue that file, leave out --model, --seed and --videos; or name another file."),
    ),
    "questions_refused": (
        N_("{n} times in a row the model made no question that could be used, the last time because of: {reason}."),
        N_("Run the same command again, which goes on with other windows, or take another --model and another file."),
    ),
    "questions_short": (
        N_("Only {n} of {count} questions could be made; no windows are left for: {kinds}."),
        N_("Index more videos and run the same command again, or ask for fewer with --count."),
    ),
    "no_questions": (
        N_("There are no made questions in {path}."),
        N_("Make some first: the same command without --review."),
    ),
    "not_plain": (
        N_("The search would leave out a part of this: {query}."),
        N_("Leave out double quotes, minus signs before words, and filters such as channel: or after:."),
    ),
    "bad_answers": (
        N_("{path}, line {line}: {reason}."),
        N_("Each line needs the id of a question and its answer, both strings."),
    ),
    "bad_contexts": (
        N_("{path}, line {line}: {reason}."),
        N_("Each line needs video, start, end (seconds) and context; subtitle-rag contexts export writes such lines."),
    ),
    "no_contexts": (
        N_("There are no contexts to export."),
        N_("subtitle-rag contexts write has a local model write them."),
    ),
    "contexts_foreign": (
        N_("The library has none of the videos in {path}, among them {video}."),
        N_("Index these videos first, or name the home of their library with --home."),
    ),
    "contexts_kept": (
        N_("{path} would replace the contexts of {n} windows, by {models}. Nothing was imported."),
        N_("--replace replaces them, --keep imports the others only."),
    ),
    "questions_needed": (
        N_("Encoders are compared on questions, and there is no {path}."),
        N_("subtitle-rag eval make FILE has a local model make some; name the file with --questions."),
    ),
    "unknown_arm": (N_("There is no arm {name}."), N_("The arms are {known}.")),
    "arm_not_ready": (
        N_("The arm {name} cannot be judged here: {reason}."),
        N_("--skip-missing leaves it out; subtitle-rag doctor shows what is missing."),
    ),
    "judge_same": (
        N_("{model} writes the contexts; as a judge it would favour its own words."),
        N_("Fetch another with subtitle-rag models get, and name it with --model. --allow-same lets it judge anyway."),
    ),
    "evaluation_busy": (
        N_("Another subtitle-rag is making or judging questions, or comparing models, of the library in {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    "encoder_off": (
        N_("No encoder is set: encoder under [models] in the config is empty."),
        N_("Name one there; subtitle-rag models list shows them. Search for words works without it."),
    ),
    "vectors_busy": (
        N_("Another subtitle-rag is making vectors in {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    "web_address": (
        N_("Nothing can be served at {host}, port {port}: {reason}."),
        N_("Choose another port with --port (0 takes a free one), or one of this computer's addresses with --host."),
    ),
}
