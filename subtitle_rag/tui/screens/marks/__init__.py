"""Marked scenes."""
