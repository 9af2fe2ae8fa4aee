"""Find the scene: local-first search over the captions of Korean video.

For scripts: `with subtitle_rag.open() as library: library.search("치킨 소스")`. `__init__.pyi` has all names.
"""

import logging

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.2.0"

# where no log is written (`log_file`), nothing is printed instead
logging.getLogger(__name__).addHandler(logging.NullHandler())
