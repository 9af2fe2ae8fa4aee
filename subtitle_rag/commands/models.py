"""`models`: the local models that are offered, the ones that are here, and their files."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing, json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import ModelFetching
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.installation.missing import require
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from rich.progress import Progress

    from subtitle_rag.llm import ModelInfo
    from subtitle_rag.models import Neural, Offered

CONTEXT = "context"
HEADINGS = {
    CONTEXT: N_("Contexts, through Ollama"),
    "encoder": N_("Encoders: search by meaning"),
    "reranker": N_("Rerankers: put the best scenes first"),
}
PROBLEMS = {"missing": N_("is missing"), "size": N_("is cut short"), "content": N_("holds other bytes than it should")}
_MB = 1e6


@click.group("models", help=N_("The local models: those that write contexts, and those that search by meaning."))
def models_() -> None:
    """The verbs of models."""


@models_.command("list", help=N_("Show the models that are offered, and which of them are here."))
@json_option
@click.pass_obj
def models_list(settings: Settings, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        settings = replace(settings, llm=replace(settings.llm, model=runtime.context_model))
        listed = [*_contexts(runtime, settings), *_neural(runtime, settings)]
    if as_json:
        output.envelope("models list", output.Outcome({"models": listed}))
        return 0
    kind = None
    for entry in listed:
        if entry["kind"] != kind:
            kind = entry["kind"]
            output.data(_(HEADINGS[kind]))
        output.data(_line(entry))
        if entry["note"]:
            output.data(f"    {entry['note']}")
    return 0


def _line(entry: dict[str, Any]) -> str:
    mark = {"here": "✓", "partial": "…", "missing": " "}[entry["state"]]
    parts = [
        f"{mark} {entry['name']}",
        f"{entry['disk_gb']:.1f} GB" if entry["disk_gb"] else "",
        entry["licence"] or "",
        _("{memory:g} GB of memory").format(memory=entry["memory_gb"]) if entry["memory_gb"] else "",
        _("(in use)") if entry["chosen"] else "",
        _("(only in part)") if entry["state"] == "partial" else "",
    ]
    return "  ".join(parts).rstrip()


def _contexts(runtime: Runtime, settings: Settings) -> Iterator[dict[str, Any]]:
    from subtitle_rag import models

    here = _here(runtime)
    offered = {one.name: one for one in models.offered()}
    for name in dict.fromkeys([*offered, *here]):
        yield _model_values(name, offered.get(name), here.get(name), settings)


def _here(runtime: Runtime) -> "dict[str, ModelInfo]":
    """The models that the hosts have; without a host, none."""
    found: dict[str, ModelInfo] = {}
    try:
        with runtime.llms() as hosts:
            for host in hosts:
                found |= {info.name: info for info in host.models() if not info.remote_host}
    except AppError as error:
        output.say_error(error)
    return found


def _model_values(name: str, offered: "Offered | None", info: "ModelInfo | None", settings: Settings) -> dict[str, Any]:
    return {
        "kind": CONTEXT,
        "name": name,
        "here": info is not None,
        "state": "here" if info else "missing",
        "chosen": name == settings.llm.model,
        "disk_gb": info.size / 1e9 if info else offered.disk_gb if offered else None,
        "memory_gb": offered.memory_gb if offered else None,
        "licence": offered.licence if offered else None,
        "suits": offered.suits if offered else None,
        "revision": None,
        "note": offered.note.get(settings.language, offered.note["en"]) if offered else None,
    }


def _neural(runtime: Runtime, settings: Settings) -> Iterator[dict[str, Any]]:
    """Encoders, then rerankers; after those on offer a folder that the settings name."""
    from subtitle_rag import models

    for kind, offered in ((models.ENCODER, models.encoders()), (models.RERANKER, models.rerankers())):
        chosen = runtime.models.chosen(kind)
        named = models.neural(chosen)
        for one in offered:
            yield _neural_values(runtime, settings, kind, one.name, one, chosen=one == named)
        if chosen and named is None:
            try:
                yield _neural_values(runtime, settings, kind, chosen, None, chosen=True)
            except UsageError as error:
                output.say_error(error)


def _neural_values(
    runtime: Runtime, settings: Settings, kind: str, name: str, offered: "Neural | None", *, chosen: bool
) -> dict[str, Any]:
    state = runtime.models.state(name)
    return {
        "kind": kind,
        "name": name,
        "here": state.status == "here",
        "state": state.status,
        "chosen": chosen,
        "disk_gb": state.bytes / 1e9 if state.status == "here" else offered.disk_gb if offered else None,
        "memory_gb": offered.memory_gb if offered else None,
        "licence": offered.licence if offered else None,
        "suits": None,
        "revision": state.revision or None,
        "note": offered.note.get(settings.language, offered.note["en"]) if offered else None,
    }


@models_.command(
    "get",
    help=N_(
        "Fetch models by their names: encoders and rerankers from the Hugging Face hub, others through Ollama. Without"
        " a name, those that the config names: encoder, reranker and, where Ollama is set, what writes contexts. What"
        " has arrived is kept, and the same command goes on from there; files that are here are verified."
    ),
)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=completing.all_models)
@json_option
@click.pass_obj
def models_get(settings: Settings, names: tuple[str, ...], as_json: bool) -> int:
    fetched: list[dict[str, Any]] = []
    errors: list[AppError] = []
    with Runtime(settings) as runtime:
        wanted = list(dict.fromkeys(names or _wanted(runtime)))
        for name in wanted:
            try:
                fetched.append(_fetched(runtime, name))
            except AppError as error:
                if len(wanted) == 1 or error.code == "interrupted":
                    raise
                output.say_error(error)
                errors.append(error)
    entries = [output.error_entry(error) for error in errors]
    code = int(output.exit_code_for(errors[0])) if errors else 0
    if as_json:
        output.envelope("models get", output.Outcome({"models": fetched}, entries, code))
    else:
        for entry in fetched:
            output.data(_("{model} is here.").format(model=entry["name"]))
    return code


def _wanted(runtime: Runtime) -> Iterator[str]:
    """What the settings name and can be fetched."""
    from subtitle_rag import models

    for kind in (models.ENCODER, models.RERANKER):
        name = runtime.models.chosen(kind)
        if models.neural(name):
            yield name
    if runtime.settings.llm.hosts:
        yield runtime.context_model


def _fetched(runtime: Runtime, name: str) -> dict[str, Any]:
    from subtitle_rag import models

    offered = models.neural(name)
    with output.progress() as bar:
        return _pulled(runtime, name, bar) if offered is None else _downloaded(runtime, offered, bar)


def _pulled(runtime: Runtime, name: str, bar: "Progress") -> dict[str, Any]:
    task = bar.add_task(name[:40], total=None)
    size = 0
    with runtime.llms() as hosts:
        for host in hosts:
            for step in host.pull(name):
                size = max(size, step.total)
                bar.update(task, completed=step.completed, total=step.total or None)
    return {"kind": CONTEXT, "name": name, "revision": None, "bytes": size or None, "fetched_bytes": None}


def _downloaded(runtime: Runtime, offered: "Neural", bar: "Progress") -> dict[str, Any]:
    require(NEURAL)
    due = runtime.models.due_bytes(offered)
    if due:
        said = _("{model} ({licence}): {size:.1f} GB to fetch into {path}")
        folder = runtime.models.folder
        output.say(said.format(model=offered.name, licence=offered.licence, size=due / 1e9, path=folder))
    task = bar.add_task(_("{model}, MB").format(model=offered.name), total=None)
    with closing(runtime.models.fetch(offered.name)) as events:
        for event in events:
            if isinstance(event, ModelFetching):
                bar.update(task, completed=event.done_bytes / _MB, total=event.all_bytes / _MB)
            else:
                done = {"revision": event.revision, "bytes": event.bytes, "fetched_bytes": event.fetched_bytes}
    return {"kind": offered.kind, "name": offered.name, **done}


@models_.command("check", help=N_("Verify the files of encoders and rerankers; without a name, of all that are here."))
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=completing.neural_models)
@json_option
@click.pass_obj
def models_check(settings: Settings, names: tuple[str, ...], as_json: bool) -> int:
    checked: list[dict[str, Any]] = []
    errors: list[AppError] = []
    with Runtime(settings) as runtime:
        for name in names or _present(runtime):
            try:
                values = _checked(runtime, name)
            except AppError as error:
                if len(names) == 1 or error.code == "interrupted":
                    raise
                errors.append(error)
                continue
            checked.append(values)
            wrong = [f"{file['path']} {_(PROBLEMS[file['problem']])}" for file in values["files"] if file["problem"]]
            if wrong:
                errors.append(AppError("model_damaged", name=name, reason=", ".join(wrong)))
            elif not as_json:
                count = len(values["files"])
                output.data(_("✓ {model}: {n} files are as they should be.").format(model=name, n=count))
    entries = [output.error_entry(each) for each in errors]
    for entry in entries:
        output.say_error(entry)
    code = int(output.exit_code_for(errors[0])) if errors else 0
    if as_json:
        output.envelope("models check", output.Outcome({"models": checked}, entries, code))
    elif not (checked or errors):
        output.say(_("No encoder and no reranker is here."))
    return code


def _checked(runtime: Runtime, name: str) -> dict[str, Any]:
    with output.progress() as bar:
        files = list(bar.track(runtime.models.check(name), description=name[:40]))
    return {
        "name": name,
        "revision": runtime.models.state(name).revision or None,
        "files": [{"path": file.path, "bytes": file.bytes, "problem": file.problem or None} for file in files],
    }


def _present(runtime: Runtime) -> list[str]:
    """The models whose files are here, wholly or in part, and folders that the settings name."""
    from subtitle_rag import models

    offered = [one.name for one in (*models.encoders(), *models.rerankers())]
    chosen = [runtime.models.chosen(kind) for kind in (models.ENCODER, models.RERANKER)]
    own = [name for name in chosen if name and models.neural(name) is None]
    return [*(name for name in offered if runtime.models.state(name).status != "missing"), *own]


@models_.command("remove", help=N_("Delete a fetched encoder or reranker; ollama rm deletes a model of Ollama."))
@click.argument("name", shell_complete=completing.neural_models)
@json_option
@click.pass_obj
def models_remove(settings: Settings, name: str, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        runtime.neural.unload()  # Windows deletes no file that a process has mapped
        freed = runtime.models.remove(name)
    if as_json:
        output.envelope("models remove", output.Outcome({"name": name, "bytes": freed}))
    else:
        output.data(_("{model} is deleted; {size:.1f} GB are free again.").format(model=name, size=freed / 1e9))
    return 0
