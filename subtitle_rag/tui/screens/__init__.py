"""The screens, a room each with its widgets, text and state, over `base_screen`."""
