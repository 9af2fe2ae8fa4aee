"""The screen with a video's transcript."""
