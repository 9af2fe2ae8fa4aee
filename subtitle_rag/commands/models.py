"""`models`: the local models that are offered and the ones that are here."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError
from subtitle_rag.i18n import N_, _
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.llm import ModelInfo
    from subtitle_rag.models import Offered


@click.group("models", help=N_("The local models that write contexts, which Ollama serves."))
def models_() -> None:
    """The verbs of models."""


@models_.command("list", help=N_("Show the models that are offered, and which of them are here."))
@json_option
@click.pass_obj
def models_list(settings: Settings, as_json: bool) -> int:
    from subtitle_rag import models

    with Runtime(settings) as runtime:
        settings = replace(settings, llm=replace(settings.llm, model=runtime.context_model))
        here = _here(runtime)
    names = dict.fromkeys([*(one.name for one in models.offered()), *here])
    offered = {one.name: one for one in models.offered()}
    listed = [_model_values(name, offered.get(name), here.get(name), settings) for name in names]
    if as_json:
        output.envelope("models list", output.Outcome({"models": listed}))
        return 0
    for entry in listed:
        mark = "✓" if entry["here"] else " "
        size = f"{entry['disk_gb']:.1f} GB" if entry["disk_gb"] else ""
        default = _("(in use)") if entry["chosen"] else ""
        output.data(f"{mark} {entry['name']}  {size}  {entry['licence'] or ''}  {default}".rstrip())
        if entry["note"]:
            output.data(f"    {entry['note']}")
    return 0


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
        "name": name,
        "here": info is not None,
        "chosen": name == settings.llm.model,
        "disk_gb": info.size / 1e9 if info else offered.disk_gb if offered else None,
        "memory_gb": offered.memory_gb if offered else None,
        "licence": offered.licence if offered else None,
        "suits": offered.suits if offered else None,
        "note": offered.note.get(settings.language, offered.note["en"]) if offered else None,
    }


@models_.command("get", help=N_("Fetch a model through Ollama; without a name, the one that suits this machine."))
@click.argument("name", required=False)
@json_option
@click.pass_obj
def models_get(settings: Settings, name: str | None, as_json: bool) -> int:
    with Runtime(settings) as runtime, runtime.llms() as hosts, output.progress() as bar:
        wanted = name or runtime.context_model
        for host in hosts:
            task = bar.add_task(wanted[:40], total=None)
            for step in host.pull(wanted):
                bar.update(task, completed=step.completed, total=step.total or None)
    if as_json:
        output.envelope("models get", output.Outcome({"name": wanted}))
    else:
        output.data(_("{model} is here.").format(model=wanted))
    return 0
