"""From files and YouTube to windows."""
