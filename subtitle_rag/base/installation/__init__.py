"""Installed packages, where this copy comes from, and installation of extras."""
