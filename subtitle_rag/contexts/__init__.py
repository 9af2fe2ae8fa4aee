"""Contexts: a local model's sentences about each window, with the words of the rest of the video."""
