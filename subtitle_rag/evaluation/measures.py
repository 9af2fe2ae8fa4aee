"""Ask a judge for the four measures of the seed article, as RAGAS defines them.

Es, James, Espinosa-Anke & Schockaert 2023, "RAGAS: Automated Evaluation of Retrieval Augmented Generation"
(arXiv:2309.15217) defines faithfulness and answer relevance; context precision and context recall come from the
library of the same name (0.4, `ragas.metrics`).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from subtitle_rag.evaluation import judge_prompts
from subtitle_rag.evaluation.llm_question import Asker, Task
from subtitle_rag.retrieval import Encoder

MEASURES = ("context_precision", "context_recall", "faithfulness", "answer_relevancy")


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its reference answer, its given answer, and the scenes of that; both answers may be empty."""

    id: str
    kind: str
    question: str
    reference: str
    answer: str
    scenes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A value between 0 and 1, with the single judgements behind it."""

    value: float
    judgements: list[Any]


_INPUTS = {
    "context_precision": ("question", "reference", "scenes"),
    "context_recall": ("question", "reference", "scenes"),
    "faithfulness": ("question", "answer", "scenes"),
    "answer_relevancy": ("question", "answer"),
}


def left_out(measure: str, case: Case) -> str | None:
    """Return the reason why there is nothing to judge: `no_reference`, `no_answer`, `no_scenes`."""
    if "reference" in _INPUTS[measure]:
        return None if case.reference else "no_reference"
    if not case.answer:
        return "no_answer"
    return "no_scenes" if measure == "faithfulness" and not case.scenes else None


def inputs(measure: str, case: Case) -> str:
    """Return a hash of the measure's inputs: the same ones need no second judgement."""
    values = [getattr(case, name) for name in _INPUTS[measure]]
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()[:16]


def method(measure: str, encoder: Encoder | None) -> str:
    """Return the method of a measure; figures of different methods do not compare."""
    if measure != "answer_relevancy":
        return "claims" if measure != "context_precision" else "verdicts"
    return f"asked-back {encoder.id}" if encoder and encoder.dimensions else "grade"


def score(measure: str, case: Case, asker: Asker, encoder: Encoder | None) -> Score | None:
    """Take a measure; None for an answer without a claim to judge.

    Raises:
        LlmError: from `Asker.ask`.
    """
    match measure:
        case "context_precision":
            return _context_precision(case, asker)
        case "context_recall":  # RAGAS, `LLMContextRecall`: supported claims of the reference / all its claims
            return _supported(case, case.reference, asker) if case.scenes else Score(0.0, [])
        case "faithfulness":  # F = |V| / |S| (arXiv:2309.15217, section 3): the same of the answer
            return _supported(case, case.answer, asker)
        case _:
            return (
                _relevancy(case, asker, encoder) if encoder and encoder.dimensions else _graded_relevancy(case, asker)
            )


def _context_precision(case: Case, asker: Asker) -> Score:
    """Return the mean of precision@k over the ranks k of the useful scenes; 0 without any.

    RAGAS, `LLMContextPrecisionWithReference`: sum(precision@k × useful_k) / number of useful scenes, each scene judged
    by itself against the reference answer.
    """
    verdicts = [asker.ask(judge_prompts.useful(case.question, case.reference, scene)) for scene in case.scenes]
    useful = [rank for rank, verdict in enumerate(verdicts, start=1) if verdict.useful]
    precisions = [number / rank for number, rank in enumerate(useful, start=1)]
    return Score(sum(precisions) / len(precisions) if precisions else 0.0, [asdict(verdict) for verdict in verdicts])


def _supported(case: Case, answer: str, asker: Asker) -> Score | None:
    claims = asker.ask(judge_prompts.claims(case.question, answer, case.scenes))
    if not claims:
        return None
    return Score(sum(claim.supported for claim in claims) / len(claims), [asdict(claim) for claim in claims])


def _relevancy(case: Case, asker: Asker, encoder: Encoder) -> Score:
    """Return the mean cosine of the question with questions made of the answer, 0 for a noncommittal one.

    AR = 1/n Σ sim(q, q_i) (arXiv:2309.15217, section 3), with RAGAS's n = 3 and its treatment of "I do not know".
    """
    questions = asker.ask(judge_prompts.ask_back(case.answer))
    if not questions:
        return Score(0.0, [])
    vector = encoder.query(case.question).dense.values
    cosines = [
        float(sum(a * b for a, b in zip(vector, encoder.query(text).dense.values, strict=True))) for text in questions
    ]
    pairs = [{"question": text, "cosine": round(value, 4)} for text, value in zip(questions, cosines, strict=True)]
    return Score(max(0.0, sum(cosines) / len(cosines)), [*pairs])


def _graded_relevancy(case: Case, asker: Asker) -> Score:
    """Without an encoder, the judge's grade from 1 to 5 as (grade - 1) / 4, 0 for a noncommittal answer."""
    grade = asker.ask(judge_prompts.grade(case.question, case.answer))
    best, least = judge_prompts.GRADES[-1], judge_prompts.GRADES[0]
    return Score(max(0, grade - least) / (best - least), [grade])


def tokens(case: Case) -> int:
    """Estimate the size of the longest request about a case, whatever is measured."""
    answers = filter(None, (case.reference, case.answer))
    tasks: list[Task[Any]] = [judge_prompts.claims(case.question, text, case.scenes) for text in answers]
    tasks += [judge_prompts.useful(case.question, case.reference, scene) for scene in case.scenes]
    return max((task.tokens() for task in tasks), default=0)


def judgement_key(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the key of a stored judgement: its question, measure, inputs, method, judge and prompt."""
    judge = entry.get("judge")
    judge = judge if isinstance(judge, dict) else {}
    fields = [entry.get(name) for name in ("id", "measure", "inputs", "method")]
    return tuple(map(str, [*fields, judge.get("digest"), judge.get("prompt")]))
