"""`eval judge --arms`: the table of several searches, and its costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag import output
from subtitle_rag.commands import stage_runs
from subtitle_rag.domain import tidy
from subtitle_rag.i18n import _, n_
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation import ArmFigures, ArmsCost, ArmsEvent, ArmsReport


@dataclass(frozen=True, slots=True)
class JudgeArmsOptions:
    """The options of `eval judge` that concern arms."""

    arms: str
    retrievers: str | None
    scenes: int
    skip_missing: bool
    answer_model: str | None
    judge_model: str | None
    allow_same: bool


def run(runtime: Runtime, queries: Path, judged_path: Path, options: JudgeArmsOptions) -> "ArmsReport":
    """Judge the arms under a progress bar; says the cost first."""
    from subtitle_rag.evaluation import host_with, judged_arms, judging

    request = judged_arms.ArmsRequest(
        judged_arms.parse_arms(options.arms),
        options.scenes,
        judged_arms.known_retrievers(options.retrievers) if options.retrievers is not None else None,
        options.skip_missing,
    )
    with runtime.llms() as hosts:
        answering = host_with(hosts, options.answer_model or runtime.context_model)
        judge = judging.choose_judge(hosts, runtime.context_model, options.judge_model, allow_same=options.allow_same)
        return _follow(judged_arms.run(runtime, queries, judged_path, request, answering, judge))


def _follow(events: "Iterator[ArmsEvent]") -> "ArmsReport":
    from subtitle_rag.evaluation import AnswerStored, ArmsCost, ArmsReport

    report: ArmsReport | None = None
    with output.progress() as bar:
        answers = bar.add_task(_("Answers"), total=None)
        judgements = bar.add_task(_("Judgements"), total=None)
        for event in events:
            if isinstance(event, ArmsCost):
                _say_cost(event)
            elif isinstance(event, ArmsReport):
                report = event
            else:
                task = answers if isinstance(event, AnswerStored) else judgements
                bar.update(task, completed=event.done, total=event.total)
    assert report is not None  # the last event
    return report


def _say_cost(cost: "ArmsCost") -> None:
    text = _("Still to ask, at most: {answers} answers, {judgements} calls of the judge, about {tokens} tokens").format(
        answers=f"{cost.answers:,}", judgements=f"{cost.judgements:,}", tokens=f"{cost.tokens:,}"
    )
    if cost.pairs:
        text += ", " + n_(
            "{n} pair of question and window for the reranker",
            "{n} pairs of question and window for the reranker",
            cost.pairs,
        ).format(n=f"{cost.pairs:,}")
    if cost.seconds is not None:
        text += _(", in about {minutes} min").format(minutes=max(1, round(cost.seconds / 60)))
    output.say(f"{text}. " + _("What the files contain is not requested again."))


def lines(report: "ArmsReport", judged_path: Path) -> Iterator[str]:
    """Yield the tables and the notes."""
    from subtitle_rag.evaluation import (
        DEPTHS,
        MEASURES,
        PUBLISHED,
        REAL,
        arms_path,
        gap_text,
        header,
        interval_text,
        line,
    )

    for name, reason in report.left_out.items():
        yield _("{arm} is left out: {reason}").format(arm=name, reason=reason)
    if report.rows:
        failures = [f"failure@{depth}" for depth in DEPTHS]
        yield from header(
            [_("arm"), _("search"), *MEASURES, *failures, _("published failure@20"), _("calls"), _("tokens"), "s"],
            text_columns=2,
        )
        for row in report.rows:
            means = [
                f"{100 * gap.value:.1f} {interval_text(gap.interval)}" if gap else "–"
                for gap in (*(row.measures[name] for name in MEASURES), *row.failures.values())
            ]
            published = f"{100 * PUBLISHED[row.name]:.1f}"
            tokens = row.cost.prompt_tokens + row.cost.tokens
            cost = [f"{row.cost.calls:,}", f"{tokens:,}", f"{row.cost.ms / 1000:,.0f}"]
            yield line([row.name, _search(row), *means, published, *cost])
        yield ""
        if len(report.rows) > 1:
            yield from header([_("arm"), _("compared with"), *MEASURES, *failures], text_columns=2)
            for before, row in zip(report.rows, report.rows[1:], strict=False):
                cells = [gap_text(row.gains[name]) if name in row.gains else "–" for name in (*MEASURES, *failures)]
                yield line([row.name, before.name, *cells])
            yield ""
        yield _("Means in % with 95 % intervals. {mark} marks a difference whose interval leaves 0 out.").format(
            mark=f"`{REAL}`"
        )
        yield _(
            "Calls, tokens and seconds are those of an arm by itself; answers and judgements that arms share are asked"
            " for once."
        )
        yield _("Answers: {model}. Judge: {judge} ({digest}), prompt {prompt}.").format(
            model=report.answers_by,
            judge=report.judge["model"],
            digest=report.judge["digest"][:12],
            prompt=report.judge["prompt"],
        )
    if n := len(report.missing):
        text = n_(
            "{n} video of the questions is not in the library:",
            "{n} videos of the questions are not in the library:",
            n,
        )
        yield f"{text.format(n=n)} {', '.join(map(tidy, report.missing))}"
    yield stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms)
    yield _("Scenes and answers are in {answers}, judgements in {judgements}").format(
        answers=arms_path(judged_path), judgements=judged_path
    )


def _search(row: "ArmFigures") -> str:
    """Return the parts of an arm's search: `bm25+dense, contexts 12/40, rerank 150`."""
    parts = ["+".join(row.retrievers)]
    if row.setting:
        parts.append(_("contexts {count}").format(count=row.setting))
    if row.rerank_depth:
        parts.append(f"rerank {row.rerank_depth}")
    return ", ".join(parts)
