"""The screens: one package each, with its widgets, text and state. `base_screen` is their base class."""
