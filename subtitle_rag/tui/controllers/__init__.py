"""What the app does: each controller owns one concern and the threads that do its work."""
