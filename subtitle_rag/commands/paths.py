"""`paths`: the folders of the installation."""

from typing import TYPE_CHECKING

import click

from subtitle_rag import output
from subtitle_rag.commands.options import print_outcome
from subtitle_rag.domain import byte_size
from subtitle_rag.i18n import n_
from subtitle_rag.library import backup_folder

if TYPE_CHECKING:
    from subtitle_rag.config import Settings


@click.command("paths")
@click.pass_obj
@print_outcome
def paths_(settings: "Settings") -> output.Outcome:
    from subtitle_rag.library import backups

    paths = settings.paths
    folder = backup_folder(paths.library)
    named_paths = {"config": paths.config, "data": paths.data, "cache": paths.cache, "log": paths.log}
    values = {name: str(path) for name, path in (*named_paths.items(), ("backups", folder))}
    copies = backups(paths.library)
    count, size = len(copies), sum(copy.bytes for copy in copies)
    stored = n_("{n} copy of the library, {size}", "{n} copies of the library, {size}", count, size=byte_size(size))
    rows = [(name, path, "") for name, path in values.items()]
    rows[-1] = (*rows[-1][:2], stored)
    return output.Outcome({**values, "backup_count": count, "backup_bytes": size}, output.table(rows))
