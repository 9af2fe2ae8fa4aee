"""The library: one SQLite file, the source of truth for the program."""
