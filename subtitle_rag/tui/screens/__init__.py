"""The screens, one for each place in the app, and the parts of their behaviour."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
