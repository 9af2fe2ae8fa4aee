"""The query and its scenes."""
