"""Ollama behind one door: chat, structured output, streaming, pull, and typed failures.

What would surprise: the server cuts a prompt that is too long from its front and says nothing, reloads the model when
`num_ctx` changes, thinks unless told not to, and may send what it is given to a cloud; the client sends an API key
from the environment to any host. All of that is refused or made visible here, so that whoever uses `Llm` need not know.
"""

from subtitle_rag.errors import LlmError
from subtitle_rag.llm.client import Llm
from subtitle_rag.llm.values import Loaded, ModelInfo, PullProgress, Reply

__all__ = ["Llm", "LlmError", "Loaded", "ModelInfo", "PullProgress", "Reply"]
