"""The manual: its topics, as text for a terminal and as a page for man."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
