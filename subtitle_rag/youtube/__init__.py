"""YouTube through yt-dlp: lists, captions and sound, one video at a time, with pauses, and resumable."""
