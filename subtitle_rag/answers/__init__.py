"""Answers from the library: evidence, prompts and the check of citations; overviews of videos and channels."""
