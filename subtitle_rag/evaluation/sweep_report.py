"""The report of `eval sweep` in Markdown."""

from collections.abc import Iterator

from subtitle_rag.evaluation.coordinate_search import OBJECTIVE, CoordinateSearch
from subtitle_rag.evaluation.metrics import FAILURE
from subtitle_rag.evaluation.report import gap_text, header, interval_text, line
from subtitle_rag.evaluation.sweep import Sweep
from subtitle_rag.i18n import N_, _

METRICS_SHOWN = ("hit@1", "hit@5", "hit@20", FAILURE, OBJECTIVE, "ndcg@10")
AXES = {
    "window": N_("window, s"),
    "keywords": N_("keywords of a neighbour"),
    "bigrams": N_("weight of bigrams"),
    "k1": "k1",
    "b": "b",
    "dense": N_("weight of dense"),
    "sparse": N_("weight of sparse"),
    "rerank": N_("windows reranked"),
    "overlap": N_("overlap reranked, s"),
}
"""Titles of the axes."""


def render(sweep: Sweep) -> str:
    """Return the trials on the train half, then the comparison on the test half."""
    intro = _("{train} questions to choose by {objective}, {test} to measure (seed {seed}); % with 95 % intervals.")
    lines = [intro.format(train=len(sweep.train), test=len(sweep.test), objective=OBJECTIVE, seed=sweep.seed)]
    for search in sweep.searches:
        lines += ["", *_trial_table(search), "", *_test_table(search)]
        if not search.complete:
            lines += ["", _("It was stopped before the end.")]
    if any("window" in search.changed for search in sweep.searches):
        note = _(
            "A longer window is right by chance more often, and shows a scene less exactly. Choose "
            "longer windows only if the gain is worth it."
        )
        lines += ["", note]
    for name, reason in sorted(sweep.left_out.items()):
        lines += ["", _("Left out – {name}: {reason}").format(name=_(AXES[name]), reason=reason)]
    return "\n".join(lines) + "\n"


def _trial_table(search: CoordinateSearch) -> Iterator[str]:
    yield from header([_("number"), _("values, on the train half"), _("shipped"), _("found")], text_columns=2)
    for axis in search.axes:
        last = {trial.value: trial for trial in search.trials if trial.axis == axis.name}  # the second pass counts
        values = ", ".join(
            f"{value:g}: {100 * trial.train:.1f} {interval_text(trial.interval)}"
            for value, trial in sorted(last.items())
        )
        yield line([_(AXES[axis.name]), values, f"{axis.shipped:g}", f"{search.best[axis.name]:g}"])


def _test_table(search: CoordinateSearch) -> Iterator[str]:
    yield from header([_("measured on the test half"), *METRICS_SHOWN], text_columns=1)
    for name, setting in ((_("shipped"), search.shipped), (_("found"), search.best)):
        means = search.test_means(setting)
        yield line([name, *(f"{100 * means[metric]:.1f}" for metric in METRICS_SHOWN)])
    gaps = search.test_gaps()
    yield line([_("difference"), *(gap_text(gaps[metric]) for metric in METRICS_SHOWN)])
