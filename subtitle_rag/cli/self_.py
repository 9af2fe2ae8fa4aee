"""`self`: the packages installed with this copy of the program."""

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.installation.extras import EXTRAS
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.cli.options import print_outcome

self_ = click.Group("self")


@self_.command("add", help=N_("Install an extra into this copy's environment."))
@click.argument("name", metavar="EXTRA", type=click.Choice(list(EXTRAS)))
@print_outcome
def self_add(name: str) -> output.Outcome:
    from subtitle_rag.base.installation.package_installer import install_packages

    extra = EXTRAS[name]
    line = _("The extra {name} is installed.").format(name=name)
    if not extra.is_installed:
        output.say(_("About {size} for the extra {name}.").format(size=byte_size(extra.megabytes * 1e6), name=name))
        for installer_line in install_packages(extra):
            output.say(line_text(installer_line))
        line += " " + _("Restart subtitle-rag where it is open.")
    return output.Outcome({"extra": name}, [line])
