from . import manifest as manifest
from .local import pooling as pooling
from .manifest import (
    DENSE as DENSE,
    ENCODER as ENCODER,
    LATE as LATE,
    OLLAMA as OLLAMA,
    RERANKER as RERANKER,
    SPARSE as SPARSE,
    ContextModel as ContextModel,
    Kind as Kind,
    NeuralModel as NeuralModel,
    OllamaEncoderModel as OllamaEncoderModel,
    SearchStep as SearchStep,
    alternatives as alternatives,
    context_models as context_models,
    context_verdicts as context_verdicts,
    default_context_model as default_context_model,
    encoders as encoders,
    free_memory as free_memory,
    is_ollama as is_ollama,
    neural_model as neural_model,
    ollama_encoder as ollama_encoder,
    ollama_encoders as ollama_encoders,
    rerankers as rerankers,
    search_step as search_step,
    search_steps as search_steps,
)
from .model_store import ModelFiles as ModelFiles, ModelStore as ModelStore
from .prompts import NO_PROMPTS as NO_PROMPTS, Prompts as Prompts, without_prompts as without_prompts
from .record import hold_model as hold_model
