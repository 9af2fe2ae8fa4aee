"""Installed packages, the origin of this installation, and installing extras."""
