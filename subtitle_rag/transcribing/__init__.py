"""Listening as a stage: which videos without captions are asked for, and the run that hears them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
