"""Scenes for other programs: export formats, clips and players."""
