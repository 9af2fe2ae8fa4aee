"""Caption files: discovery, formats, encodings, cues and windows. Also parses typed addresses."""
