"""Scenes as text for other programs. Formatters are functions of values; they neither read nor write."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
