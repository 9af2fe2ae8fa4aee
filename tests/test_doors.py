"""A dependency is imported by its doors alone: a change of its API is a change of one place."""

import grimp

DOORS = {
    "FlagEmbedding": {"retrieval.neural.encoder"},
    "av": {"listening.sound_file"},
    "faster_whisper": {"listening.whisper"},
    "genanki": {"exporting.anki_cards"},
    "httpx": {"llm.wire", "retrieval.index.server_terms"},
    "httpx2": {"models.download"},
    "huggingface_hub": {"models.download"},
    "kiwipiepy": {"retrieval.korean.morphemes"},
    "mcp": {"mcp_server"},
    "mcp_types": {"mcp_server"},
    "ollama": {"llm.wire"},
    "onnxruntime": {"listening.whisper", "retrieval.neural.onnx_models"},
    "pydantic": {"mcp_server"},
    "qdrant_client": {"retrieval.index.index_server", "retrieval.index.server_terms"},
    "qdrant_edge": {"retrieval.index.edge_terms", "retrieval.index.index_edge"},
    "sentence_transformers": {"retrieval.neural.reranker", "retrieval.neural.sentence_encoder"},
    "tokenizers": {"retrieval.neural.onnx_models"},
    "tomlkit": {"config.config_lines"},
    "torch": {
        "retrieval.neural.device",
        "retrieval.neural.encoder",
        "retrieval.neural.reranker",
        "retrieval.neural.sentence_encoder",
    },
    "tqdm": {"retrieval.neural.local_model"},
    "transformers": {"retrieval.neural.local_model"},
    "webvtt": {"captions.timed_text"},
    "yt_dlp": {"captions.session"},
}
"""Library → the modules of subtitle_rag that import it."""


def test_a_library_is_imported_by_its_doors() -> None:
    graph = grimp.build_graph("subtitle_rag", include_external_packages=True, cache_dir=None)

    importers = {
        library: {module.removeprefix("subtitle_rag.") for module in graph.find_modules_that_directly_import(library)}
        for library in DOORS
    }

    assert importers == DOORS
