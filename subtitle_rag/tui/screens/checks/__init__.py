"""The screen with `doctor`'s checks."""
