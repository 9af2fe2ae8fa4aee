"""Measures search and answers. Nothing in the app imports it."""
