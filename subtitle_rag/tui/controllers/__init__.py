"""Controllers of the app: each owns one concern and its threads."""
