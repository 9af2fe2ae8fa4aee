"""Scenes as text for other programs. Formatters are functions of values; they neither read nor write."""
