"""Encoders and rerankers, and the process that holds them."""
