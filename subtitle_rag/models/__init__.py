"""Encoders, rerankers and language models: the manifest, their files, and the processes that hold them."""
