"""Failures of the local models: Ollama's, encoders and rerankers."""

from subtitle_rag.i18n import N_

SENTENCES = {
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
        N_("Ollama at {host} did not respond for {seconds} seconds."),
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
    "llm_no_embeddings": (
        N_("The model {model} of Ollama at {host} makes no vectors."),
        N_("Take an encoder under [models] in the config: subtitle-rag models list."),
    ),
    "encoder_changed": (
        N_("Ollama has another version of {name} than the one that made the vectors."),
        N_("subtitle-rag vectors write makes them again. Search for words works without it."),
    ),
    "encoders_differ": (
        N_("{name} and {other} have the same weights and give other vectors: their least cosine is {least}."),
        N_("subtitle-rag models get {other} and subtitle-rag models get {name} fetch what is newer or damaged."),
    ),
    "encoder_waits": (
        N_("Ollama has no room for {name} beside the model that writes contexts."),
        N_("Scenes are found by words until the contexts are written."),
    ),
    "llm_model_unknown": (
        N_("There is no model {model} to fetch."),
        N_("Check the name; subtitle-rag models list shows the available models."),
    ),
    "llm_out_of_memory": (
        N_("{model} does not fit into memory at {host}: {reason}."),
        N_("Close other programs, or choose a smaller model: subtitle-rag models list."),
    ),
    "llm_overflow": (
        N_("The text is too long for {model}: {n_prompt_tokens} tokens, and there is room for {n_ctx}."),
        N_("Take a model with a longer context: subtitle-rag models list."),
    ),
    "llm_nonsense": (
        N_("Ollama at {host} sent an invalid answer: {reason}."),
        N_("Try again; if it happens often, update Ollama or take another model: subtitle-rag models list."),
    ),
    "llm_unusable": (
        N_("{model} at {host} did not answer in the required form: {reason}."),
        N_("Update Ollama, or take another model: subtitle-rag models list."),
    ),
    "llm_cloud_refused": (
        N_("{model} runs in Ollama's cloud; your captions would be sent there."),
        N_("Choose one that runs here: subtitle-rag models list. To allow this one, name it in cloud under [llm]."),
    ),
    "llm_host_refused": (
        N_("{host} is not this computer; your captions would be sent there."),
        N_("If you want that, set remote = true under [llm] in the config."),
    ),
    "llm_host_unusable": (
        N_("{host} is not the address of an Ollama."),
        N_("Write it as http://127.0.0.1:11434 in hosts under [llm] in the config."),
    ),
    "llm_failed": (
        N_("Ollama at {host} failed: {reason}."),
        N_("See Ollama's log. Updating Ollama or choosing another model may help."),
    ),
    "llm_stopped": (N_("Stopped."), N_("Everything done so far is kept; it resumes from here.")),
    "contexts_busy": (
        N_("Another subtitle-rag is writing contexts into {path}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    # encoders and rerankers
    "model_unknown": (
        N_("There is no model and no folder {name}."),
        N_("subtitle-rag models list shows the models; a folder must hold config.json and the weights."),
    ),
    "model_kind": (
        N_("{name} is no {kind}."),
        N_("Name another under [models] in the config; subtitle-rag models list shows what each model is."),
    ),
    "model_missing": (
        N_("The model {name} is not here."),
        N_("subtitle-rag models get {name} fetches it. Search for words works without it."),
    ),
    "model_damaged": (
        N_("The model {name} is damaged: {reason}."),
        N_("subtitle-rag models get {name} fetches the damaged files again; repair a folder of your own by hand."),
    ),
    "model_memory": (
        N_("The model {name} does not fit into memory."),
        N_("Close other programs, or set another model, device or precision under [models] in the config."),
    ),
    "model_unreachable": (
        N_("The process of the neural models did not answer: {reason}."),
        N_("Try again; if memory is short, close other programs or set smaller models under [models] in the config."),
    ),
    "no_device": (
        N_("PyTorch finds no {device} here, which the config asks for."),
        N_('Set device = "auto" under [models] in the config, or install a PyTorch that knows the device.'),
    ),
    "no_precision": (
        N_("Models do not run with {precision} on {device}."),
        N_('Set precision = "auto" under [models] in the config.'),
    ),
    "model_busy": (
        N_("Another subtitle-rag is fetching or removing {name}."),
        N_("Wait until it has finished, or stop it, and run the same command again."),
    ),
    "model_changed": (
        N_("{name} on {host} is not the model that this program knows: {file}."),
        N_("Nothing was changed. Update subtitle-rag, and check HF_ENDPOINT if it names a mirror."),
    ),
    "download_damaged": (
        N_("{file} of {name} arrived damaged."),
        N_("The file was deleted; run the same command again."),
    ),
    "disk_short": (
        N_("{name} needs {needed} on the disk of {path}, but only {free} are free."),
        N_("Free some space, or set folder under [models] in the config, and run the same command again."),
    ),
    "folder_unwritable": (
        N_("The folder {path} cannot be written: {reason}."),
        N_("Make it writable, or set folder under [models] in the config."),
    ),
    "hub_offline": (
        N_("HF_HUB_OFFLINE is set, so {name} cannot be fetched."),
        N_("Unset it, or name a folder that holds the model under [models] in the config."),
    ),
    "no_connection": (
        N_("There is no connection to {host}, which has the model {name}."),
        N_(
            "Check the internet connection and the proxy (Ollama uses the HTTPS_PROXY that it was started with). What "
            "was downloaded is kept; the same command resumes."
        ),
    ),
    "hub_unreachable": (
        N_("Could not connect to {host} for {name}: {reason}."),
        N_("Check the connection and the proxy. What was downloaded is kept; the same command resumes."),
    ),
    "hub_busy": (
        N_("{host} limits requests ({name}): {reason}."),
        N_("Try again later; what has arrived is kept, the same command goes on from there."),
    ),
    "hub_refused": (
        N_("{host} refuses {name}: {reason}."),
        N_("If an account is needed, log in with hf auth login. If HF_ENDPOINT names a mirror, check it."),
    ),
    "hub_not_found": (
        N_("{host} does not have {name}: {reason}."),
        N_("If HF_ENDPOINT names a mirror, check it; else update subtitle-rag."),
    ),
}
