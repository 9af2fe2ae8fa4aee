"""Korean as it is typed, said and spelled: morphemes, letters, sounds, numbers and dates."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
