"""Contexts: a local model's sentences about each window, with the words of the rest of the video."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
