"""The screen with the overview of a video or channel."""
