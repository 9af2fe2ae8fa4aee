"""The four measures of the seed article, as RAGAS defines them, each asked of a judge.

Es, James, Espinosa-Anke & Schockaert 2023, "RAGAS: Automated Evaluation of Retrieval Augmented Generation"
(arXiv:2309.15217) defines faithfulness and answer relevance; context precision and context recall come from the
library of the same name (0.4, `ragas.metrics`). The seed article puts them so: precision, the part of what was
retrieved that is relevant; recall, how much was retrieved of what the right answer needs; faithfulness, how closely
the answer keeps to what was retrieved.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from subtitle_rag.evaluation import judge_prompts
from subtitle_rag.evaluation.llm_question import Asker, Task
from subtitle_rag.retrieval.neural import Encoder

MEASURES = ("context_precision", "context_recall", "faithfulness", "answer_relevancy")


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged: a question, the answer that it should get, the one that it got, and the scenes it got it from.

    Whoever answers questions hands over the scenes that its model was given; `reference` and `answer` may be empty.
    """

    id: str
    kind: str
    question: str
    reference: str
    answer: str
    scenes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Between 0 and 1, with the single judgements that it was reckoned from."""

    value: float
    judgements: list[Any]


def left_out(measure: str, case: Case) -> str | None:
    """Why a measure has nothing to judge: `no_reference`, `no_answer`, `no_scenes`."""
    if measure in ("context_precision", "context_recall"):
        return None if case.reference else "no_reference"
    if not case.answer:
        return "no_answer"
    return "no_scenes" if measure == "faithfulness" and not case.scenes else None


def inputs(measure: str, case: Case) -> str:
    """Names what a measure judges: the same inputs need no second judgement."""
    parts: dict[str, tuple[Any, ...]] = {
        "context_precision": (case.question, case.reference, case.scenes),
        "context_recall": (case.question, case.reference, case.scenes),
        "faithfulness": (case.question, case.answer, case.scenes),
        "answer_relevancy": (case.question, case.answer),
    }
    return hashlib.sha256(json.dumps(parts[measure], ensure_ascii=False).encode()).hexdigest()[:16]


def method(measure: str, encoder: Encoder | None) -> str:
    """How a measure is taken; figures of different methods are not to be compared."""
    if measure != "answer_relevancy":
        return "claims" if measure != "context_precision" else "verdicts"
    return f"asked-back {encoder.id}" if encoder else "grade"


def score(measure: str, case: Case, asker: Asker, encoder: Encoder | None) -> Score | None:
    """The measure of a case; None where the answer makes no claim that could be judged.

    Raises:
        LlmError: what `Asker.ask` raises.
    """
    match measure:
        case "context_precision":
            return context_precision(case, asker)
        case "context_recall":
            return context_recall(case, asker)
        case "faithfulness":
            return faithfulness(case, asker)
        case _:
            return by_questions(case, asker, encoder) if encoder else by_grade(case, asker)


def context_precision(case: Case, asker: Asker) -> Score:
    """Mean of precision@k over the ranks k of the useful scenes; 0 where none is useful.

    RAGAS, `LLMContextPrecisionWithReference`: sum(precision@k × useful_k) / number of useful scenes, each scene judged
    by itself against the reference answer.
    """
    verdicts = [asker.ask(judge_prompts.useful(case.question, case.reference, scene)) for scene in case.scenes]
    useful = [rank for rank, verdict in enumerate(verdicts, start=1) if verdict.useful]
    precisions = [number / rank for number, rank in enumerate(useful, start=1)]
    return Score(sum(precisions) / len(precisions) if precisions else 0.0, [asdict(verdict) for verdict in verdicts])


def context_recall(case: Case, asker: Asker) -> Score | None:
    """Claims of the reference answer that the scenes support / all its claims (RAGAS, `LLMContextRecall`)."""
    if not case.scenes:
        return Score(0.0, [])
    return _supported(judge_prompts.claims(case.question, case.reference, case.scenes), asker)


def faithfulness(case: Case, asker: Asker) -> Score | None:
    """Claims of the answer that the scenes support / all its claims: F = |V| / |S| (arXiv:2309.15217, section 3)."""
    return _supported(judge_prompts.claims(case.question, case.answer, case.scenes), asker)


def by_questions(case: Case, asker: Asker, encoder: Encoder) -> Score:
    """Mean cosine of the question with questions made of the answer, 0 for a noncommittal one.

    AR = 1/n Σ sim(q, q_i) (arXiv:2309.15217, section 3), with RAGAS's n = 3 and its treatment of "I do not know".
    """
    asked = asker.ask(judge_prompts.ask_back(case.answer))
    if not asked:
        return Score(0.0, [])
    own = encoder.query(case.question).dense.values
    cosines = [sum(a * b for a, b in zip(own, encoder.query(one).dense.values, strict=True)) for one in asked]
    pairs = [{"question": one, "cosine": round(float(cosine), 4)} for one, cosine in zip(asked, cosines, strict=True)]
    return Score(max(0.0, float(sum(cosines)) / len(cosines)), [*pairs])


def by_grade(case: Case, asker: Asker) -> Score:
    """The judge's own grade from 1 to 5 as (grade - 1) / 4, 0 for a noncommittal answer: where no encoder is here."""
    grade = asker.ask(judge_prompts.grade(case.question, case.answer))
    best, least = judge_prompts.GRADES[-1], judge_prompts.GRADES[0]
    return Score(max(0, grade - least) / (best - least), [grade])


def _supported(task: Task[tuple[judge_prompts.Claim, ...]], asker: Asker) -> Score | None:
    claims = asker.ask(task)
    if not claims:
        return None
    return Score(sum(one.supported for one in claims) / len(claims), [asdict(one) for one in claims])


def tokens(case: Case) -> int:
    """What the longest request about a case needs, whatever is measured."""
    tasks: list[Task[Any]] = [judge_prompts.claims(case.question, one, case.scenes) for one in _answers(case)]
    tasks += [judge_prompts.useful(case.question, case.reference, scene) for scene in case.scenes]
    return max((task.tokens() for task in tasks), default=0)


def _answers(case: Case) -> list[str]:
    return [answer for answer in (case.reference, case.answer) if answer]


def known(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells a stored judgement from others: its question, measure, inputs, judge, prompt and method."""
    own = entry.get("judge")
    judge = own if isinstance(own, dict) else {}
    named = [entry.get(name) for name in ("id", "measure", "inputs", "method")]
    return tuple(map(str, [*named, judge.get("digest"), judge.get("prompt")]))
