"""YouTube → the library: polite, resumable, one video at a time."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
