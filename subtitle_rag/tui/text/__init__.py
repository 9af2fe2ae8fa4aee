"""Sentences and drawings as functions of values: plain text, or `Content` for the screen."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
