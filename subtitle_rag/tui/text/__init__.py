"""Sentences and drawings as functions of values: plain text, or `Content` for the screen."""
