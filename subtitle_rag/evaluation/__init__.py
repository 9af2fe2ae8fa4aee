"""Measurement of search and answers: a tool next to the app, which imports nothing from it."""
