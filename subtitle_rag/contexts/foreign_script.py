"""Chinese and Japanese script in an answer that is to be Korean: some models slip into it."""

import re

from subtitle_rag.contexts.sentence_filters import split_sentences

_FOREIGN = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]+")
SCRIPT_REMINDER = "한글로만 쓰세요. 한자나 가나는 쓰지 마세요."
"""What a second request adds."""


def find_foreign_script(text: str, known: str) -> list[str]:
    """List the pieces of Chinese or Japanese script in a text that stand nowhere in what is known."""
    return [piece for piece in dict.fromkeys(_FOREIGN.findall(text)) if piece not in known]


def without_foreign_script(text: str, known: str) -> str:
    """Return the text without the sentences that have such script."""
    lines = (
        "".join(sentence for sentence in split_sentences(line) if not find_foreign_script(sentence, known)).rstrip()
        for line in text.splitlines()
    )
    return "\n".join(line for line in lines if line)
