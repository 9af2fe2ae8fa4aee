"""Find the scene: local-first search over the captions of Korean video."""

__version__ = "0.1.0"
