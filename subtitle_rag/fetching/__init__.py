"""YouTube → the library: polite, resumable, one video at a time."""
