"""Encoders, rerankers, and the process that keeps them in memory."""
