"""Transcription stage: requests for videos without captions, and the run that transcribes them."""
