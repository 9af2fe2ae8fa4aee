"""What a video or channel is about."""
