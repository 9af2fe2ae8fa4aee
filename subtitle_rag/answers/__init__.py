"""Answers from the library: what a model is given, what it is asked, and what of its answer the scenes bear out."""
