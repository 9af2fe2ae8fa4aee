from . import host_guard as host_guard
from .host_guard import canonical as canonical
from .llm_client import (
    Llm as Llm,
    LocalModels as LocalModels,
    host_with as host_with,
    hosts_with as hosts_with,
    local_models as local_models,
)
from .responses import (
    LENGTH as LENGTH,
    LOOP as LOOP,
    USELESS as USELESS,
    Loaded as Loaded,
    ModelInfo as ModelInfo,
    Reply as Reply,
)
