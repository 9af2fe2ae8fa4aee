from . import answer_prompt as answer_prompt, wording as wording
from .answer import Answerer as Answerer, Conversation as Conversation, answer_all as answer_all
from .answer_prompt import BUILT_IN as BUILT_IN, AnswerPrompt as AnswerPrompt
from .context_builder import (
    ContextBuilder as ContextBuilder,
    RankedContextBuilder as RankedContextBuilder,
    SimpleContextBuilder as SimpleContextBuilder,
)
from .gathering import AnswerOptions as AnswerOptions, Gatherer as Gatherer, Shown as Shown
from .grouped_question import GroupedConversation as GroupedConversation, Over as Over
