"""Scenes on the screen: lists, rows, preview and transcript."""
