"""The checks of `doctor`, live."""
