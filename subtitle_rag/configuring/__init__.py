"""The config for people and programs: the origin of each setting, the schema, and a file to begin with."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
