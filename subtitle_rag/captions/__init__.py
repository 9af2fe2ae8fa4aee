"""Caption files: discovery, formats, encodings, cues, windows, and the addresses that a user types."""
