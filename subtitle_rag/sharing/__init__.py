"""Scenes in other programs: export formats, clips and players."""
