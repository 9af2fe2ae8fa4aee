"""The verbs of the command line. Each turns arguments into a use case and its result into output, and nothing else."""

import click

from subtitle_rag.i18n import N_

json_option = click.option("--json", "as_json", is_flag=True, help=N_("Print one JSON document."))

jsonl_option = click.option("--jsonl", is_flag=True, help=N_("Print every event as a line of JSON while it happens."))
"""`--jsonl`"""
