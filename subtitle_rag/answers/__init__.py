"""Answers from the library: evidence, prompts, and the check of citations. Also overviews of videos and channels."""
