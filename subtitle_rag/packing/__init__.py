"""Packs: parts of a library, or all of it, in one file for another library."""
