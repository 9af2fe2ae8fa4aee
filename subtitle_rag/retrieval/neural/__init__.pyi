from .added_encoder import TextEncoder as TextEncoder
from .calibration import (
    Calibration as Calibration,
    calibration_of as calibration_of,
    stored_calibration as stored_calibration,
    words_weight as words_weight,
)
from .device import plan_graph as plan_graph, probe_device as probe_device
from .interface import (
    PATIENCE_S as PATIENCE_S,
    Encoded as Encoded,
    Encoder as Encoder,
    Models as Models,
    Reranker as Reranker,
    main_name as main_name,
)
from .neural_client import HostedModels as HostedModels
from .ollama_encoder import (
    EncoderOffer as EncoderOffer,
    OllamaEncoders as OllamaEncoders,
    choose_encoder as choose_encoder,
    find_digest as find_digest,
)
