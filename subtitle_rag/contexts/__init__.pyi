from . import (
    context_prompt as context_prompt,
    glossary as glossary,
    left_out as left_out,
    model_choice as model_choice,
    prompt_layout as prompt_layout,
)
from .cleaning import clean as clean
from .context_prompt import (
    BUCKETS as BUCKETS,
    MARGIN as MARGIN,
    TOKENS_PER_CHAR as TOKENS_PER_CHAR,
    TokenRatio as TokenRatio,
    estimate as estimate,
    neutral as neutral,
    shortened as shortened,
)
from .foreign_script import find_foreign_script as find_foreign_script
from .glossary import (
    MAX_ENTRIES as MAX_ENTRIES,
    ORDINARY as ORDINARY,
    Dictionary as Dictionary,
    format_list as format_list,
    parse_list as parse_list,
    propose as propose,
)
from .grounding import UNGROUNDED as UNGROUNDED, all_values as all_values, doubts as doubts, numbers as numbers
from .hosts import Planner as Planner, context_key as context_key, known_text as known_text
from .large_prompts import (
    WHOLE_SHARE as WHOLE_SHARE,
    LargePrompts as LargePrompts,
    large_windows as large_windows,
    loaded_model as loaded_model,
)
from .prompt_layout import (
    BUILT_IN as BUILT_IN,
    VERSION as VERSION,
    ContextPrompt as ContextPrompt,
    ContextPrompts as ContextPrompts,
    prompt_path as prompt_path,
)
from .prompt_template import (
    Places as Places,
    PromptTemplate as PromptTemplate,
    TemplateText as TemplateText,
    bad_prompt as bad_prompt,
)
from .repetition import SAME as SAME
from .sentence_filters import is_foreign as is_foreign, split_sentences as split_sentences
from .writer import Writer as Writer, hosts_with as hosts_with
