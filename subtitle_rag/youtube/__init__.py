"""YouTube: lists, captions and sound through yt-dlp, politely and resumably, one video at a time."""
