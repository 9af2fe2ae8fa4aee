"""`models`: the offered and the local models, and their files."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing
from subtitle_rag.commands.options import json_option
from subtitle_rag.config import Settings
from subtitle_rag.domain import byte_size
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import ModelFetched, ModelFetching
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.installation.missing import require
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.llm import ModelInfo
    from subtitle_rag.models import ContextModel, NeuralModel

CONTEXT = "context"
HEADINGS = {
    CONTEXT: N_("Contexts, through Ollama"),
    "encoder": N_("Encoders: search by meaning"),
    "reranker": N_("Rerankers: put the best scenes first"),
}
PROBLEMS = {"missing": N_("is missing"), "size": N_("is cut short"), "content": N_("holds other bytes than it should")}
OFFER_FIELDS = ("disk_gb", "memory_gb", "licence")


@click.group("models", help=N_("The local models: those that write contexts, and those that search by meaning."))
def models_() -> None:
    """The verbs of models."""


@models_.command("list", help=N_("Show the models that are offered, and which of them are here."))
@json_option
@click.pass_obj
def models_list(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        settings = replace(settings, llm=replace(settings.llm, model=runtime.context_model))
        entries = [*_ollama_entries(runtime, settings), *_neural_entries(runtime, settings)]
    outcome = output.Outcome({"models": entries})
    return output.finish("models list", outcome, _list_lines(entries), as_json=as_json)


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
        _("(in use)") if entry["chosen"] else "",
        _("(only in part)") if entry["state"] == "partial" else "",
    ]
    return "  ".join(parts).rstrip()


def _ollama_entries(runtime: Runtime, settings: Settings) -> Iterator[dict[str, Any]]:
    from subtitle_rag import models

    pulled = _pulled_models(runtime)
    offered = {model.name: model for model in models.context_models()}
    for name in dict.fromkeys([*offered, *pulled]):
        info = pulled.get(name)
        values = _offer_values(offered.get(name), settings.language, info.size if info else None)
        state = "here" if info else "missing"
        suits = offered[name].suits if name in offered else None
        yield _entry(CONTEXT, name, state, values, chosen=name == settings.llm.model, suits=suits)


def _entry(
    kind: str,
    name: str,
    state: str,
    values: dict[str, Any],
    *,
    chosen: bool,
    suits: str | None = None,
    revision: str | None = None,
) -> dict[str, Any]:
    """Return a model as `--json` has it."""
    note = values.pop("note")
    entry = {"kind": kind, "name": name, "here": state == "here", "state": state, "chosen": chosen}
    return {**entry, **values, "suits": suits, "revision": revision, "note": note}


def _offer_values(
    offered: "ContextModel | NeuralModel | None", language: str, local_bytes: int | None
) -> dict[str, Any]:
    """Return size, licence and note; the size on the disk counts before the manifest's."""
    values = output.fields(offered, " ".join(OFFER_FIELDS)) if offered else dict.fromkeys(OFFER_FIELDS)
    if local_bytes is not None:
        values["disk_gb"] = local_bytes / 1e9
    return {**values, "note": offered.note.get(language, offered.note["en"]) if offered else None}


def _pulled_models(runtime: Runtime) -> "dict[str, ModelInfo]":
    """Return the local models of Ollama's hosts by name; none without a host."""
    models: dict[str, ModelInfo] = {}
    try:
        with runtime.llms() as hosts:
            for host in hosts:
                models |= {info.name: info for info in host.models() if not info.remote_host}
    except AppError as error:
        output.say_error(error)
    return models


