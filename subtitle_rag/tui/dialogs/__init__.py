"""Modal screens: each asks one question or shows one thing, and returns an answer."""
