from . import context_file as context_file, context_prompt as context_prompt
from .answer_check import known_text as known_text
from .claims import Said as Said, Verdict as Verdict, claim_text as claim_text, spelling as spelling
from .cleaning import answer_object as answer_object, clean_context as clean_context, final_message as final_message
from .context_prompt import (
    BUCKETS as BUCKETS,
    MARGIN as MARGIN,
    neutral_text as neutral_text,
    shortened as shortened,
)
from .context_text import (
    SAME as SAME,
    doubt_reason as doubt_reason,
    left_out_reason as left_out_reason,
    model_cost as model_cost,
    reading_notes as reading_notes,
    request_notes as request_notes,
)
from .copied_text import SourceTexts as SourceTexts
from .glossary import (
    ORDINARY as ORDINARY,
    Dictionary as Dictionary,
    ends_in_particle as ends_in_particle,
    format_list as format_list,
    likely_channel_names as likely_channel_names,
    likely_names as likely_names,
    parse_list as parse_list,
    put_names as put_names,
)
from .grounding import UNGROUNDED as UNGROUNDED, all_values as all_values, doubts as doubts, numbers as numbers
from .planning import (
    WHOLE_SHARE as WHOLE_SHARE,
    Planner as Planner,
    context_key as context_key,
    lacks_shared_memory as lacks_shared_memory,
    prompt_sizes as prompt_sizes,
)
from .prompt_layout import (
    BUILT_IN as BUILT_IN,
    CONTEXT_PLACES as CONTEXT_PLACES,
    CONTEXT_PROMPT_TEXT as CONTEXT_PROMPT_TEXT,
    TOKENS_PER_CHAR as TOKENS_PER_CHAR,
    VERSION as VERSION,
    ContextPrompt as ContextPrompt,
    check_context_prompt as check_context_prompt,
    configured_prompt as configured_prompt,
    estimate as estimate,
    prompt_path as prompt_path,
)
from .prompt_template import (
    Places as Places,
    TemplateText as TemplateText,
    bad_prompt as bad_prompt,
    fill_places as fill_places,
)
from .sentence_filters import (
    find_foreign_script as find_foreign_script,
    is_closer as is_closer,
    is_foreign as is_foreign,
    is_preamble as is_preamble,
    is_refusal as is_refusal,
    split_sentences as split_sentences,
)
from .token_rate import TokenRate as TokenRate
from .whole_names import whole_name as whole_name
from .writer import Writer as Writer
