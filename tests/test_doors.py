"""A dependency is imported by its doors alone: a change of its API is a change of one place."""

import grimp

DOORS = {
    "FlagEmbedding": {"models.neural.encoder"},
    "av": {"listening.sound_file"},
    "faster_whisper": {"listening.whisper"},
    "genanki": {"sharing.anki_cards"},
    "httpx": {"index.server_terms", "models.ollama.wire"},
    "httpx2": {"models.download"},
    "huggingface_hub": {"models.download"},
    "kiwipiepy": {"korean.morphemes"},
    "mcp": {"mcp_server"},
    "mcp_types": {"mcp_server"},
    "ollama": {"models.ollama.wire"},
    "onnxruntime": {"listening.whisper", "models.neural.onnx_models"},
    "pydantic": {"mcp_server"},
    "qdrant_client": {"index.index_server", "index.server_terms"},
    "qdrant_edge": {"index.edge_terms", "index.index_edge"},
    "sentence_transformers": {"models.neural.reranker", "models.neural.sentence_encoder"},
    "tokenizers": {"models.neural.onnx_models"},
    "tomlkit": {"base.config.config_lines"},
    "torch": {
        "models.neural.device",
        "models.neural.encoder",
        "models.neural.reranker",
        "models.neural.sentence_encoder",
    },
    "tqdm": {"models.neural.local_model"},
    "transformers": {"models.neural.local_model"},
    "webvtt": {"captions.timed_text"},
    "yt_dlp": {"youtube.session"},
}
"""Library → the modules of subtitle_rag that import it."""


def test_a_library_is_imported_by_its_doors() -> None:
    graph = grimp.build_graph("subtitle_rag", include_external_packages=True, cache_dir=None)

    importers = {
        library: {module.removeprefix("subtitle_rag.") for module in graph.find_modules_that_directly_import(library)}
        for library in DOORS
    }

    assert importers == DOORS
