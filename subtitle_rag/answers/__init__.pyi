from .answer import Answerer as Answerer, Conversation as Conversation, answer_all as answer_all
from .answer_prompt import (
    BUILT_IN as BUILT_IN,
    AnswerPrompt as AnswerPrompt,
    Language as Language,
    built_in_prompt as built_in_prompt,
    check_prompt as check_prompt,
)
from .citations import makes_claims as makes_claims
from .context_builder import SCENES as SCENES
from .gathering import (
    AnswerOptions as AnswerOptions,
    BuilderName as BuilderName,
    Gatherer as Gatherer,
)
from .wording import (
    answer_remarks as answer_remarks,
    citation_fault as citation_fault,
    other_language as other_language,
    reading_plan as reading_plan,
    unchecked as unchecked,
    unfounded_fault as unfounded_fault,
    video_count as video_count,
)
