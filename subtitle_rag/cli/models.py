"""`models`: offered and local models, and their files."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.events import ModelEvent, ModelFetched
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import byte_size, pick_json
from subtitle_rag.base.i18n import N_, _, in_language
from subtitle_rag.base.installation.extras import NEURAL
from subtitle_rag.cli.options import complete_context_models, completions, runtime_outcome
from subtitle_rag.cli.progress_bar import follow
from subtitle_rag.models.manifest import ENCODER, RERANKER, SPEECH

if TYPE_CHECKING:
    from subtitle_rag.cli.options import Completions
    from subtitle_rag.models.manifest import ContextModel, HubModel, OllamaEncoderModel, SearchStep
    from subtitle_rag.models.ollama.llm_client import LocalModels
    from subtitle_rag.runtime import Runtime

CONTEXT = "context"
HEADINGS = {
    CONTEXT: N_("Contexts, through Ollama"),
    "encoder": N_("Encoders: search by meaning"),
    "reranker": N_("Rerankers: put the best scenes first"),
    "speech": N_("Speech: hear what has no captions"),
}
UNLISTED = N_(
    "Not in the list of this program: nothing is known of its memory, its licence, and what precedes its texts."
)

models_ = click.Group("models")


@models_.command("list", help=N_("Show the available models, and which are installed."))
@runtime_outcome
def models_list(runtime: "Runtime") -> output.Outcome:
    from subtitle_rag.models.manifest import search_steps

    pulled = _pulled_models(runtime)
    ollama_first = not (pulled.failures or NEURAL.is_installed)
    neural = _neural_entries(runtime, pulled, ollama_first=ollama_first)
    entries = [*_context_entries(runtime, pulled), *neural]
    steps = [_step_entry(runtime, step) for step in search_steps()]
    lines = [*_step_lines(steps), *_list_lines(entries)]
    values = {"steps": steps, "models": entries}
    return output.Outcome(values, lines)


def _step_entry(runtime: "Runtime", step: "SearchStep") -> dict[str, Any]:
    """Return a step of search for `--json`."""
    extra = step.extra
    is_here = all(runtime.models.state(model.name).status == "here" for model in step.models)
    sizes = [runtime.models.state(model.name).all_bytes or model.disk_gb * 1e9 for model in step.models]
    return {
        **pick_json(step, "name", "encoder", "reranker"),
        "extra": extra.name if extra else None,
        "packages_mb": extra.megabytes if extra else 0,
        "models_mb": round(sum(sizes) / 1e6),
        "seconds_per_1000_windows": step.seconds,
        "title": in_language(step.title),
        "gain": in_language(step.gain),
        "chosen": step.encoder == runtime.models.configured(ENCODER),
        "state": "here" if is_here else "missing",
    }


def _step_lines(steps: list[dict[str, Any]]) -> Iterator[str]:
    if steps:
        yield _("Search, in steps")
    for step in steps:
        parts = []
        if step["extra"]:
            packages, files = (byte_size(step[key] * 1e6) for key in ("packages_mb", "models_mb"))
            parts = [_("packages {size}").format(size=packages), _("models {size}").format(size=files)]
        if step["seconds_per_1000_windows"]:
            seconds = f"{step['seconds_per_1000_windows']:,.0f}"
            parts.append(_("about {seconds} s for 1,000 windows").format(seconds=seconds))
        if step["encoder"]:
            parts.append(step["encoder"])
        yield "  ".join([f"  {step['title']}", *parts, *([_use_note(step)] if step["chosen"] else [])])
        yield f"    {step['gain']}"


def _list_lines(entries: list[dict[str, Any]]) -> Iterator[str]:
    kind = None
    for entry in entries:
        if entry["kind"] != kind:
            kind = entry["kind"]
            yield _(HEADINGS[kind])
        yield _line(entry)
        if entry["note"]:
            yield f"    {entry['note']}"


def _line(entry: dict[str, Any]) -> str:
    mark = {"here": "✓", "partial": "…", "missing": " "}[entry["state"]]
    parts = [
        f"{mark} {entry['name']}",
        byte_size(entry["disk_gb"] * 1e9) if entry["disk_gb"] else "",
        entry["licence"] or "",
        _("{memory} of memory").format(memory=f"{entry['memory_gb']:g} GB") if entry["memory_gb"] else "",
        _use_note(entry) if entry["chosen"] else "",
        _("(only in part)") if entry["state"] == "partial" else "",
        _("(the first download decides the revision)") if _lacks_revision(entry) else "",
    ]
    return "  ".join(parts).rstrip()


def _use_note(entry: dict[str, Any]) -> str:
    return _("(in use)") if entry["state"] == "here" else _("(in the settings, but not here)")


def _lacks_revision(entry: dict[str, Any]) -> bool:
    """Whether a model from the hub has no revision, neither in the manifest nor from a download."""
    from subtitle_rag.models.manifest import is_ollama

    is_of_hub = entry["kind"] != CONTEXT and not is_ollama(entry["name"])
    return is_of_hub and entry["state"] == "missing" and entry["revision"] is None


def _context_entries(runtime: "Runtime", pulled: "LocalModels") -> Iterator[dict[str, Any]]:
    from subtitle_rag.models.manifest import context_models

    offered = {model.name: model for model in context_models()}
    for name in dict.fromkeys([*offered, *(name for name in pulled.sizes if name not in pulled.embedders)]):
        offer, size = offered.get(name), pulled.sizes.get(name)
        state, suits = "missing" if size is None else "here", offer.suits if offer else None
        yield _entry(CONTEXT, name, offer, state, size, is_chosen=name == runtime.context_model, suits=suits)


def _entry(
    kind: str,
    name: str,
    offer: "ContextModel | HubModel | OllamaEncoderModel | None",
    state: str,
    local_bytes: int | None,
    *,
    is_chosen: bool,
    suits: str | None = None,
    revision: str | None = None,
) -> dict[str, Any]:
    """Return a model for `--json`.

    Args:
        kind: what the model does.
        name: its name.
        offer: its entry in the manifest, if any.
        state: whether it is here.
        local_bytes: its size on disk, which takes precedence over the manifest's.
        is_chosen: whether the settings name it.
        suits: what it suits, if known.
        revision: its revision on the hub, if known.

    Returns:
        The fields of its entry.
    """
    offered_gb = offer.disk_gb if offer else None
    return {
        "kind": kind,
        "name": name,
        "here": state == "here",
        "state": state,
        "chosen": is_chosen,
        "disk_gb": offered_gb if local_bytes is None else local_bytes / 1e9,
        "memory_gb": offer.memory_gb if offer else None,
        "licence": offer.licence if offer else None,
        "suits": suits,
        "revision": revision,
        "note": in_language(offer.note) if offer else None,
    }


def _pulled_models(runtime: "Runtime") -> "LocalModels":
    """Return the local models on Ollama's hosts; report each host that does not answer."""
    from subtitle_rag.models.ollama.llm_client import LocalModels, local_models

    try:
        with runtime.llms() as hosts:
            pulled = local_models(hosts)
    except AppError as error:
        pulled = LocalModels({}, frozenset(), (error,))
    for failure in pulled.failures:
        output.say_error(failure)
    return pulled