def _neural_entries(runtime: Runtime, settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield encoders, then rerankers; each kind ends with a folder from the settings."""
    from subtitle_rag import models

    for kind, offers in ((models.ENCODER, models.encoders()), (models.RERANKER, models.rerankers())):
        name = runtime.models.configured(kind)
        configured = models.neural(name)
        for offer in offers:
            yield _neural_entry(runtime, settings, kind, offer.name, offer, chosen=offer == configured)
        if name and configured is None:
            try:
                yield _neural_entry(runtime, settings, kind, name, None, chosen=True)
            except UsageError as error:
                output.say_error(error)


def _neural_entry(
    runtime: Runtime, settings: Settings, kind: str, name: str, offered: "NeuralModel | None", *, chosen: bool
) -> dict[str, Any]:
    state = runtime.models.state(name)
    values = _offer_values(offered, settings.language, state.bytes if state.status == "here" else None)
    return _entry(kind, name, state.status, values, chosen=chosen, revision=state.revision or None)


@models_.command(
    "get",
    help=N_(
        "Fetch models by name: encoders and rerankers from the Hugging Face hub, others through "
        "Ollama. Without a name, fetch those in the config: encoder, reranker and, if Ollama is "
        "set, the model that writes contexts. An interrupted download resumes with the same "
        "command; files already downloaded are verified."
    ),
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=completing.all_models)
@json_option
@click.pass_obj
def models_get(settings: Settings, names: tuple[str, ...], as_json: bool) -> int:
    entries: list[dict[str, Any]] = []
    errors: list[AppError] = []
    with Runtime(settings) as runtime:
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
    return output.finish("models get", output.Outcome.of({"models": entries}, errors), lines, as_json=as_json)


def _configured_models(runtime: Runtime) -> Iterator[str]:
    """Yield the downloadable models of the settings."""
    from subtitle_rag import models

    for kind in (models.ENCODER, models.RERANKER):
        name = runtime.models.configured(kind)
        if models.neural(name):
            yield name
    if runtime.settings.llm.hosts:
        yield runtime.context_model


def _fetch(runtime: Runtime, name: str) -> dict[str, Any]:
    from subtitle_rag import models

    model = models.neural(name)
    return _pull(runtime, name) if model is None else _download(runtime, model)


def _pull(runtime: Runtime, name: str) -> dict[str, Any]:
    size = 0
    with runtime.llms() as hosts:
        for host in hosts:
            for step in output.track(
                host.pull(name),
                name[:40],
                lambda step: {"completed": step.completed, "total": step.total or None},
                of_bytes=True,
            ):
                size = max(size, step.total)
    return {"kind": CONTEXT, "name": name, "revision": None, "bytes": size or None, "fetched_bytes": None}


def _download(runtime: Runtime, model: "NeuralModel") -> dict[str, Any]:
    require(NEURAL)
    due_bytes = runtime.models.due_bytes(model)
    if due_bytes:
        sentence = _("{model} ({licence}): {size} to fetch into {path}")
        folder = runtime.models.folder
        output.say(sentence.format(model=model.name, licence=model.licence, size=byte_size(due_bytes), path=folder))

    def update(event: ModelFetching | ModelFetched) -> dict[str, Any]:
        if isinstance(event, ModelFetched):
            return {}
        return {"completed": event.done_bytes, "total": event.all_bytes}

    with closing(runtime.models.fetch(model.name)) as events:
        for event in output.track(events, model.name, update, of_bytes=True):
            if isinstance(event, ModelFetched):
                result = output.fields(event, "revision bytes fetched_bytes")
    return {"kind": model.kind, "name": model.name, **result}


@models_.command(
    "check", help=N_("Verify the files of encoders and rerankers; without a name, of all that were fetched.")
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=completing.neural_models)
@json_option
@click.pass_obj
def models_check(settings: Settings, names: tuple[str, ...], as_json: bool) -> int:
    checked: list[dict[str, Any]] = []
    errors: list[AppError] = []
    with Runtime(settings) as runtime:
        for name in names or _local_models(runtime):
            try:
                values = _check(runtime, name)
            except AppError as error:
                if len(names) == 1 or error.code == "interrupted":
                    raise
                errors.append(error)
                continue
            checked.append(values)
            faults = [f"{file['path']} {_(PROBLEMS[file['problem']])}" for file in values["files"] if file["problem"]]
            if faults:
                errors.append(AppError("model_damaged", name=name, reason=", ".join(faults)))
            elif not as_json:
                count = len(values["files"])
                output.data(_("✓ {model}: {n} files are as they should be.").format(model=name, n=count))
    outcome = output.Outcome.of({"models": checked}, errors)
    for entry in outcome.errors:
        output.say_error(entry)
    notes = [] if checked or errors else [_("No encoder or reranker has been fetched.")]
    return output.finish("models check", outcome, (), as_json=as_json, notes=notes)


def _check(runtime: Runtime, name: str) -> dict[str, Any]:
    with output.progress() as bar:
        files = list(bar.track(runtime.models.check(name), description=name[:40]))
    return {
        "name": name,
        "revision": runtime.models.state(name).revision or None,
        "files": [{"path": file.path, "bytes": file.bytes, "problem": file.problem or None} for file in files],
    }


def _local_models(runtime: Runtime) -> list[str]:
    """Return the offered models with any file here, and the folders of the settings."""
    from subtitle_rag import models

    offered = [model.name for model in (*models.encoders(), *models.rerankers())]
    configured = [runtime.models.configured(kind) for kind in (models.ENCODER, models.RERANKER)]
    folders = [name for name in configured if name and models.neural(name) is None]
    return [*(name for name in offered if runtime.models.state(name).status != "missing"), *folders]


@models_.command(
    "remove", help=N_("Delete an encoder or reranker that was fetched; ollama rm deletes a model of Ollama.")
)
@click.argument("name", shell_complete=completing.neural_models)
@json_option
@click.pass_obj
def models_remove(settings: Settings, name: str, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        runtime.neural.unload()  # Windows deletes no file that a process has mapped
        freed = runtime.models.remove(name)
    line = _("{model} was deleted, which freed {size}.").format(model=name, size=byte_size(freed))
    return output.finish("models remove", output.Outcome({"name": name, "bytes": freed}), [line], as_json=as_json)
