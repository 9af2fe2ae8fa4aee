"""All lines of a video."""
