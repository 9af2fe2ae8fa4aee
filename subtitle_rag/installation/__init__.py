"""Installed packages, the origin of this copy, and the installation of more."""