def _neural_entries(runtime: "Runtime", pulled: "LocalModels", *, ollama_first: bool) -> Iterator[dict[str, Any]]:
    """Yield encoders, rerankers and speech models; folders from the settings come last in each kind.

    With `ollama_first`, the encoders that Ollama runs come before those that need further packages.
    """
    from subtitle_rag.models import manifest
    from subtitle_rag.models.manifest import hub_model, is_ollama, neural_model, speech_models

    for kind, offers, find in (
        (ENCODER, manifest.encoders(), neural_model),
        (RERANKER, manifest.rerankers(), neural_model),
        (SPEECH, speech_models(), hub_model),
    ):
        name = runtime.models.configured(kind)
        configured = find(name)
        if kind == ENCODER and ollama_first:
            yield from _ollama_encoder_entries(name, pulled)
        for offer in offers:
            yield _neural_entry(runtime, kind, offer.name, offer, is_chosen=offer == configured)
        if kind == ENCODER and not ollama_first:
            yield from _ollama_encoder_entries(name, pulled)
        if name and configured is None and (kind == SPEECH or not is_ollama(name)):
            try:
                yield _neural_entry(runtime, kind, name, None, is_chosen=True)
            except UsageError as error:
                output.say_error(error)


def _ollama_encoder_entries(configured: str, pulled: "LocalModels") -> Iterator[dict[str, Any]]:
    """Yield the encoders that Ollama runs, ending with those not in the manifest."""
    from subtitle_rag.models.manifest import OLLAMA, is_ollama, ollama_encoders

    offered = {model.name: model for model in ollama_encoders()}
    sizes = {name.removesuffix(":latest"): size for name, size in pulled.sizes.items()}
    embedders = [OLLAMA + name.removesuffix(":latest") for name in sorted(pulled.embedders)]
    configured_name = configured.removesuffix(":latest") if is_ollama(configured) else ""
    for name in dict.fromkeys([*offered, *embedders, *([configured_name] if configured_name else [])]):
        size = sizes.get(name.removeprefix(OLLAMA))
        state = "missing" if size is None else "here"
        entry = _entry(ENCODER, name, offered.get(name), state, size, is_chosen=name == configured_name)
        yield entry if name in offered else {**entry, "note": _(UNLISTED)}


def _neural_entry(
    runtime: "Runtime", kind: str, name: str, offer: "HubModel | None", *, is_chosen: bool
) -> dict[str, Any]:
    state = runtime.models.state(name)
    size = state.bytes if state.status == "here" else None
    return _entry(kind, name, offer, state.status, size, is_chosen=is_chosen, revision=state.revision or None)


