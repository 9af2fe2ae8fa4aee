"""What a model's context, its KV cache and this computer's memory allow."""

from dataclasses import replace

import pytest

from subtitle_rag.contexts import planning
from subtitle_rag.contexts.planning import PromptSizes, lacks_shared_memory
from subtitle_rag.models.ollama.responses import Loaded, ModelInfo, model_from_show

GB = 10**9


def shown(**facts: object) -> ModelInfo:
    return model_from_show(
        {"model_info": {"general.architecture": "x", **{f"x.{name}": value for name, value in facts.items()}}},
        {},
        model="m",
        server="0.33.3",
    )


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        # Qwen2.5-7B without lengths of its heads; with them; Gemma 3 with a head count for each layer
        (
            {"block_count": 28, "embedding_length": 3584, "attention.head_count": 28, "attention.head_count_kv": 4},
            57_344,
        ),
        (
            {
                "block_count": 28,
                "attention.head_count": 28,
                "attention.head_count_kv": 4,
                "attention.key_length": 256,
                "attention.value_length": 128,
            },
            2 * 28 * 4 * 384,
        ),
        (
            {
                "block_count": 3,
                "attention.head_count": 8,
                "attention.head_count_kv": [4, 1, 4],
                "attention.key_length": 64,
                "attention.value_length": 64,
            },
            2 * 9 * 128,
        ),
        ({"block_count": 28, "embedding_length": 3584}, 0),
        ({}, 0),
    ],
)
def test_the_cache_of_a_token_follows_from_layers_and_heads(facts: dict[str, object], expected: int) -> None:
    assert shown(**facts).cache_bytes == expected


def model(context_length: int = 262_144, cache_bytes: int = 57_344) -> ModelInfo:
    return ModelInfo("m", "d", 5 * GB, context_length=context_length, cache_bytes=cache_bytes)


@pytest.mark.parametrize(
    ("info", "memory", "expected"),
    [
        (model(), 40 * GB, (32_768, 65_536, 131_072, 262_144)),
        (model(), 15 * GB, (32_768, 65_536, 131_072)),
        (model(), 5 * GB, ()),
        (model(40_960), 40 * GB, (32_768, 40_960)),
        (model(16_384), 40 * GB, ()),
        (model(cache_bytes=0), 40 * GB, ()),
        (model(), None, ()),
    ],
)
def test_large_windows_follow_from_memory_and_model(
    monkeypatch: pytest.MonkeyPatch, info: ModelInfo, memory: int | None, expected: tuple[int, ...]
) -> None:
    monkeypatch.setattr(planning, "free_memory", lambda: memory)
    assert PromptSizes.of(info, None, is_local=True).large == expected
    assert PromptSizes.of(info, None, is_local=False).large == ()


def test_a_loaded_models_own_cache_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "free_memory", lambda: GB)
    assert PromptSizes.of(model(), None, is_local=True).large == ()
    loaded = Loaded("m", 65_536)
    assert PromptSizes.of(model(), loaded, is_local=True).large == (32_768, 65_536)


@pytest.mark.parametrize(
    ("free", "loaded", "is_local", "least"),
    [
        (64 * GB, None, True, 8192),
        (GB, None, True, 4096),
        (0, Loaded("m", 4096), True, 4096),
        (GB, Loaded("m", 4096), True, 8192),
        (GB, Loaded("m", 40_000), True, 40_000),
        (GB, None, False, 8192),
    ],
)
def test_contexts_and_answers_share_the_least_num_ctx(
    monkeypatch: pytest.MonkeyPatch, free: int, loaded: Loaded | None, is_local: bool, least: int
) -> None:
    monkeypatch.setattr(planning, "free_memory", lambda: free)
    assert PromptSizes.of(model(), loaded, is_local=is_local).least == least
    assert lacks_shared_memory(model(), least) is (least < 8192)
    assert PromptSizes.of(replace(model(), context_length=2048), None, is_local=False).least == 2048
