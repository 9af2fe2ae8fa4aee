"""Modal screens about scenes, help and installation."""
