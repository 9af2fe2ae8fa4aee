"""The scenes and answers of searches in a file: each is a line, so that a killed run asks for none of them twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.answers import Answerer, AnswerOptions, AnswerPrompt, Gatherer
from subtitle_rag.contexts import estimate
from subtitle_rag.domain import Answer, AppError
from subtitle_rag.evaluation.arm_run import ArmRun
from subtitle_rag.evaluation.llm_question import Cost
from subtitle_rag.evaluation.measures import JudgedAnswer, prompt_text
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.records import Entry, Records, hash_parts
from subtitle_rag.llm import Llm, ModelInfo
from subtitle_rag.runtime import Runtime

COMMAND = "subtitle-rag eval judge --arms"
LINE_FIELD = "arm"
RANKED = 20
"""Windows of a ranking that are kept: as many as the deepest failure looks at."""

Answered = tuple[Question, Entry]
"""A question with its line."""


def arms_path(judged_path: Path) -> Path:
    """Return the file of scenes and answers that belongs to a file of judgements."""
    return judged_path.with_name(f"{judged_path.name.removesuffix('.jsonl').removesuffix('.judged')}.arms.jsonl")


def read(path: Path) -> Records | None:
    """Read a file of scenes and answers; None if it is absent or empty.

    Raises:
        UsageError: `unreadable`; `not_own_file` for a file with a damaged line.
    """
    return Records.read(path, COMMAND, LINE_FIELD, _is_whole)


def _is_whole(entry: Entry) -> bool:
    if "request" in entry:
        return isinstance(entry["request"], str) and isinstance(entry.get("reply"), str) and Cost.is_json(entry)
    texts = ("arm", "id", "search", "asked", "answer")
    lists = (entry.get("ranking"), entry.get("scenes"))
    return (
        all(isinstance(entry.get(name), str) for name in texts)
        and all(isinstance(some, list) and all(isinstance(text, str) for text in some) for some in lists)
        and Cost.is_json(entry)
    )


def case(question: Question, entry: Entry | None) -> JudgedAnswer:
    """Return the case of a line; without one, a case that could be judged by every measure."""
    return JudgedAnswer.about(question, entry["answer"] if entry else "?", entry["scenes"] if entry else "?")


@dataclass(slots=True)
class ArmAnswers:
    """The scenes that arms find, and the answers of one model by one prompt."""

    runtime: Runtime
    records: Records
    model: tuple[Llm, ModelInfo]
    prompt: AnswerPrompt
    scenes: int
    """Scenes of each search and answer."""
    _by_request: dict[str, Entry] = field(default_factory=dict)
    """Lines by the hash of all that an answer depends on: the same scenes need no second answer."""
    _by_search: dict[tuple[str, str, str], Entry] = field(default_factory=dict)
    """Lines by arm, id of question, and the hash of all that the search and its answer depend on."""

    def __post_init__(self) -> None:
        for entry in self.records.entries:
            if "request" not in entry:  # those are single answers of the judge
                self._note(entry)

    def _note(self, entry: Entry) -> None:
        self._by_request[entry["asked"]] = entry
        self._by_search[entry["arm"], entry["id"], entry["search"]] = entry

    def _search_key(self, run: ArmRun, question: Question) -> str:
        return hash_parts([run.signature, question.query, self.scenes, self.model[1].digest, self.prompt.version])

    def find(self, run: ArmRun, question: Question) -> Entry | None:
        """Return the line about a question, if the file has it."""
        return self._by_search.get((run.arm.name, question.id, self._search_key(run, question)))

    def of_arm(self, run: ArmRun, questions: Sequence[Question]) -> list[Answered]:
        """Return the questions that the file has, with their lines."""
        return [(question, entry) for question in questions if (entry := self.find(run, question))]

    @property
    def cost(self) -> Cost:
        """The cost of all answers in the file."""
        return Cost.of_json(*self._by_request.values())

    def scene_tokens(self) -> int:
        """Estimate the tokens of a scene by the first windows of the library."""
        library = self.runtime.library
        ids = [state.video.id for state in library.videos() if state.windows][:8]
        texts = [window.text for id in ids for window in library.windows_of(id)]
        return sum(map(estimate, texts)) // max(1, len(texts))

    def add(self, run: ArmRun, question: Question, spent: Cost) -> AppError | None:
        """Search and answer a question, and store both; return the failure of the model. The cost goes to `spent`."""
        found = run.search_text(question.query, self.scenes)
        result, ranking = found or (None, [])
        texts = list(map(prompt_text, result.scenes)) if result else []
        host, info = self.model
        asked = hash_parts([question.query, texts, info.digest, self.prompt.version])
        text, cost = "", Cost()
        if (before := self._by_request.get(asked)) is not None:
            text, cost = str(before["answer"]), Cost.of_json(before)
        elif result and texts:
            gatherer = Gatherer(run.view.library, run, self.runtime.words, self.scenes, self.prompt)
            answerer = Answerer(gatherer, [host], info.name)
            *_events, answer = answerer.conversation(AnswerOptions(self.scenes)).ask(result.query)
            assert isinstance(answer, Answer)
            if answer.error is not None:
                return answer.error
            text = answer.text
            cost = Cost(1, 0, answer.prompt_tokens or 0, answer.tokens or 0, round(answer.took_ms.get("answer", 0)))
            spent.add(cost)
        entry: Entry = {
            "arm": run.arm.name,
            "id": question.id,
            "search": self._search_key(run, question),
            "asked": asked,
            "ranking": ranking[:RANKED],
            "scenes": texts,
            "answer": text,
            "answered_by": {"model": info.name, "digest": info.digest, "prompt": self.prompt.version},
            **cost.to_json(),
        }
        self.records.append(entry)
        self._note(entry)
        return None