def _complete_neural_models(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete the offered encoders and rerankers."""
    from subtitle_rag.models import manifest
    from subtitle_rag.models.manifest import speech_models

    every = (*manifest.encoders(), *manifest.rerankers(), *speech_models())
    return completions([(model.name, model.kind) for model in every], incomplete)


def _complete_all_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> "Completions":
    from subtitle_rag.models.manifest import ollama_encoders

    through_ollama = completions([(model.name, ENCODER) for model in ollama_encoders()], incomplete)
    return [
        *_complete_neural_models(ctx, param, incomplete),
        *through_ollama,
        *complete_context_models(ctx, param, incomplete),
    ]


@models_.command(
    "get",
    help=N_(
        "Fetch models by name: encoders, rerankers and models for speech from the Hugging Face hub, others through "
        "Ollama. Without a name, fetch those in the config: encoder, reranker and, if Ollama is "
        "set, the model that writes contexts. An interrupted download resumes with the same "
        "command; files already downloaded are verified."
    ),
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=_complete_all_models)
@click.option("--use", is_flag=True, help=N_("Write the fetched models into the config, so that they are used."))
@runtime_outcome
def models_get(runtime: "Runtime", names: tuple[str, ...], use: bool) -> output.Outcome:
    entries: list[dict[str, Any]] = []
    errors: list[AppError] = []
    queue = list(dict.fromkeys(names or _configured_models(runtime)))
    for name in queue:
        try:
            entries.append(_fetch(runtime, name))
        except AppError as error:
            if len(queue) == 1 or error.code == "interrupted":
                raise
            output.say_error(error)
            errors.append(error)
    lines = [_("{model} is here.").format(model=entry["name"]) for entry in entries]
    notes = [note for entry in entries for note in (_use(runtime, entry) if use else _unused_note(runtime, entry))]
    return output.Outcome({"models": entries}, lines, notes, errors=errors, errors_shown=True)


SETTINGS = {
    CONTEXT: ("llm", "model"),
    ENCODER: ("models", "encoder"),
    RERANKER: ("models", "reranker"),
    SPEECH: ("models", "speech"),
}
"""Setting that names the model of each kind."""


def _use(runtime: "Runtime", entry: dict[str, Any]) -> list[str]:
    """Set the model in the config; return what to do if that is impossible."""
    from subtitle_rag.workflows import pipeline

    lines = pipeline.use_setting(runtime, *SETTINGS[entry["kind"]], entry["name"])
    sentence = _("{path} cannot be changed by the program; write into it: {lines}")
    return [sentence.format(path=runtime.settings.paths.config, lines=lines)] if lines else []


def _unused_note(runtime: "Runtime", entry: dict[str, Any]) -> list[str]:
    """Say how to start using a downloaded encoder that the config does not name."""
    if entry["kind"] != ENCODER or entry["name"] == runtime.models.configured(ENCODER):
        return []
    line = f"subtitle-rag models get {entry['name']} --use"
    return [_("The config names another encoder: {line} has this one used.").format(line=line)]


def _configured_models(runtime: "Runtime") -> Iterator[str]:
    """Yield the downloadable models in the settings."""
    from subtitle_rag.models.manifest import default_context_model, is_ollama, neural_model

    for kind in (ENCODER, RERANKER):
        name = runtime.models.configured(kind)
        if neural_model(name) or is_ollama(name):
            yield name
    if runtime.settings.llm.hosts:
        yield runtime.settings.llm.model or default_context_model().name


def _fetch(runtime: "Runtime", name: str) -> dict[str, Any]:
    from subtitle_rag.models.manifest import hub_model, is_ollama
    from subtitle_rag.workflows import pipeline

    model = hub_model(name)
    kind = model.kind if model else ENCODER if is_ollama(name) else CONTEXT
    if model and model.extra.is_installed and (due_bytes := runtime.models.due_bytes(model)):
        sentence = _("{model} ({licence}): {size} to fetch into {path}")
        folder = runtime.models.folder
        output.say(sentence.format(model=model.name, licence=model.licence, size=byte_size(due_bytes), path=folder))
    names = [name]

    def named(events: Iterable[ModelEvent]) -> Iterator[ModelEvent]:
        for event in events:
            if isinstance(event, Progress) and event.text != names[-1]:
                sentence = _("{model} is not available; the same model is fetched by another name: {other}")
                output.say(sentence.format(model=names[-1], other=event.text))
                names.append(event.text)
            yield event

    with closing(pipeline.fetch_model(runtime, name)) as events:
        fetched = follow(ModelFetched, named(events))
    fetched_bytes = fetched.fetched_bytes if model else None
    return {
        "kind": kind,
        **pick_json(fetched, "name", "revision"),
        "bytes": fetched.bytes or None,
        "fetched_bytes": fetched_bytes,
    }


@models_.command("remove", help=N_("Delete a fetched encoder or reranker. For a model of Ollama, use ollama rm."))
@click.argument("name", shell_complete=_complete_neural_models)
@runtime_outcome
def models_remove(runtime: "Runtime", name: str) -> output.Outcome:
    runtime.neural.unload()  # Windows cannot delete a file that a process has mapped
    freed = runtime.models.remove(name)
    line = _("{model} was deleted, which freed {size}.").format(model=name, size=byte_size(freed))
    return output.Outcome({"name": name, "bytes": freed}, [line])
