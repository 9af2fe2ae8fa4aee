"""The library: one SQLite file, the truth of the program."""
