"""Find the scene: local-first search over the captions of Korean video."""

import logging

__version__ = "0.2.0"

# where no log is written (`log_file`), nothing is printed instead
logging.getLogger(__name__).addHandler(logging.NullHandler())
