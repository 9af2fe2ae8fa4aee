"""Settings: file, environment and command line, the origin of each, a schema, and a file to begin with."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
