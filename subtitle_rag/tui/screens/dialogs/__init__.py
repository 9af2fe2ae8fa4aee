"""Dialogs for scenes, export, help and installation."""
