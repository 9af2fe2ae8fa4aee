"""Keys: the registry of commands, and the keys that the user gave them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
