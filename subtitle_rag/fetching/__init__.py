"""Downloads from YouTube into the library: polite, resumable, one video at a time."""
