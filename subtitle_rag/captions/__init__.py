"""Captions from files and YouTube, down to windows."""
