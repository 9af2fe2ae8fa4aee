"""Encoders, rerankers and language models: the manifest, their files, and the processes that run them."""
