"""Contexts: a local model's sentences about each window, in the words of the rest of the video."""
