"""The number of tokens of a text, estimated without the model's vocabulary."""

import math
import re

TOKENS_PER_CHAR = 0.75
"""Safe for the models on offer; the server's count (`prompt_eval_count`) corrects it."""

_DEAR = re.compile(r"[^\x00-\x7f가-힣]")
"""Characters of which a vocabulary may have none: a token for each of their bytes."""


def estimate(text: str, tokens_per_char: float = TOKENS_PER_CHAR) -> int:
    """Estimate the maximum number of tokens of a text, without the model's vocabulary."""
    dear = len(_DEAR.findall(text))
    return math.ceil(len(text) * tokens_per_char) + 2 * dear
