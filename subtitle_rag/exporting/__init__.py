"""Scenes as text for other programs. Formatters are pure functions: they neither read nor write files."""
