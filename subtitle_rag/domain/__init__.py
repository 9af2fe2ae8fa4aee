"""The words of the domain: its values, the events that use cases report, and the failures by their codes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
