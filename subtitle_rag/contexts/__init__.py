"""Contexts: sentences about each window that a local model writes from the rest of the video."""
