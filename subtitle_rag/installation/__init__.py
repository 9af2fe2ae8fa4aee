"""Installed packages, the origin of this copy, and the installation of more."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
