from . import manifest as manifest
from .local import pooling as pooling
from .manifest import (
    DENSE as DENSE,
    ENCODER as ENCODER,
    OLLAMA as OLLAMA,
    RERANKER as RERANKER,
    SPARSE as SPARSE,
    SPEECH as SPEECH,
    ContextModel as ContextModel,
    HubModel as HubModel,
    Kind as Kind,
    NeuralModel as NeuralModel,
    OllamaEncoderModel as OllamaEncoderModel,
    SearchStep as SearchStep,
    alternatives as alternatives,
    context_models as context_models,
    default_context_model as default_context_model,
    encoder_steps as encoder_steps,
    encoders as encoders,
    free_memory as free_memory,
    hub_model as hub_model,
    is_ollama as is_ollama,
    neural_model as neural_model,
    ollama_encoder as ollama_encoder,
    ollama_encoders as ollama_encoders,
    rerankers as rerankers,
    search_steps as search_steps,
    speech_models as speech_models,
)
from .model_store import (
    ModelFiles as ModelFiles,
    ModelStore as ModelStore,
    SpeechFiles as SpeechFiles,
    is_added as is_added,
)
from .prompts import NO_PROMPTS as NO_PROMPTS, Prompts as Prompts, without_prompts as without_prompts
from .record import hold_model as hold_model
