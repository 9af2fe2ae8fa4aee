"""`demo`: the sample library."""

import click

from subtitle_rag.base import output
from subtitle_rag.base.config.settings import Settings
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.i18n import _
from subtitle_rag.base.installation.extras import MEANING, NEURAL
from subtitle_rag.cli.find_scenes import result_values, scene_lines
from subtitle_rag.cli.options import print_outcome, wants_json
from subtitle_rag.workflows import sample_library


@click.command("demo")
@click.pass_obj
@print_outcome
def demo_(settings: Settings) -> output.Outcome | int:
    from subtitle_rag.runtime import Runtime

    if not wants_json() and output.on_terminal():
        from subtitle_rag import tui

        return tui.run(settings, in_sample=True)
    with Runtime(sample_library.sample_settings(settings)) as runtime:
        sample_library.fill(runtime)
        result = sample_library.search(runtime)
    if not wants_json():
        output.say(_("The sample library, and a search in it: {query}").format(query=sample_library.QUERY))
    lines = (line for scene in result.scenes for line in scene_lines(scene))
    notes = [_("On a terminal this opens the app. The channel and its links are invented.")]
    if not (MEANING.is_installed or NEURAL.is_installed):
        from subtitle_rag.base.installation.package_installer import install_steps

        sentence = _(
            "These scenes were found by their words. To search by meaning too, install it ({size} of packages, and a "
            "model): {line}"
        )
        notes.append(sentence.format(size=byte_size(MEANING.megabytes * 1e6), line=install_steps(MEANING)))
    return output.Outcome(result_values(result), lines, notes)
